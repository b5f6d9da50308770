"""The input in pieces: scattered so that everybody is whole in one, read and prepared piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError, UsageError
from wayveil.io import (
    Kind,
    Loaded,
    ReadOptions,
    Spans,
    gather_piece,
    guess_kind,
    in_tree_order,
    open_spans,
    scatter_span,
)
from wayveil.io.publish.atomic import make_folders
from wayveil.io.read.trip_tables import place_positions
from wayveil.io.read.visit_tables import location_positions
from wayveil.io.scatter import groups_of, make_piece_folders, people_keys, scatter_group
from wayveil.io.tabular.columns import LOCATION_COORDINATES, lone_rows_error
from wayveil.io.tabular.crs import could_be_degrees, unsaid_degrees_error
from wayveil.io.tabular.normal_columns import similar_ids_error, similar_ids_note
from wayveil.model import BlockKey, Data, Engine, Frame, Owners, Taxonomy, TimeFormat
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.pipeline.blocks.memory import check_groups, check_growth, limit_of
from wayveil.pipeline.blocks.plan import Keys, keys_of
from wayveil.pipeline.blocks.task_files import load_data, load_value, save, save_data
from wayveil.pipeline.folder.published_input import with_manifest
from wayveil.pipeline.input import load, other_kind_error, prepare, read_options
from wayveil.pipeline.plain_input import is_plain, plain_input
from wayveil.recipe import catalog
from wayveil.recipe.defaults import columns_of
from wayveil.recipe.recipe import InputSpec, Recipe

__all__ = ["InputPlan", "Pieces", "check_kind", "look_ahead", "plan_input", "read_pieces"]

_NAMED_PLACES = {"trips": place_positions, "visits": location_positions}
"""What lists where the named places of a piece are, for kinds that may have coordinates beside names."""

_PERSON_BITS = 32
"""The code of a person is the number of the piece and, in so many lower bits, the number of the person in it."""


@dataclass(frozen=True, kw_only=True)
class InputPlan:
    """What is to be read: a table of a kind, the steps that prepare it, and how it is cut into pieces and blocks.

    `limit` is the memory, in bytes, into which that has to fit, where somebody asked for one.
    """

    spec: InputSpec
    kind: Kind
    steps: tuple[Any, ...]
    attributes: tuple[str, ...]
    by: BlockKey
    rows: int
    limit: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Pieces:
    """Prepared data on disk, and what is known of them.

    Parameters
    ----------
    files : tuple of Path
        One file per piece, as `save_data` writes it.
    keys : tuple of Keys
        Of the trajectories of each piece.
    shared : Path
        What all pieces share: the network of routes, the taxonomy of stops.
    example : Data
        Data without trajectories: kind, times, frame and attributes are those of all.
    values : mapping
        The values of each attribute that occur, and whether one is missing.
    """

    files: tuple[Path, ...]
    keys: tuple[Keys, ...]
    shared: Path
    example: Any
    values: dict[str, tuple[tuple[str, ...], int]]
    trajectories: int
    people: int
    rows: int
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Piece:
    """What one task tells of the piece that it prepared; `lone_rows` is whether each trajectory had one row only.

    `people` has a number per person, the same for ids that are alike.
    """

    file: Path
    keys: Keys
    example: Data | None
    time_format: TimeFormat
    owners: Owners
    ids: IntArray
    values: dict[str, tuple[tuple[str, ...], int]]
    lone_rows: bool
    people: IntArray
    notes: tuple[str, ...]


def plan_input(recipe: Recipe) -> InputPlan:
    """Return what a recipe wants to be read in pieces; refuse what needs everything at once."""
    if recipe.blocks is None:
        raise UsageError("The recipe names no blocks.")
    # Everything that needs all data at once is refused here, with what to do instead.
    if recipe.output.keep_mapping:
        raise UsageError("With several blocks there is no table of new ids and input ids; leave --keep-mapping out.")
    if recipe.output.format == "geojson":
        raise UsageError("With several blocks the published tables are parquet or csv, not geojson.")
    if recipe.method.claim.private_columns:
        raise UsageError(
            "How many people somebody asks to be one of (k_column) is kept over all of their trips, which data in "
            "blocks do not allow. Leave --memory-limit out, or k_column."
        )
    needs_slices = catalog.kind_of(type(recipe.method)) == "routes"
    for step in recipe.prepare:
        if step.looks_at_everybody:
            raise UsageError(
                f"The step {step.name} as given looks at everybody at once, which data in blocks do not allow. Write "
                f"its result with wayveil prepare {step.name} first, and publish that, or choose parameters that do "
                "not: zones of one size (without people)."
            )
    if needs_slices and not any(step.name == "slices" for step in recipe.prepare):
        raise UsageError(
            "Blocks of routes are slices of time: say how long they are with the step slices, such as "
            "--prepare 'slices width=1d'."
        )
    return InputPlan(
        spec=recipe.input,
        kind=check_kind(recipe.input, catalog.kinds_needed(recipe.prepare, recipe.method)),
        steps=recipe.prepare,
        attributes=columns_of(recipe),
        by=recipe.blocks.by,
        rows=recipe.blocks.rows,
        limit=limit_of(recipe.blocks),
    )


def check_kind(spec: InputSpec, needed: tuple[str, ...] = ()) -> Any:
    """Return what an input holds; InputError if something else is needed."""
    kind = spec.kind
    if kind is None:
        with plain_input(spec) as (plain, _):
            kind = guess_kind(plain.path, ReadOptions(columns=plain.columns))
    if needed and kind not in needed:
        raise other_kind_error(spec.path, kind, needed)
    return kind


def read_pieces(want: InputPlan, *, seed: int, scratch: Path, engine: Engine) -> Pieces:
    """Scatter, read and prepare a table on an engine; nobody ever holds all of it."""
    # A manifest, then a conversion, each at most once: then the table is plain and read below.
    spec, notes_before = with_manifest(want.spec)
    if notes_before:
        read = read_pieces(replace(want, spec=spec), seed=seed, scratch=scratch, engine=engine)
        return replace(read, notes=(*notes_before, *read.notes))
    kind = want.kind
    if not is_plain(spec):
        folder = scratch / "converted"
        folder.mkdir(mode=0o700)
        with plain_input(spec, folder) as (plain, notes_before):
            read = read_pieces(replace(want, spec=plain), seed=seed, scratch=scratch, engine=engine)
        return replace(read, notes=(*notes_before, *read.notes))
    if spec.owner_tables or spec.known is not None:
        name = "--owners" if spec.owner_tables else "--known"
        raise UsageError(f"A table given with {name} cannot be cut into blocks; put its column into the input table.")
    options = read_options(spec, attributes=want.attributes)
    engine.progress("scattering rows")
    spans = open_spans(spec.path, kind, options, rows=want.rows, scratch=scratch)
    check_groups(want.limit, spans.group_bytes)
    # Rows are scattered by a keyed hash of the person, so that all rows of a person meet in one piece without sorting
    # the file. The key comes from the seed, so that the same run scatters alike.
    n_pieces = max(1, -(-spans.rows // want.rows))
    raw = scratch / "raw"
    # 62 bits that follow from the seed by a stream of their own, apart from those of method and attacks.
    secret = int(np.random.SeedSequence(seed, spawn_key=(3,)).generate_state(1, np.uint64)[0] >> np.uint64(2))
    make_piece_folders(raw, n_pieces)
    counts = engine.map(
        partial(scatter_span, spans, pieces=n_pieces, secret=secret, folder=raw), range(len(spans.spans))
    )
    regroup = partial(scatter_group, spans, pieces=n_pieces, secret=secret, folder=raw, rows=want.rows)
    engine.map(regroup, range(len(groups_of(n_pieces))))
    nonempty = np.flatnonzero(np.sum(counts, axis=0)).tolist()
    engine.progress("reading pieces")
    files = engine.map(partial(gather_piece, spans, folder=raw), nonempty)
    frame = None
    if kind == "points":
        # Degrees become metres by one projection for all pieces, which must fit all of them: so every piece is asked
        # for its extent first.
        frame = _frame(spans.shown, engine.map(partial(_extent, spec, kind), files))
    if kind in _NAMED_PLACES and spec.places is None and _may_say_where(kind, spans, options):
        # A named place is where its first row in the whole file is, and no piece has the whole file.
        engine.progress("places")
        places = _gather_places(kind, options, files, scratch, engine)
        want = replace(want, spec=spec.model_copy(update={"places": places}))
    task = partial(_prepare_piece, want, spans, frame, secret, scratch)
    make_folders(*(scratch / name for name in ("prepared", "taxonomies", "renumbered", "owned")))
    pieces: list[_Piece] = engine.map(task, list(enumerate(files)))
    joined = _joined(pieces, spans, scratch, engine)
    return replace(joined, notes=(*(f"Taken to be so: {guess}" for guess in spec.guesses), *joined.notes))


def _may_say_where(kind: str, spans: Spans, options: ReadOptions) -> bool:
    """Whether coordinates may stand beside names; of trips, columns are also found by their usual names."""
    names = {name for _, name in spans.columns}
    return kind == "trips" or all(options.columns.get(ours, ours) in names for ours in LOCATION_COORDINATES)


def _gather_places(
    kind: str, options: ReadOptions, files: Sequence[Path], scratch: Path, engine: Engine
) -> Path | None:
    """Write where all named places are, each where its first row is; None if that is not known of all."""
    positions = partial(_NAMED_PLACES[kind], options=options)
    tables = [one for one in engine.map(positions, list(files)) if one is not None]
    if not tables:
        return None
    places = (
        pl.concat(tables).sort(pl.col("x").is_null(), "order").unique("location", keep="first", maintain_order=True)
    )
    if places["x"].null_count() or not places.height:
        return None
    degrees = options.crs != "planar"
    names = {"x": "lon", "y": "lat"} if degrees else {}
    target = scratch / "named_places.parquet"
    places.drop("order").rename(names).write_parquet(target)
    return target


def _piece_spec(spec: InputSpec, file: Path, kind: str) -> InputSpec:
    return spec.model_copy(update={"path": file, "kind": kind})


def _extent(spec: InputSpec, kind: str, file: Path) -> tuple[FloatArray, FloatArray, str] | bool:
    """Return where the degrees of a piece are: the outermost in every whole degree of longitude.

    Of metres, it is returned whether nobody said so and all of them could be degrees.
    """
    data: Any = load(_piece_spec(spec, file, kind), attributes=(), kinds=(kind,), piece=True).data
    positions = data.positions() if data.coordinates else None
    if positions is None:
        return False
    frame: Frame = data.frame
    if not frame.degrees:
        return frame.crs == "" and could_be_degrees(*positions)
    lon, lat = frame.to_file(*positions)
    # The outermost of each degree are enough to find the widest gap between longitudes, and with it whether data cross
    # the date line.
    box = np.unique(np.floor(lon), return_inverse=True)[1]
    low = np.full(box.max() + 1, np.inf)
    high = np.full(box.max() + 1, -np.inf)
    np.minimum.at(low, box, lon)
    np.maximum.at(high, box, lon)
    ends = np.array([lat.min(), lat.max()])
    return np.concatenate([low, high]), np.resize(ends, 2 * len(low)), frame.crs


def _frame(shown: str, extents: Sequence[tuple[FloatArray, FloatArray, str] | bool]) -> Frame | None:
    known = [extent for extent in extents if not isinstance(extent, bool)]
    if not known:
        if all(extents):
            raise unsaid_degrees_error(shown)
        return None
    lon, lat = (np.concatenate([extent[axis] for extent in known]) for axis in (0, 1))
    return Frame.for_degrees(lon, lat, crs=known[0][2])


def _prepare_piece(
    want: InputPlan, spans: Spans, frame: Frame | None, secret: int, scratch: Path, numbered: tuple[int, Path]
) -> _Piece:
    number, file = numbered
    spec = _piece_spec(want.spec, file, want.kind)
    loaded = load(spec, attributes=want.attributes, kinds=(want.kind,), frame=frame, piece=True)
    if want.kind in _NAMED_PLACES and spec.places is None:
        # Some place of the whole table is nowhere, so that all are, as when it is read at once.
        named: Any = loaded.data
        loaded = replace(loaded, data=replace(named, place_x=None, place_y=None, place_frame=None))
    look_ahead(loaded, want.steps, want.spec, want.limit)
    ready = prepare(loaded, want.steps, want.spec)
    data: Any = ready.data
    # Nobody is in two pieces, so the number of the piece makes codes of people unique without any exchange.
    data = replace(data, owner=data.owner + (number << _PERSON_BITS))
    if data.shared == "taxonomy":  # each piece has one of its own
        save(data.taxonomy, _tree_file(scratch, number))
    elif number == 0:  # all pieces have the same, or nothing
        save(data.shared_value(), scratch / "shared.pickle")
    target = save_data(data, scratch / "prepared" / f"{number}.pickle")
    return _Piece(
        file=target,
        keys=keys_of(data, want.by),
        # One is enough, and each would hold a network, a taxonomy or the names of places of its own.
        example=data.take(np.zeros(0, np.int64)) if number == 0 else None,
        time_format=data.time_format,
        owners=data.owners,
        # Ids of trajectories are compared across pieces by hash: nobody holds all of them as text.
        ids=_hashed(loaded.ids, secret) if data.owners == "given" else np.zeros(0, np.int64),
        values={name: _present(data, name) for name in data.attributes},
        lone_rows=loaded.rows == len(loaded.ids),
        people=people_keys(spans, file, secret),
        notes=ready.notes,
    )


def look_ahead(loaded: Loaded, steps: Sequence[Any], spec: InputSpec, limit: int | None) -> None:
    """Prepare a twentieth of a table, to refuse a step that makes so many rows of it that they do not fit."""
    if limit is None or not any(step.name == "resample" for step in steps):
        return
    # Every twentieth trajectory: rows per trajectory, which decide how much resampling makes, differ less than sizes
    # do.
    some = np.arange(0, len(loaded.data), 20)
    sample: Any = loaded.data.take(some)
    try:
        ready = prepare(replace(loaded, data=sample, ids=loaded.ids.gather(some)), steps, spec)
    except InputError:
        return  # what is wrong is told of the whole table
    check_growth(limit, sample.n_rows, ready.data.n_rows)


def _hashed(ids: pl.Series, secret: int) -> IntArray:
    return ids.hash(secret ^ 1).to_numpy().view(np.int64)


def _present(data: Data, name: str) -> tuple[tuple[str, ...], int]:
    column = data.attributes[name]
    codes = np.unique(column.codes).tolist()
    return tuple(column.labels[code] for code in codes if code >= 0), int((column.codes < 0).sum())


def _joined(pieces: list[_Piece], spans: Spans, scratch: Path, engine: Engine) -> Pieces:
    example: Any = pieces[0].example
    for piece in pieces:
        # One piece may have only dates and another only numbers; each alone would have been read.
        if piece.time_format != example.time_format:
            raise InputError(f"{spans.shown}: times are written in different ways; write all in one way.")
    if spans.suspects and all(piece.lone_rows for piece in pieces) and spans.rows > 1:
        raise lone_rows_error(spans.shown, spans.suspects)
    alike = _alike(pieces, spans)
    ids = np.concatenate([piece.ids for piece in pieces])
    # The same id in two pieces means two owners, as pieces are scattered by owner.
    if len(np.unique(ids)) < len(ids):
        raise InputError(
            f"{spans.shown}: a traj_id occurs with more than one user_id. A trajectory belongs to one person; give the "
            "part of each person a traj_id of its own."
        )
    shared = scratch / "shared.pickle"
    files = [piece.file for piece in pieces]
    if example.shared == "taxonomy":
        tree = in_tree_order(Taxonomy.union([load_value(_tree_file(scratch, i)) for i in range(len(pieces))]))
        save(tree, shared)
        files = engine.map(partial(_renumbered, scratch, shared), list(range(len(pieces))))
        example = example.recode(tree)
    if len({piece.owners for piece in pieces}) > 1:
        # A trajectory that was cut has parts of one person, who counts once; so nobody is assumed in any piece.
        files = engine.map(partial(_with_owners, shared), list(enumerate(files)))
        example = replace(example, owners="given")
    names = tuple(example.attributes)
    return Pieces(
        files=tuple(files),
        keys=tuple(piece.keys for piece in pieces),
        shared=shared,
        example=example,
        values={
            name: (
                tuple(sorted({value for piece in pieces for value in piece.values[name][0]})),
                sum(piece.values[name][1] for piece in pieces),
            )
            for name in names
        },
        trajectories=sum(len(piece.keys.rows) for piece in pieces),
        people=sum(len(np.unique(piece.keys.person)) for piece in pieces),
        rows=sum(int(piece.keys.rows.sum()) for piece in pieces),
        notes=(*spans.notes, *alike, *_notes(pieces)),
    )


def _alike(pieces: Sequence[_Piece], spans: Spans) -> tuple[str, ...]:
    """Return what was done with people whose ids are alike, or refuse them."""
    # Ids that differ in case or leading zeros have the same number: two of a kind are alike.
    times = np.unique(np.concatenate([piece.people for piece in pieces]), return_counts=True)[1]
    number = int(times[times > 1].sum())
    if number and spans.similar_ids is None:
        raise similar_ids_error(spans.shown, spans.key, number)
    return (similar_ids_note(spans.key, number, spans.similar_ids),) if number and spans.similar_ids else ()


def _tree_file(scratch: Path, number: int) -> Path:
    return scratch / "taxonomies" / f"{number}.pickle"


def _renumbered(scratch: Path, shared: Path, number: int) -> Path:
    """Write stops with the codes of the taxonomy of all pieces, to a file of their own: the task may run twice."""
    data = load_data(scratch / "prepared" / f"{number}.pickle", load_value(_tree_file(scratch, number)))
    return save_data(data.recode(load_value(shared)), scratch / "renumbered" / f"{number}.pickle")


def _with_owners(shared: Path, numbered: tuple[int, Path]) -> Path:
    """Write data whose owners are known, to a file of their own: the task may run twice."""
    number, file = numbered
    data = replace(load_data(file, load_value(shared)), owners="given")
    return save_data(data, file.parent.with_name("owned") / f"{number}.pickle")


def _notes(pieces: Sequence[_Piece]) -> tuple[str, ...]:
    """Return what was assumed or cleaned: notes of all pieces as they are, others as those of the first piece."""
    by_text: dict[str, tuple[str, int, set[str]]] = {}
    for piece in pieces:
        for note in piece.notes:
            # Notes are compared without their numbers: "7 rows were dropped" and "9 rows were dropped" are one note.
            shape = "".join("#" if letter.isdigit() or letter == "," else letter for letter in note)
            while "##" in shape:
                shape = shape.replace("##", "#")
            first, times, texts = by_text.get(shape, (note, 0, set()))
            by_text[shape] = first, times + 1, texts | {note}
    return tuple(
        first if len(texts) == 1 else f"{first[:-1]}, in the first of {times} pieces of the input that were alike."
        for first, times, texts in by_text.values()
    )
