"""Publishing from Python: data in memory in, a verified publication out that notebooks can show."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, overload

import numpy as np
import polars as pl
from markupsafe import Markup, escape

from wayveil.commands.inspect import Inspection, inspect_file, inspect_frame
from wayveil.commands.risk import attack_data
from wayveil.engines import Scratch
from wayveil.errors import UsageError
from wayveil.io import (
    Loaded,
    collect_notes,
    from_frame,
    table_in_memory,
    to_geopandas,
    to_movingpandas,
    to_pandas,
    to_polars,
)
from wayveil.model import Data, Engine, InputKind, guarantees, parameters_of
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.input import Prepared, load_published, prepare
from wayveil.pipeline.publish import Outcome
from wayveil.pipeline.publish import publish as publish_recipe
from wayveil.recipe import catalog
from wayveil.recipe.recipe import EACH_TRAJECTORY, InputSpec, Recipe, make_input, make_recipe
from wayveil.report.text.wording import adversary_words

__all__ = ["Publication", "as_frame", "data_of", "inspect", "prepare_data", "publish", "risk"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Publication:
    """A publication that kept its promise, as whoever gets the files sees it.

    Parameters
    ----------
    data : Data
        The published data, read back from the files: fresh ids, no owners.
    ids : polars.Series
        The published ids, one per trajectory.
    outcome : Outcome
        The verdict, the attacks, the losses, and where the files are.
    """

    data: Data
    ids: pl.Series
    outcome: Outcome

    @property
    def verdict(self) -> Any:
        """What the verifier said."""
        return self.outcome.verdict

    @property
    def promise(self) -> str:
        """What is promised, in words; says so where the publisher declared that each trajectory is another person."""
        return self.outcome.promise

    @property
    def report(self) -> str:
        """The private report as HTML."""
        return self.outcome.report.read_text(encoding="utf-8")

    @property
    def risk(self) -> pl.DataFrame:
        """What attackers learn: one row per attack and number, from the raw and from the published data."""
        rows = [
            {"attack": raw.name, "adversary": adversary_words(raw.adversary, published.adversary), "number": name,
             "raw": raw.measured.get(name), "published": published.measured.get(name)}
            for raw, published in self.outcome.attacks
            for name in dict.fromkeys((*raw.measured, *published.measured))
        ]  # fmt: skip
        return as_frame(rows, ("attack", "adversary", "number"), ("raw", "published"))

    @property
    def loss(self) -> pl.DataFrame:
        """What was lost: one row per metric."""
        rows = [
            {"metric": score.name, "meaning": score.meaning, "better": score.better, "value": score.value}
            for score in self.outcome.scores
        ]
        return as_frame(rows, ("metric", "meaning", "better"), ("value",))

    def to_polars(self) -> pl.DataFrame:
        """Return the published table."""
        return to_polars(self.data, ids=self.ids.to_list())

    def to_pandas(self) -> Any:
        """Return the published table as a pandas frame (extra `geo`)."""
        return to_pandas(self.data, ids=self.ids.to_list())

    def to_geopandas(self) -> Any:
        """Return published points or boxes as a GeoPandas frame (extra `geo`)."""
        return to_geopandas(self.data, ids=self.ids.to_list())  # type: ignore[arg-type]

    def to_movingpandas(self) -> Any:
        """Return published points as a MovingPandas `TrajectoryCollection` (extra `geo`)."""
        return to_movingpandas(self.data, ids=self.ids.to_list())  # type: ignore[arg-type]

    def to_arrow(self) -> Any:
        """Return the published table as an Arrow table; pyarrow is needed."""
        return self.to_polars().to_arrow()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, cleaned or left out on the way, in plain sentences."""
        return self.outcome.notes

    def save(self, folder: str | Path) -> Path:
        """Copy the public and the private files into a new folder; return that of the public ones."""
        target = Path(folder)
        if target.exists():
            raise UsageError(f"{str(target)!r} already exists; choose another folder.")
        public = self.outcome.public
        if public is None:
            raise UsageError("Nothing was published, so there is nothing to save.")
        for source in (public, self.outcome.private):
            shutil.copytree(source, target / source.name)
        return target / public.name

    def __repr__(self) -> str:
        rows = f"{len(self.data):,} trajectories, {self.data.n_rows:,} {self.data.row_word}"
        claim = self.verdict.claim
        declared = "" if self.promise == claim.promise else ", each trajectory declared to be another person"
        return f"Publication({rows}, verified: {claim.to_json()}{declared})"

    def _repr_html_(self) -> str:
        shown = []
        for number in self.verdict.numbers.values():
            shown.append((number.label, number.text if number.value is not None else number.exact or number.text))
        for score in self.outcome.scores:
            if score.value is not None:
                label = "lost" if score.better == "lower" else "kept"
                shown.append((f"{label}: {score.name.replace('_', ' ')}", score.number.text))
        rows = Markup("").join(
            Markup("<tr><th style='text-align:left'>{}</th><td>{}</td></tr>").format(name, text) for name, text in shown
        )
        head = Markup("<p><strong>Published and verified.</strong> {}</p>").format(escape(self.promise))
        return str(head + Markup("<table>{}</table>").format(rows))


