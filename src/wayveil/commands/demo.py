"""The main job on generated data: what a newcomer runs first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayveil.commands.generate import generate
from wayveil.errors import OutputError
from wayveil.io.storage.addresses import refuse_remote
from wayveil.model import Engine
from wayveil.pipeline.publish import Outcome, publish
from wayveil.recipe.recipe import make_recipe

__all__ = ["DEMO_RECORDS", "DEMO_SEED", "demo"]

DEMO_SEED = 2013
"""The demo is the same everywhere; real publications draw a secret seed."""

DEMO_RECORDS = 20_000
_METHOD: dict[str, Any] = {"name": "kcl", "k": 10, "c": "0.5", "l": 2}
_MARK = "This folder was made by wayveil demo and is replaced by the next one.\n"


def demo(out: Path, *, engine: Engine | None = None) -> tuple[Path, Outcome]:
    """Generate smart-card data into `out`, publish them, and return the input file and the outcome."""
    _claim_folder(out)
    table = out / "input.csv"
    table_made = generate("transit", {"records": DEMO_RECORDS}, table, seed=DEMO_SEED, overwrite=True)
    recipe = make_recipe(
        {
            "title": "Demonstration: generated smart-card data",
            "seed": DEMO_SEED,
            "input": {"path": table, "kind": "visits"},
            "method": {**_METHOD, "sensitive": dict(table_made.sensitive)},
            "output": {"path": out, "format": "csv", "overwrite": True},
        }
    )
    return table, publish(recipe, engine=engine)


def _claim_folder(out: Path) -> None:
    """Refuse a folder that holds anything but an earlier demo."""
    refuse_remote(out, "The folder of the demo")
    mark = out / ".wayveil-demo"
    try:
        if out.exists() and any(out.iterdir()) and not mark.is_file():
            raise OutputError(f"{str(out)!r} holds files that are not an earlier demo; choose another --out.")
        out.mkdir(parents=True, exist_ok=True)
        mark.write_text(_MARK, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"The folder {str(out)!r} cannot be written: {error.strerror}.") from None
