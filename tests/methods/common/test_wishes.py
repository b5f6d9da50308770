"""Wishes of members: who asks for more is in larger groups, destinations differ, and nobody else pays for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError, UsageError
from wayveil.methods import METHODS
from wayveil.methods.common.wishes import read_own_k
from wayveil.model import Points, concat
from wayveil.pipeline.publish import publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers.kanonymity.definition import find_break_of_kanonymity
from wayveil.verifiers.kdelta.definition import find_break_of_kdelta

ENGINE = LocalEngine(workers=1)
SETTINGS: dict[str, dict[str, Any]] = {"tga": {}, "knode": {"window": "100"}, "nwa": {}, "w4m": {}}
DEFINITIONS: dict[str, Any] = {"KAnonymity": find_break_of_kanonymity, "KDelta": find_break_of_kdelta}


def _walkers(people: int = 60, *, clinic: float = 0.0) -> Points:
    """People who walk at the same times; some ask for 6 or 12, and some of them all go to one clinic."""
    rng = np.random.default_rng(4)
    records = []
    for _ in range(people):
        x, y = rng.uniform(0, 900, 2)
        end = (100.0, 100.0) if rng.random() < clinic else rng.uniform(0, 900, 2)
        ways = np.linspace((x, y), end, 5)
        records.append([(t, float(a), float(b)) for t, (a, b) in enumerate(ways)])
    wanted = [str(one) if one else None for one in rng.choice([0, 6, 12], people, p=[0.75, 0.15, 0.1]).tolist()]
    return Points.from_records(records, attributes={"wanted": wanted, "kept": ["a"] * people})


def _judge(method: Any, data: Points) -> tuple[Any, str]:
    made = method.run(data, rng=np.random.default_rng(1), engine=ENGINE)
    source = np.arange(len(made.data)) if made.source is None else made.source
    truth = data.take(source)
    boxes = {"boxes": made.boxes} if made.boxes is not None else {}
    return made, DEFINITIONS[made.claim.name](made.data, made.claim, original=truth, **boxes)


@pytest.mark.parametrize("name", list(SETTINGS))
def test_everybody_is_one_of_as_many_as_they_ask_for(name: str) -> None:
    data = _walkers()
    method = METHODS[name](k=3, k_column="wanted", **SETTINGS[name])
    made, broken = _judge(method, data)
    assert broken == ""
    source = np.arange(len(made.data)) if made.source is None else made.source
    published = np.unique(source[made.data.nonempty])
    assert len(published) >= 0.8 * len(data)
    asked = read_own_k(name, data, "wanted")
    assert (asked[published] == 12).any()
    assert list(made.data.attributes) == ["kept"]  # what people asked for is not published
    assert np.array_equal(made.data.owner, data.owner[source])
    # without the wish it would not be kept: the test would see a method that ignores it
    plain = replace(method, k_column="none").run(data, rng=np.random.default_rng(1), engine=ENGINE)
    truth = data if plain.source is None else data.take(plain.source)
    assert DEFINITIONS[made.claim.name](plain.data, made.claim, original=truth)
    assert "k = 12: " in str(made.facts["asked for and kept"])


@pytest.mark.parametrize("name", list(SETTINGS))
def test_no_group_ends_at_one_place(name: str) -> None:
    data = _walkers(clinic=0.35)
    wish = {"destination_share": Fraction(1, 2), "destination_cell": 200.0}
    method = METHODS[name](k=3, **wish, **SETTINGS[name])
    made, broken = _judge(method, data)
    assert broken == ""
    source = np.arange(len(made.data)) if made.source is None else made.source
    assert len(np.unique(source[made.data.nonempty])) >= 0.5 * len(data)
    plain = METHODS[name](k=3, **SETTINGS[name]).run(data, rng=np.random.default_rng(1), engine=ENGINE)
    truth = data if plain.source is None else data.take(plain.source)
    assert "end in one square" in DEFINITIONS[made.claim.name](plain.data, made.claim, original=truth)


@pytest.mark.parametrize("name", list(SETTINGS))
def test_what_is_published_depends_on_nobody_who_is_not(name: str) -> None:
    """Two far walkers ask for what nobody can give: without them the same is published."""
    some = _walkers(30)
    far = Points.from_records([[(t, 9e4 + t, 9e4) for t in range(5)]] * 2, attributes={"wanted": ["40"] * 2})
    far = replace(far, attributes={**far.attributes, "kept": far.attributes["wanted"]})
    data = concat([some, far])
    data = replace(data, owner=np.arange(len(data)))
    method = METHODS[name](k=3, k_column="wanted", **SETTINGS[name])
    made, alone = (method.run(one, rng=np.random.default_rng(1), engine=ENGINE) for one in (data, some))
    shown, less = (sorted(tuple(one.data.record(i)) for i in range(len(one.data)) if one.data.record(i))
                   for one in (made, alone))  # fmt: skip
    assert shown == less


@pytest.mark.parametrize("name", list(SETTINGS))
def test_who_asked_owns_no_more_where_others_may_and_asked_with_all_trips(name: str) -> None:
    """Somebody with six of the trips asks for four with one of them, and everybody may own all of a group."""
    rng = np.random.default_rng(7)
    owner = [0] * 6 + list(range(1, 9))
    records = [[(t, float(x), 0.0) for t in range(3)] for x in rng.integers(0, 3, len(owner))]
    data = Points.from_records(records, owner=owner, attributes={"wanted": ["4", *[None] * 13]})
    _, broken = _judge(METHODS[name](k=2, row_share=1, k_column="wanted", **SETTINGS[name]), data)
    assert broken == ""


def test_groups_of_two_levels_that_turn_out_the_same_are_one() -> None:
    """Twelve people stand at one place: who asked for 6 owns 2 of 12, and of 4 more that look alike one more."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        owner = [*range(8), *rng.integers(0, 8, 8).tolist()]
        records = [[(0, float(x), 0.0)] for x in rng.integers(0, 2, len(owner))]
        wanted = [str(one) if one else None for one in rng.choice([0, 3, 5], len(owner)).tolist()]
        data = Points.from_records(records, owner=owner, attributes={"wanted": wanted})
        try:
            _, broken = _judge(METHODS["tga"](k=2, k_column="wanted"), data)
        except InputError:
            continue
        assert broken == ""