@overload
def publish(what: Recipe, method: None = None, *, engine: Engine | None = None) -> Outcome: ...


@overload
def publish(
    what: Any,
    method: Any,
    *,
    prepare: Sequence[Any] = (),
    attacks: Sequence[Any] | None = None,
    metrics: Sequence[Any] | None = None,
    keep: Sequence[str] = (),
    owners: Literal["each-trajectory"] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    out: str | Path | None = None,
    title: str = "",
    seed: int | None = None,
    secret: str | Path | None = None,
    sign_key: str | Path | None = None,
    engine: Engine | None = None,
) -> Publication: ...


def publish(
    what: Any,
    method: Any = None,
    *,
    prepare: Sequence[Any] = (),
    attacks: Sequence[Any] | None = None,
    metrics: Sequence[Any] | None = None,
    keep: Sequence[str] = (),
    owners: Literal["each-trajectory"] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    out: str | Path | None = None,
    title: str = "",
    seed: int | None = None,
    secret: str | Path | None = None,
    sign_key: str | Path | None = None,
    engine: Engine | None = None,
) -> Any:
    """Publish data with a method, or what a recipe says, if it keeps its promise; `NotPublished` if it does not.

    Parameters
    ----------
    what : Data, data frame, or Recipe
        Visits, points, routes, stops or trips; visits, points or trips (one row each) in a frame of pandas, polars or
        GeoPandas or in an Arrow table, points in trajectories of MovingPandas; or a whole recipe.
    method : Method or claim
        A configured method such as ``Kcl(k=10, l=3)``, or a claim such as ``KclPrivacy(k=10, c=0.5, l=3)``, for which
        the method is taken that is made for it.
    prepare : sequence of configured steps, optional
        What is done to the data first.
    attacks, metrics : sequences, optional
        What is measured; by default all that fit.
    keep : sequence of str, optional
        Attributes that are published as they are.
    owners : "each-trajectory", optional
        Declares that each trajectory is another person; needed for a frame without a column ``user_id``.  Whoever
        builds data without owners declares the same.  The promise then says so.
    crs, similar_ids : str, optional
        How a frame is read, as in `from_pandas`.
    out : str or Path, optional
        Folder for the files; by default they stay in a temporary one until the publication is forgotten.
    title : str, optional
        Heading of the report.
    seed : int, optional
        Repeats method and measurements; fresh and secret by default.
    secret : str or Path, optional
        The ``secret.txt`` of an earlier run, from its private folder: with it and the seed, the same bytes come out.
    sign_key : str or Path, optional
        A private key, as `wayveil keygen` writes it, with which the manifest is signed (extra `sign`).
    engine : Engine, optional
        Where the work runs.

    Returns
    -------
    Publication
        For a recipe the `Outcome`.

    Examples
    --------
    >>> from wayveil.model import KclPrivacy, Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])
    >>> made = publish(data, KclPrivacy(k=2, c=1, l=2), seed=1)
    >>> made.verdict.holds, made.to_polars().columns, made.to_polars().height
    (True, ['traj_id', 't', 'location'], 5)
    """
    if isinstance(what, Recipe):
        given = (method, attacks, metrics, owners, crs, similar_ids, out, seed, secret, sign_key)
        if any(value is not None for value in given) or prepare or keep or title:
            raise UsageError("publish: a recipe says everything; give no method and no options beside it.")
        return publish_recipe(what, engine=engine)
    with collect_notes() as notes:
        data = data_of("publish", what, owners, crs, similar_ids)
    chosen = _method_of(method)
    if out is not None and str(out) == "":
        raise UsageError("publish: out must be a folder, or left out; got an empty name.")
    settings = _Settings(
        prepare=prepare, attacks=attacks, metrics=metrics, keep=keep, title=title, seed=seed, sign_key=sign_key
    )
    drawn = None if secret is None else Secret.read(Path(secret))
    return _publish_data(data, chosen, settings, notes=tuple(notes), out=out, engine=engine, secret=drawn)


