"""What every method must keep, present and future: run on each name in METHODS."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from still_noise import still_noise

from wayveil.commands.read_table import read
from wayveil.engines import LocalEngine
from wayveil.errors import WayveilError
from wayveil.model import Routes, Stops
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import make_recipe

Content = Callable[..., dict[str, Any]]


def arrays_of(data: Any) -> dict[str, np.ndarray]:
    own = {name: value for name, value in vars(data).items() if isinstance(value, np.ndarray)}
    return own | {name: coded.codes for name, coded in data.attributes.items()}


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


def test_the_input_is_not_touched(method: Any, parameters: dict[str, Any], table: Path, beside: dict[str, str]) -> None:
    data = read(table, **beside)
    before = {name: values.copy() for name, values in arrays_of(data).items()}
    made = method(**parameters).run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    for name, values in arrays_of(data).items():
        assert np.array_equal(values, before[name])
        assert not values.flags.writeable
    assert all(not values.flags.writeable for values in arrays_of(made.data).values())


def test_what_comes_out_is_in_the_order_of_the_input(
    method: Any, parameters: dict[str, Any], table: Path, beside: dict[str, str]
) -> None:
    data = read(table, **beside)
    configured = method(**parameters)
    made = configured.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    settled = {name: value for name, value in configured.claim.to_json().items() if value not in ("auto", [])}
    assert (
        made.claim.to_json().items() >= settled.items()
    )  # what is auto is in numbers now, and what was done is listed
    parts = getattr(method, "splits_trajectories", False)
    assert (made.source is not None) == parts
    source = made.source if parts else np.arange(len(data))
    assert len(made.data) == len(source)
    assert made.data.owners == data.owners
    if not made.data.individual:  # a table is nobody's, and says itself what it counts
        assert source.tolist() == made.data.owner.tolist() == [-1]
        assert made.counted is not None
        assert made.counted.any()
        assert made.data.attributes == {}
        return
    if method.synthetic:  # a synthetic trip is nobody's
        assert set(source.tolist()) == {-1}
        assert made.data.attributes == {}
        assert made.data.n_rows > 0
        return
    assert np.array_equal(made.data.owner, data.owner[source])
    assert made.data.n_rows > 0
    for name, coded in data.attributes.items():
        assert made.data.attributes[name].values() == coded.take(source).values()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_same_seed_and_secret_same_bytes(make_content: Content, tmp_path: Path, form: str) -> None:
    with still_noise():  # noise is never the same; all the rest is
        for name, workers, key in (("a", 1, 5), ("b", 2, 5), ("c", 1, 6)):
            recipe = make_recipe(make_content(name, form=form, seed=5))
            publish(recipe, engine=LocalEngine(workers=workers), secret=Secret(bytes([key]) * 32))
    assert public_bytes(tmp_path / "a") == public_bytes(tmp_path / "b")
    if recipe.method.random_noise:  # what is counted of somebody is drawn from the secret, where it is not everything
        return
    # Ids and the order of rows come from the secret; a table has neither.
    has_ids = recipe.method.publishes.individual
    assert (public_bytes(tmp_path / "a") != public_bytes(tmp_path / "c")) == has_ids


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_published_files_pass_the_verifier(make_content: Content, tmp_path: Path, form: str) -> None:
    outcome = publish(make_recipe(make_content(form=form)))
    assert outcome.verdict.holds
    assert outcome.verdict.counted == "owners"
    again = verify_folder(tmp_path / "out")
    assert again.failures == ()
    assert again.verdict is not None
    assert again.verdict.holds  # as far as files show


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_no_id_of_the_input_leaves(make_content: Content, tmp_path: Path, form: str) -> None:
    publish(make_recipe(make_content(form=form)))
    everything = b"".join(public_bytes(tmp_path / "out").values())
    assert b"CARD" not in everything
    assert b"PERSON" not in everything
    assert b"user_id" not in everything
    assert b"input.csv" not in everything


def test_published_ids_and_order_tell_nothing(method: Any, make_content: Content, tmp_path: Path, table: Path) -> None:
    if not method.publishes.individual:
        publish(make_recipe(make_content()))
        assert b"traj_id" not in b"".join(public_bytes(tmp_path / "out").values())  # a table of counts has no ids
        return
    if method.synthetic:
        publish(make_recipe(make_content(keep_mapping=True)))
        with open(tmp_path / "out/private/mapping.csv", newline="") as file:
            assert {row["input_id"] for row in csv.DictReader(file)} == {""}
        return
    # One secret for all: with a fresh one each time, one in some dozen runs has such a correlation by luck.
    outcome = publish(make_recipe(make_content(keep_mapping=True)), secret=Secret(bytes(range(32))))
    with open(outcome.private / "mapping.csv", newline="") as file:
        pairs = [(row["published_id"], row["input_id"]) for row in csv.DictReader(file)]
    new, old = zip(*pairs, strict=True)
    assert len(set(new)) == len(set(old)) == len(pairs) > 30
    assert set(new).isdisjoint(old)
    assert list(new) == sorted(new)  # the file is in the order of the new ids, so only these could tell something
    position = np.argsort(np.argsort(old))
    assert abs(np.corrcoef(position, np.arange(len(old)))[0, 1]) < 0.25
    numbers = np.array([int(name, 16) for name in new], float)
    assert abs(np.corrcoef(position, numbers)[0, 1]) < 0.25

    # The same people in another order, with the same seed: what is published is the same, under other ids.
    header, *lines = table.read_text().splitlines()
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join([header, *reversed(lines)]) + "\n")
    again = publish(make_recipe(make_content("again", path=shuffled, keep_mapping=True)))
    with open(again.private / "mapping.csv", newline="") as file:
        same = sum((row["published_id"], row["input_id"]) in set(pairs) for row in csv.DictReader(file))
    assert same < len(pairs) / 4


@pytest.mark.parametrize("what", ["empty file", "header only", "one trajectory", "k larger than the data"])
def test_too_little_data_publishes_nothing(make_content: Content, table: Path, tmp_path: Path, what: str) -> None:
    lines = table.read_text().splitlines(keepends=True)
    first = lines[1].split(",")[0]
    content = make_content()
    if what == "k larger than the data":
        content["method"]["k"] = 61
    else:
        kept = {"empty file": [], "header only": lines[:1]}
        chosen = kept.get(what, lines[:1] + [line for line in lines if line.startswith(first)])
        small = tmp_path / "small.csv"
        small.write_text("".join(chosen))
        content["input"]["path"] = str(small)
        content["method"].pop("sensitive", None)
    with pytest.raises(WayveilError) as caught:
        publish(make_recipe(content))
    assert caught.value.exit_code in (1, 2)
    assert not (tmp_path / "out" / "public").exists()
    assert "\n" not in str(caught.value)


def test_two_rows_at_one_time_are_refused_or_resolved(
    method: Any, make_content: Content, table: Path, tmp_path: Path
) -> None:
    lines = table.read_text().splitlines(keepends=True)
    twice = tmp_path / "twice.csv"
    fields = lines[1].split(",")
    fields[3] = "12.5" if "stop-" not in fields[3] else "stop-x"
    twice.write_text("".join([*lines, ",".join(fields)]))
    content = make_content(path=twice)
    with pytest.raises(WayveilError, match=r"line|row"):
        publish(make_recipe(content))
    if method.accepts in (Routes, Stops):  # an order has no time at which something could be kept
        return
    content["input"]["on_duplicate_time"] = "first"
    assert publish(make_recipe(content)).verdict.holds


def test_a_method_describes_itself(method: Any) -> None:
    described = catalog.describe(method.name)
    assert described["summary"]
    assert described["not_covered"]  # nobody is stopped by everything; some stop nobody
    assert all(p["help"] for p in described["parameters"])