def test_points_drawn_from_boxes_keep_wishes_too() -> None:
    made, broken = _judge(METHODS["tga"](k=3, k_column="wanted", publish="points"), _walkers())
    assert broken == ""
    assert made.boxes is not None
    assert np.array_equal(made.boxes.offsets, made.data.offsets)


def test_what_cannot_be_kept_is_said() -> None:
    data = _walkers(4)
    with pytest.raises(InputError, match="no group keeps what its members were promised"):
        METHODS["tga"](k=5, k_column="wanted").run(data, rng=np.random.default_rng(1), engine=ENGINE)
    with pytest.raises(InputError, match="holds something that is no whole number"):
        read_own_k("tga", Points.from_records([[(0, 0.0, 0.0)]], attributes={"w": ["six"]}), "w")
    huge = Points.from_records([[(0, 0.0, 0.0)]] * 3, attributes={"w": ["9" * 5000, None, None]})
    with pytest.raises(InputError, match="no group keeps"):
        METHODS["tga"](k=3, k_column="w").run(huge, rng=np.random.default_rng(1), engine=ENGINE)
    with pytest.raises(ParameterError, match="nwa: k_column and destination_share go with delta = 0"):
        METHODS["nwa"](k=3, delta=10, k_column="wanted")


def test_a_publication_is_judged_and_attacked_by_what_was_asked(tmp_path) -> None:
    rng = np.random.default_rng(9)
    lines = ["traj_id,user_id,t,x,y,wanted"]
    for person in range(40):
        x, y = rng.uniform(0, 500, 2)
        lines += [f"{person},{person},{t},{x + 20 * t:.1f},{y:.1f},{'8' if person % 5 == 0 else ''}" for t in range(4)]
    table = tmp_path / "walkers.csv"
    table.write_text("\n".join(lines) + "\n")
    content = {
        "seed": 1,
        "input": {"path": str(table), "kind": "points"},
        "method": {"name": "tga", "k": 2, "k_column": "wanted"},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
    outcome = publish(make_recipe(content), engine=ENGINE)
    assert outcome.verdict.holds
    assert outcome.public is not None
    assert "wanted" not in (outcome.public / "published.csv").read_text()
    attacked = {after.name: (before, after) for before, after in outcome.attacks}
    before, after = attacked["known_group"]
    assert before.measured["asked_max"] == 8.0
    assert after.measured["asked_max"] <= 1.0
    assert "destination_max" not in after.measured
    alone = catalog.verify(outcome_boxes(outcome), outcome.verdict.claim)
    assert any("asked for" in part for part in alone.not_judged)
    elsewhere = {"path": str(tmp_path / "other"), "format": "csv"}
    with pytest.raises(UsageError, match="is not published, because"):
        publish(make_recipe({**content, "output": {**elsewhere, "keep": ["wanted"]}}), engine=ENGINE)
    method = {"name": "tga", "k": 2, "k_column": "want"}
    with pytest.raises(InputError, match="want"):
        publish(make_recipe({**content, "method": method, "output": elsewhere}), engine=ENGINE)


def outcome_boxes(outcome: Any) -> Any:
    from wayveil.pipeline.folder.manifest import read_manifest
    from wayveil.pipeline.input import load_published

    return load_published(outcome.public, read_manifest(outcome.public)[0]).data