def risk(
    what: Any,
    *,
    attack: str | None = None,
    sensitive: Mapping[str, Sequence[str]] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    seed: int | None = None,
    engine: Engine | None = None,
    **parameters: Any,
) -> pl.DataFrame:
    """Return what attackers learn from data as they are: one row per attack and number.

    Parameters
    ----------
    what : Data or data frame
        As in `publish`.
    attack : str, optional
        One attack by name; all that fit by default.
    sensitive : mapping, optional
        Sensitive values by attribute.
    owners : "each-trajectory", optional
        Declares that each trajectory is another person; needed for a frame without a column ``user_id``.
    crs, similar_ids : str, optional
        How a frame is read, as in `from_pandas`.
    seed : int, optional
        Repeats the draws.
    engine : Engine, optional
        Where the work runs.
    **parameters
        Parameters of the attacks; each takes those that it has.

    Examples
    --------
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)]])
    >>> found = risk(data, attack="known_visits", m=1, choice="worst", seed=1)
    >>> found.filter(found["number"] == "identity_mean")["value"].item()
    0.75
    """
    data = data_of("risk", what, owners, crs, similar_ids)
    results = attack_data(
        data,
        attack=attack,
        given=parameters,
        sensitive=catalog.check_sensitive_values("risk", sensitive or {}),
        seed=seed,
        engine=engine,
    )
    rows = [
        {"attack": result.name, "adversary": result.adversary, "number": name, "value": value}
        for result in results
        for name, value in result.measured.items()
    ]
    return as_frame(rows, ("attack", "adversary", "number"), ("value",))


def inspect(
    what: Any,
    *,
    values: bool = False,
    columns: Mapping[str, str] | None = None,
    owners: Literal["each-trajectory"] | Sequence[str | Path] | None = None,
    crs: str | None = None,
    similar_ids: Literal["different", "same"] | None = None,
    dialect: Mapping[str, Any] | None = None,
    times: Mapping[str, Mapping[str, Any]] | None = None,
    positions: Mapping[str, Mapping[str, Any]] | None = None,
    line: Mapping[str, Any] | None = None,
    places: str | Path | None = None,
    bad_rows: Literal["refuse", "drop"] | None = None,
) -> Inspection:
    """Say what a file or a data frame is: its columns as shapes, who the people are, and what is left to be asked.

    Parameters
    ----------
    what : str, Path, or data frame
        A frame of polars, pandas or GeoPandas, an Arrow table, or trajectories of MovingPandas.
    values : bool
        Whether to show some values of each column.
    columns, owners, crs, similar_ids, dialect, times, positions, line, places, bad_rows
        What is known already, as in [input] of a recipe.

    Examples
    --------
    >>> visits = pl.DataFrame({"card": ["a", "b", "c"], "hour": [7, 8, 8], "station": ["north", "north", "south"]})
    >>> seen = inspect(visits)
    >>> seen.profile.layout, [person.column for person in seen.profile.people]
    ('visits', ['card'])
    """
    given = {
        "columns": columns, "owners": owners, "crs": crs, "similar_ids": similar_ids, "dialect": dialect,
        "times": times, "positions": positions, "line": line, "places": places, "bad_rows": bad_rows,
    }  # fmt: skip
    spec: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if isinstance(what, (str, Path)):
        return inspect_file(make_input({"path": str(what), **spec}), values=values)
    table = table_in_memory(what)
    if table is None:
        raise UsageError(f"inspect: a file or a data frame is needed, not {type(what).__name__}.")
    frame, its_crs = table
    if its_crs is not None:
        spec.setdefault("crs", its_crs)
    return inspect_frame(frame, values=values, **spec)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """What `publish` is asked for besides the data, the method and the folder."""

    prepare: Sequence[Any] = ()
    attacks: Sequence[Any] | None = None
    metrics: Sequence[Any] | None = None
    keep: Sequence[str] = ()
    title: str = ""
    seed: int | None = None
    sign_key: str | Path | None = None

    def recipe(self, data: Data, method: Any, target: Path) -> Recipe:
        """Return the same as a recipe for data in memory."""
        owners: Any = EACH_TRAJECTORY if data.owners == "declared" else ()
        return make_recipe(
            {
                "input": {"path": "data in memory", "kind": None if data.layout else data.kind, "owners": owners},
                "output": {
                    "path": str(target),
                    "keep": list(self.keep),
                    "sign_key": None if self.sign_key is None else str(self.sign_key),
                },
                "prepare": tuple(self.prepare),
                "method": method,
                "attacks": None if self.attacks is None else tuple(self.attacks),
                "metrics": None if self.metrics is None else tuple(self.metrics),
                "title": self.title or "Publication of data in memory",
                "seed": self.seed,
            }
        )


