"""Whatever is changed in a publication, of any method and in any form: it is never verified, and never a crash."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile import forge

from wayveil.errors import WayveilError
from wayveil.methods import METHODS
from wayveil.model import Points
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

ASKED = os.environ.get("WAYVEIL_MUTATIONS")
MUTATIONS = int(ASKED or 24)
"""So many for each method; with the variable set, for each method in every form."""

FORMS = {name: "csv" if place % 2 else "parquet" for place, name in enumerate(sorted(METHODS))} | {"nwa": "geojson"}

Draw = random.Random

# What only the publisher knows, and a recipient is told as such: no file shows whether it is true.
UNSEEN = ("versions", "verdict")


def change_bytes(draw: Draw, content: bytes) -> bytes:
    """Flip, drop, repeat or insert a few bytes."""
    at, n = draw.randrange(len(content)), draw.choice((1, 1, 2, 8))
    kind = draw.randrange(4)
    if kind == 0:
        return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]
    if kind == 1:
        return content[:at] + content[at + n :]
    if kind == 2:
        return content[: at + n] + content[at : at + n] + content[at + n :]
    return content[:at] + draw.choice((b" ", b"0", b'"', b"\n", b",", b"-", b"\x00", b"1e9")) + content[at:]


def change_value(draw: Draw, value: Any) -> Any:
    """Return another value, of the same type or not."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return draw.choice((value + 1, -value - 1, value * 2 + 1, str(value), None, 10**30, 1e308))
    if isinstance(value, str):
        return draw.choice((value + "x", value[1:] or "y", "", "1e-999999999", value + "\x1b[2J", None, 7, [value]))
    if isinstance(value, list):
        return draw.choice(([*value, "x"], value[1:] or ["z"], {}, None))
    if isinstance(value, dict):
        return draw.choice(({**value, "x": 1}, dict(list(value.items())[1:]) or {"z": 0}, [], None))
    return draw.choice((0, "x", [], {}))


def change_field(draw: Draw, manifest: dict[str, Any]) -> None:
    """Change something somewhere in a manifest."""
    place: Any = manifest
    key: Any = draw.choice([name for name in manifest if name not in UNSEEN])
    while isinstance(place[key], (dict, list)) and place[key] and draw.random() < 0.8:
        place = place[key]
        key = draw.choice(list(place)) if isinstance(place, dict) else draw.randrange(len(place))
    place[key] = change_value(draw, place[key])


def mutate(draw: Draw, folder: Path) -> None:
    """Change a table and let the manifest agree, or change the manifest."""
    manifest = folder / "manifest.json"
    names = sorted(json.loads(manifest.read_text())["files"])
    kind = draw.randrange(4)
    if kind < 2:
        path = folder / draw.choice(names)
        path.write_bytes(change_bytes(draw, path.read_bytes()))
        forge(folder)
    elif kind == 2:
        content = json.loads(manifest.read_text())
        change_field(draw, content)
        manifest.write_text(json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    else:
        manifest.write_bytes(change_bytes(draw, manifest.read_bytes()))


def without_unseen(path: Path) -> Any:
    """Return what a manifest says, but for what no file shows; the bytes if it says nothing.

    Of the parameters of a method, those are seen that are in its claim.
    """
    try:
        said = {key: value for key, value in json.loads(path.read_text()).items() if key not in UNSEEN}
        said["parameters"] = {key: said["parameters"][key] for key in said["claim"] if key in said["parameters"]}
        return said
    except (ValueError, TypeError, KeyError, AttributeError):
        return path.read_bytes()


def verdict_of(folder: Path) -> bool | None:
    """Return whether a folder holds; bad input does not."""
    try:
        return verify_folder(folder).holds
    except WayveilError:
        return False


def forms_of(method: type[Any]) -> list[str]:
    """Return the forms that are tried: one of each method, or all where more mutations are asked for."""
    if ASKED is None:
        return [FORMS[method.name]]
    return ["csv", "parquet", *(["geojson"] if method.accepts is Points else [])]


def test_no_change_is_verified(method: type[Any], make_content: Callable[..., Any], tmp_path: Path) -> None:
    for form in forms_of(method):
        check_form(method, make_content(form, form=form), form, tmp_path / f"changed-{form}")


def check_form(method: type[Any], content: dict[str, Any], form: str, folder: Path) -> None:
    if method.accepts is Points:
        content["input"] |= {"crs": "planar"} if form != "geojson" else {"path": in_degrees(content["input"]["path"])}
    original = publish(make_recipe(content), secret=Secret(b"7" * 16)).public
    assert original is not None
    assert verify_folder(original).failures == ()
    said = without_unseen(original / "manifest.json")
    tables = {path.name: path.read_bytes() for path in original.iterdir() if path.name != "manifest.json"}
    draw = random.Random(f"{method.name} {form}")
    for number in range(MUTATIONS):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        mutate(draw, folder)
        same_tables = all((folder / name).read_bytes() == before for name, before in tables.items())
        if same_tables and without_unseen(folder / "manifest.json") == said:
            continue
        found = verdict_of(folder)
        # Owners are not published, so what a change of a cell does to people is often not known; nothing is "verified".
        assert found is not True, number
        if same_tables:
            assert found is False, number


def in_degrees(path: str) -> str:
    """Write a planar table as degrees somewhere in Greece; return its path."""
    header, *rows = Path(path).read_text().splitlines()
    lines = [header.replace("x,y", "lon,lat")]
    for row in rows:
        cells = row.split(",")
        cells[3:5] = [f"{23.7 + float(cells[3]) / 88_000:.7f}", f"{38 + float(cells[4]) / 111_000:.7f}"]
        lines.append(",".join(cells))
    Path(path).write_text("\n".join(lines) + "\n")
    return path
