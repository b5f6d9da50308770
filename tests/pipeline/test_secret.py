"""The secret of a run: fresh, private, and what the new ids come from; a seed that can be guessed leads nowhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wayveil.errors import UsageError
from wayveil.methods import Tga
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.pipeline.seeds import method_rng
from wayveil.recipe.recipe import make_recipe


def ids_of(out: Path) -> set[str]:
    return {line.split(",")[0] for line in (out / "public/published.csv").read_text().splitlines()[1:]}


def test_a_seed_does_not_tell_the_ids(content: dict[str, Any], tmp_path: Path) -> None:
    content["output"]["format"] = "csv"
    content["seed"] = 7
    for name in "ab":
        publish(make_recipe({**content, "output": {**content["output"], "path": str(tmp_path / name)}}))
    assert not ids_of(tmp_path / "a") & ids_of(tmp_path / "b")
    assert (tmp_path / "a/private/seed.txt").read_text() == (tmp_path / "b/private/seed.txt").read_text()


def test_a_secret_is_private_and_in_no_public_file(content: dict[str, Any], tmp_path: Path) -> None:
    outcome = publish(make_recipe(content))
    file = outcome.private / "secret.txt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text().strip()
    assert len(text) >= 32
    assert outcome.public is not None
    public = b"".join(path.read_bytes() for path in outcome.public.iterdir())
    assert text.encode() not in public
    assert text not in (outcome.private / "report.html").read_text()
    assert text not in repr(outcome)
    assert Secret.read(file).text.strip() == text


def test_every_run_draws_another() -> None:
    assert Secret.fresh() != Secret.fresh()
    assert len(Secret.fresh().value) == 32


@pytest.mark.parametrize("content", [b"", b"seven", b"00", b"0" * 31 + b"x", bytes(range(200, 250))])
def test_what_is_no_secret_is_refused_without_being_shown(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        Secret.read(file)
    assert "seven" not in str(caught.value).removeprefix(str(file))
    assert caught.value.exit_code == 2


def test_a_secret_is_a_plain_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "nothing"):
        with pytest.raises(UsageError, match="secret"):
            Secret.read(path)


def test_draws_that_hide_people_take_the_secret() -> None:
    hiding: Any = SimpleNamespace(hides_by_chance=True)
    showing: Any = SimpleNamespace(hides_by_chance=False)

    one, other = Secret(bytes(32)), Secret(bytes([1]) * 32)
    drawn = [method_rng(hiding, 7, secret).integers(2**62) for secret in (one, one, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert method_rng(hiding, 8, one).integers(2**62) != drawn[0]
    plain = [method_rng(showing, 7, secret).integers(2**62) for secret in (one, other)]
    assert plain[0] == plain[1]


def test_points_from_boxes_do_not_follow_from_the_seed(tmp_path: Path) -> None:
    """Who guessed a typed seed drew the points of `tga` again, and saw whose were whose from the order of the input."""
    rows = [f"p{i},p{i},{60 * j},{1000 * i + 7 * j}.5,{900 * j + 13 * i}.25" for i in range(6) for j in range(3)]
    (tmp_path / "in.csv").write_text("\n".join(["traj_id,user_id,t,x,y", *rows]) + "\n")
    content: dict[str, Any] = {
        "seed": 7,
        "attacks": [],
        "metrics": [],
        "input": {"path": str(tmp_path / "in.csv"), "kind": "points", "crs": "EPSG:2100"},
        "method": {"name": "tga", "k": 3, "publish": "points"},
    }
    tables = []
    for name in "ab":
        publish(make_recipe({**content, "output": {"path": str(tmp_path / name), "format": "csv"}}))
        lines = (tmp_path / name / "public/published.csv").read_text().splitlines()[1:]
        tables.append({line.partition(",")[2] for line in lines})
    assert tables[0].isdisjoint(tables[1])


@pytest.mark.parametrize(("method", "hides"), [(Tga(k=2), False), (Tga(k=2, publish="points"), True)])
def test_who_publishes_members_as_different_points_hides_by_chance(method: Tga, hides: bool) -> None:
    assert method.hides_by_chance == hides