def _publish_data(
    data: Data,
    method: Any,
    settings: _Settings,
    *,
    notes: tuple[str, ...],
    out: str | Path | None,
    engine: Engine | None,
    secret: Secret | None,
) -> Publication:
    if data.kind not in get_args(InputKind) and data.layout is None:
        raise UsageError("publish: boxes are what methods make; give visits, points, routes, stops or trips.")
    scratch = Scratch() if out is None else None
    target = Path(out or "") if scratch is None else scratch.path / "publication"
    try:
        publication = _run(data, notes, settings.recipe(data, method, target), engine, secret)
    except BaseException:
        if scratch is not None:
            scratch.close()
        raise
    if scratch is not None:
        weakref.finalize(publication, scratch.close)
    return publication


def _run(
    data: Data, notes: tuple[str, ...], recipe: Recipe, engine: Engine | None, secret: Secret | None
) -> Publication:
    source = prepare_data(data, recipe.prepare, recipe.input, notes)
    outcome = publish_recipe(recipe, engine=engine, source=source, secret=secret)
    if outcome.public is None:
        raise UsageError("publish: the publication has no public folder.")
    loaded = load_published(outcome.public, read_manifest(outcome.public)[0])
    return Publication(data=loaded.data, ids=loaded.ids, outcome=outcome)


def prepare_data(data: Data, steps: Sequence[Any], spec: InputSpec, notes: tuple[str, ...] = ()) -> Prepared:
    """Run preparation steps on data in memory, of which `notes` tell how they were read.

    `spec` says where the files are that steps need.
    """
    ids = pl.Series(np.arange(len(data))).cast(pl.String)
    return prepare(Loaded(data=data, rows=data.n_rows, notes=notes, ids=ids), steps, spec)


def data_of(
    component: str,
    what: Any,
    owners: Literal["each-trajectory"] | None,
    crs: str | None,
    similar_ids: Literal["different", "same"] | None,
) -> Data:
    """Return data, or those in a frame, which is read with what the caller says of it; errors name the component."""
    if isinstance(what, Data):
        if crs is not None or similar_ids is not None:
            raise UsageError(
                f"{component}: crs and similar_ids say how a data frame is read; leave them out for other data."
            )
        if owners is not None and (owners != EACH_TRAJECTORY or what.owners != "declared"):
            raise UsageError(
                f"{component}: owners must be {EACH_TRAJECTORY!r} or left out, and left out where the data say "
                "themselves who is behind a trajectory."
            )
        return what
    data = from_frame(what, owners=owners, crs=crs, similar_ids=similar_ids)
    if data is None:
        needed = "data, a data frame or a recipe is" if component == "publish" else "data or a data frame are"
        raise UsageError(f"{component}: {needed} needed, not {type(what).__name__}.")
    return data


def _method_of(method: Any) -> Any:
    if type(method) in catalog.entries("method").values():
        return method
    if type(method) in guarantees().values():
        name = catalog.first_method(method.name)
        known = {p.name for p in parameters_of(catalog.entry("method", name))}
        values = {p.name: getattr(method, p.name) for p in parameters_of(type(method)) if p.name in known}
        return catalog.build("method", name, values)
    raise UsageError(
        "publish: give a configured method such as Kcl(k=10, l=3), or a claim such as KclPrivacy(k=10, c=0.5, l=3)."
    )


def as_frame(rows: list[dict[str, Any]], texts: tuple[str, ...], numbers: tuple[str, ...]) -> pl.DataFrame:
    """Return rows as a frame with columns of text and of numbers, also where there is no row."""
    schema: dict[str, Any] = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64)}
    plain = [{k: float(v) if k in numbers and v is not None else v for k, v in row.items()} for row in rows]
    return pl.DataFrame(plain, schema=schema)
