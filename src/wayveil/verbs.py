"""The commands `verify`, `prepare`, `utility` and `compare` as functions, under the names of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from wayveil.api import Publication, as_frame, data_of, prepare_data
from wayveil.commands.loss import measure_loss
from wayveil.comparison.compare import Comparison
from wayveil.comparison.compare import compare as compare_settings
from wayveil.errors import UsageError
from wayveil.model import Data, Engine
from wayveil.pipeline.folder.verify_folder import FolderVerdict, verify_folder
from wayveil.recipe.recipe import EACH_TRAJECTORY, make_input

__all__ = ["compare", "prepare", "utility", "verify"]


def verify(
    what: Publication | str | Path,
    *,
    original: str | Path | None = None,
    recipe: str | Path | None = None,
    secret: str | Path | None = None,
    engine: Engine | None = None,
    public_key: str | Path | None = None,
    work_limit: int | None = None,
    by_definition: bool = False,
) -> FolderVerdict:
    """Judge published files again, from the files alone or with the original beside them, as `wayveil verify` does.

    Parameters
    ----------
    what : Publication, str or Path
        A publication, a published folder, or the folder above it.
    original : str or Path, optional
        The original table, of which only its owner disposes: it is published again with the recipe, the seed and the
        secret of the run, and every byte is compared.
    recipe, secret : str or Path, optional
        Those of the run; by default what it left in its private folder.
    engine : Engine, optional
        Where the work runs.
    public_key : str or Path, optional
        The publisher's key: a manifest without a signature of this key fails.
    work_limit : int, optional
        How many steps the verdict may take; by default as many as fit the size of the files.
    by_definition : bool
        Whether to ask the definition of the claim for a second opinion; for small publications.

    Returns
    -------
    FolderVerdict
        Its `holds` is None where a part of the claim cannot be judged from what was given.

    Examples
    --------
    >>> from wayveil import Kcl, Visits, publish
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])
    >>> verify(publish(data, Kcl(k=2, c=1, l=2), seed=1)).failures
    ()
    """
    folder = what.outcome.public if isinstance(what, Publication) else what
    if folder is None:
        raise UsageError("verify: nothing was published, so there is nothing to verify.")
    return verify_folder(
        folder,
        original=original,
        recipe=recipe,
        secret=secret,
        engine=engine,
        public_key=public_key,
        work_limit=work_limit,
        by_definition=by_definition,
    )


def prepare(
    what: Any,
    *steps: Any,
    owners: Literal["each-trajectory"] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    **files: Any,
) -> Data:
    """Run preparation steps on data, in order, as `wayveil prepare` does with one.

    Parameters
    ----------
    what : Data or data frame
        As in `publish`.
    *steps
        Configured steps; `STEPS` has them by name.
    owners, crs, similar_ids : str, optional
        How a frame is read, as in `publish`.
    **files
        What steps need beside the data, as in [input] of a recipe: ``network``, ``places``, ``taxonomy``, ``zones``.

    Examples
    --------
    >>> from wayveil import STEPS, Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 7)], [("a", 4)]])
    >>> prepare(data, STEPS["bucket"](width=5)).t.tolist()
    [0, 5, 0]
    """
    data = data_of("prepare", what, owners, crs, similar_ids)
    declared: Any = EACH_TRAJECTORY if data.owners == "declared" else ()
    spec = make_input(
        {"path": "data in memory", "kind": None if data.layout else data.kind, "owners": declared, **files}
    )
    return prepare_data(data, steps, spec).data


def utility(
    original: Any,
    published: Any,
    *,
    metrics: Sequence[Any] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    engine: Engine | None = None,
) -> pl.DataFrame:
    """Return what a publication lost of the original: one row per metric and number, as `wayveil utility` does.

    Parameters
    ----------
    original : Data or data frame
        As in `publish`; prepared like what was published, see `prepare`.
    published : Publication, Data or data frame
        What came of it.
    metrics : sequence of configured metrics, optional
        What is measured; by default all that fit both kinds of data.
    owners, crs, similar_ids : str, optional
        How frames are read, as in `publish`.  Two frames of which one says who the people are, and the other does not,
        are read before, each in its way, with `from_polars` or `from_pandas`.
    engine : Engine, optional
        Where the work runs.

    Examples
    --------
    >>> from wayveil import Kcl, Visits, publish
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])
    >>> lost = utility(data, publish(data, Kcl(k=2, c=1, l=2), seed=1))
    >>> lost.filter((lost["metric"] == "instance_loss") & (lost["number"] == "visits_after"))["value"].item()
    5.0
    """
    before = data_of("utility", original, owners, crs, similar_ids)
    if isinstance(published, Publication):
        after: Data = published.data
    elif isinstance(published, Data):
        after = published
    else:
        after = data_of("utility", published, owners, crs, similar_ids)
    scores = measure_loss(before, after, metrics=metrics, engine=engine)
    rows = [
        {"metric": score.name, "meaning": score.meaning, "better": score.better, "number": name, "value": value}
        for score in scores
        for name, value in {"value": score.value, **score.measured}.items()
    ]
    return as_frame(rows, ("metric", "meaning", "better", "number"), ("value",))


def compare(
    recipe: str | Path,
    *,
    out: str | Path | None = None,
    max_risk: float | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Try several methods and parameters on one data set, as `wayveil compare` does, and say which to take.

    Parameters
    ----------
    recipe : str or Path
        A compare recipe: the data set and its settings, in TOML.
    out : str or Path, optional
        Folder for the result, instead of that of the recipe.
    max_risk : number from 0 to 1, optional
        The risk that is accepted, instead of that of the recipe.
    engine : Engine, optional
        Where the work runs.

    Returns
    -------
    Comparison
        Its `sentence` says which setting to take, `settings` has the numbers, `report` is a page.
    """
    return compare_settings(Path(recipe), out=None if out is None else Path(out), max_risk=max_risk, engine=engine)
