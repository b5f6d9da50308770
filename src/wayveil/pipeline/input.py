"""Tables and published folders -> data, with the checks that every method needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from wayveil.errors import InputError, UsageError, closest
from wayveil.io import (
    Loaded,
    ReadOptions,
    attach_places,
    guess_kind,
    in_tree_order,
    locate,
    mark_known,
    name_owners,
    parquet_parts,
    read_network,
    read_places,
    read_points,
    read_published,
    read_published_taxonomy,
    read_routes,
    read_stops,
    read_taxonomy,
    read_trips,
    read_visits,
    taxonomy_of_places,
)
from wayveil.io.formats.registry import holds_tracks
from wayveil.io.tabular.columns import EACH_TRAJECTORY
from wayveil.io.tabular.normal_columns import similar_keys
from wayveil.model import (
    Boxes,
    Data,
    Frame,
    Places,
    RoadNetwork,
    Routes,
    Sensitive,
    Taxonomy,
    TimeFormat,
    concat,
    seconds_per_unit,
)
from wayveil.model.data.ragged import IntArray
from wayveil.model.normal import similar_key
from wayveil.model.places.zone_polygons import ZonePolygons
from wayveil.pipeline.folder.manifest import FORMATS, Manifest, read_manifest, tables, taxonomy_name
from wayveil.pipeline.folder.published_input import with_manifest
from wayveil.pipeline.folder.staging import MANIFEST
from wayveil.pipeline.plain_input import plain_input
from wayveil.pipeline.remaining import Stage, count_stage
from wayveil.recipe import catalog
from wayveil.recipe.recipe import InputSpec
from wayveil.yardstick.sizes import interpolated_share

__all__ = [
    "Prepared",
    "check_places",
    "check_sensitive",
    "check_values",
    "find_public",
    "frame_of",
    "load",
    "load_boxes",
    "load_network",
    "load_parts",
    "load_places",
    "load_published",
    "load_zones",
    "other_kind_error",
    "prepare",
    "read_any",
    "read_options",
    "whole_days",
]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Data after the preparation steps, the ids of its trajectories, and what was assumed or changed."""

    data: Data
    ids: pl.Series
    notes: tuple[str, ...]
    stages: tuple[Stage, ...] = ()
    """What there was in the file, after reading, and after each step."""
    origin: IntArray | None = None
    """The trajectory of the input that each one comes from."""


def load(
    spec: InputSpec,
    *,
    attributes: tuple[str, ...] | None,
    kinds: tuple[str, ...] = (),
    frame: Frame | None = None,
    piece: bool = False,
    counts_people: bool = True,
) -> Loaded:
    """Read an input table; `attributes` limits what is read (None: all), `kinds` are those that will do (none: any).

    `frame` is given for a `piece` of a table, so that its degrees become the same metres as those of the whole.  Where
    nobody said who is behind a trajectory, the table is refused, unless the caller `counts_people` in no way.
    """
    # From the outside in: what a manifest beside the table says, then whatever makes a plain table of the file, then
    # the reader of the kind.  Messages name the file that was given (`spec.path`), never a converted copy.
    source, more_notes = with_manifest(spec)
    with plain_input(source) as (plain, notes):
        loaded = _load(
            plain, spec.path, attributes=attributes, kinds=kinds, frame=frame, piece=piece, counts_people=counts_people
        )
    # Guesses are told once for the whole table, not once per piece of it.
    guesses = () if piece else tuple(f"Taken to be so: {guess}" for guess in spec.guesses)
    return replace(loaded, notes=(*guesses, *more_notes, *notes, *loaded.notes))


def _load(
    spec: InputSpec,
    shown: Path,
    *,
    attributes: tuple[str, ...] | None,
    kinds: tuple[str, ...],
    frame: Frame | None,
    piece: bool,
    counts_people: bool,
) -> Loaded:
    # Owners and known rows may stand in tables of their own; they are joined by trajectory after reading, so that
    # readers know nothing of them.
    options = read_options(spec, attributes=attributes, frame=frame, piece=piece, counts_people=counts_people)
    kind = spec.kind or guess_kind(spec.path, options)
    if kinds and kind not in kinds:
        raise other_kind_error(shown, kind, kinds)
    loaded = _READERS[kind](spec, options)
    if spec.owner_tables:
        loaded = name_owners(loaded, spec.owner_tables, spec.columns, similar_ids=spec.similar_ids)
    if spec.known is not None:
        loaded = mark_known(loaded, spec.known)
    if spec.places is None or kind not in ("visits", "trips"):
        return loaded
    return locate(loaded, spec.places, crs=spec.crs)


def other_kind_error(path: Path, kind: str, needed: tuple[str, ...]) -> InputError:
    """Return the error for an input of another kind than is needed."""
    advice = catalog.advice(kind, needed[0])
    return InputError(f"The input {str(path)!r} holds {kind}, but {' or '.join(needed)} are needed.{advice}")


def read_options(
    spec: InputSpec,
    *,
    attributes: tuple[str, ...] | None = None,
    frame: Frame | None = None,
    piece: bool = False,
    counts_people: bool = True,
) -> ReadOptions:
    """Return how to read the table of an input; what the columns of the tables of owners are called is left out."""
    # Three ways to say who is behind a trajectory, besides a column of the table: nobody asks, each is a person, or a
    # table beside it says so.
    owners: Any = "not-asked" if not counts_people else None
    if spec.each_trajectory:
        owners = EACH_TRAJECTORY
    elif spec.owner_tables:
        owners = "elsewhere"
    return ReadOptions(
        columns={ours: name for ours, name in spec.columns.items() if ours != "user_id" or not spec.owner_tables},
        on_duplicate_time=spec.on_duplicate_time,
        attributes=attributes,
        crs=spec.crs,
        frame=frame,
        owners=owners,
        similar_ids=spec.similar_ids,
        piece=piece,
    )


def _routes(spec: InputSpec, options: ReadOptions) -> Loaded:
    return read_routes(spec.path, load_network(spec, "The input holds routes"), options)


def _stops(spec: InputSpec, options: ReadOptions) -> Loaded:
    if spec.taxonomy is None:
        raise UsageError("The input holds stops, so the taxonomy of their places is needed: give it with --taxonomy.")
    taxonomy = read_taxonomy(spec.taxonomy, sensitive_nodes=spec.sensitive_nodes)
    return read_stops(spec.path, taxonomy, options, unknown_places=spec.unknown_places)


_READERS: dict[str, Callable[[InputSpec, ReadOptions], Loaded]] = {
    "visits": lambda spec, options: read_visits(spec.path, options),
    "points": lambda spec, options: read_points(spec.path, options),
    "routes": _routes,
    "stops": _stops,
    "trips": lambda spec, options: read_trips(spec.path, options),
}


def load_network(spec: InputSpec, why: str) -> RoadNetwork:
    """Read the road network of an input; UsageError with the reason `why` it is needed if none is given."""
    if spec.network is None:
        raise UsageError(f"{why}, so the road network is needed: give it with --network.")
    return read_network(spec.network, crs=spec.crs)


def load_places(spec: InputSpec, why: str) -> tuple[Places, Taxonomy]:
    """Read where people can stop, and the taxonomy with these places as leaves; UsageError if there are none."""
    if spec.places is None:
        raise UsageError(f"{why}, so a table of places is needed: give it with --places.")
    places = read_places(spec.places, crs=spec.crs)
    if spec.taxonomy is None:
        return places, taxonomy_of_places(places, sensitive_nodes=spec.sensitive_nodes)
    return places, attach_places(read_taxonomy(spec.taxonomy, sensitive_nodes=spec.sensitive_nodes), places)


def load_zones(spec: InputSpec, step: Any, data: Data) -> ZonePolygons:
    """Read the polygons that a step puts data into, in the coordinates of the data; UsageError if there are none."""
    from wayveil.io.places.zone_files import read_zones  # with shapely, which little else needs

    if spec.zones is None:
        choices = {"zones": "give cell or h3, or a file", "areas": "give a file"}.get(step.name, "give cell, or a file")
        raise UsageError(f"The step {step.name} needs zones: {choices} of polygons with --zones.")
    return read_zones(spec.zones, id_column=step.id, frame=frame_of(data))


def frame_of(data: Data) -> Frame | None:
    """Return the frame of coordinates, in whose degrees or metres zones are read; only points and located visits have
    one."""
    frame: Frame | None = getattr(data, "frame", None) or getattr(data, "place_frame", None)
    return frame


def find_public(folder: Path) -> Path:
    """Return the public folder that `folder` is or has; InputError if there is none."""
    for candidate in (folder, folder / "public"):
        if (candidate / MANIFEST).is_file():
            return candidate
    raise InputError(f"There is no {MANIFEST} in {str(folder)!r} or its folder 'public': nothing is published there.")


def _holds_raw(folder: Path) -> bool:
    """Return whether a folder holds raw data, as GPS tracks or Parquet files, and no publication."""
    # A publication is recognised by its manifest, and read as one, never as raw data.
    if any((candidate / MANIFEST).is_file() for candidate in (folder, folder / "public")):
        return False
    return bool(parquet_parts(folder)) or holds_tracks(folder)


def load_published(folder: Path, manifest: Manifest) -> Loaded:
    """Read the table of a public folder as its manifest describes it; its parts, if it has any, become one."""
    parts = list(load_parts(folder, manifest))
    if len(parts) == 1:
        return parts[0]
    # Parts number their owners from 0 each. Nobody can know whether owners of two parts are the same, so they are kept
    # apart.
    # Codes of part i begin behind the number of trajectories before it, which no code of an earlier part reaches.
    first = np.cumsum([0, *(len(part.data) for part in parts)])
    owned: list[Any] = [replace(p.data, owner=p.data.owner + a) for p, a in zip(parts, first.tolist(), strict=False)]
    return Loaded(
        data=concat(owned),
        rows=sum(part.rows for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        ids=pl.concat([part.ids for part in parts]),
    )


def load_parts(folder: Path, manifest: Manifest, *, exact: bool = False) -> Iterator[Loaded]:
    """Read the parts of the table of a public folder, one after the other; see `read_published` for `exact`."""
    taxonomy = _published_taxonomy(folder, manifest, exact=exact)
    for name in tables(manifest):
        yield read_published(
            folder / name,
            kind=manifest.table.kind,
            time_format=manifest.table.time_format,
            attributes=manifest.attributes,
            owners=manifest.table.owners,
            frame=manifest.frame,
            taxonomy=taxonomy,
            declared=manifest.declared,
            exact=exact,
        )


def _published_taxonomy(folder: Path, manifest: Manifest, *, exact: bool) -> Taxonomy | None:
    """Return the taxonomy that was published with stops."""
    if manifest.table.kind != "stops":
        return None
    # One taxonomy, in the format of the table: without it, or with a choice of two, nodes have no meaning.
    names = [name for form in FORMATS if (name := taxonomy_name(form)) in manifest.files]
    if not names:
        raise InputError("The manifest lists no taxonomy, without which stops mean nothing.")
    if len(names) > 1:
        raise InputError("The manifest lists several taxonomies, so it is not known what stops mean.")
    return read_published_taxonomy(folder / names[0], exact=exact)


def load_boxes(folder: Path, manifest: Manifest, points: Loaded, part: int = 0, *, exact: bool = False) -> Boxes | None:
    """Read the boxes from which published points were drawn, where there are any; their ids must be the same.

    See `read_published` for `exact`.
    """
    names = tables(manifest, "boxes")
    if not names:
        return None
    # Boxes are the proof of published points, part by part; a part without its proof must not pass.
    if len(names) != len(tables(manifest)):
        raise InputError("The manifest lists another number of tables of boxes than of points.")
    loaded = read_published(
        folder / names[part],
        kind="regions",
        time_format=manifest.table.time_format,
        attributes=(),
        owners=manifest.table.owners,
        frame=manifest.frame,
        exact=exact,
    )
    if not loaded.ids.equals(points.ids):
        raise InputError(f"The trajectories of {names[part]} are not those of the published points.")
    return cast(Boxes, loaded.data)


def read_any(
    spec: InputSpec, *, attributes: tuple[str, ...] | None = None, counts_people: bool = True
) -> tuple[Loaded, Sensitive]:
    """Read a table or a published folder; return it with what its claim calls sensitive."""
    if not spec.path.is_dir() or _holds_raw(spec.path):
        return load(spec, attributes=attributes, counts_people=counts_people), ()
    try:
        folder = find_public(spec.path)
    except InputError:
        raise InputError(
            f"{spec.path}: the folder holds neither a publication nor data: no {MANIFEST}, no .gpx or .plt files, and "
            "not Parquet files alone. Give a table, a folder of such files, or a published folder."
        ) from None
    manifest, _ = read_manifest(folder)
    return load_published(folder, manifest), manifest.guarantee.sensitive


def prepare(loaded: Loaded, steps: Sequence[Any], spec: InputSpec) -> Prepared:
    """Run the preparation steps in order; a trajectory that is split hands its id to its parts."""
    # Before each step: `ids` and `origin` have an entry per trajectory of `data`, the id in the file and the position
    # of the trip that it comes from.  A step may split, drop or join rows; it may not mix people.
    data: Any = loaded.data
    ids = loaded.ids
    notes = list(loaded.notes)
    origin: IntArray = np.arange(len(data))
    stages = [Stage(name="file", rows=loaded.rows, row_word="rows"), count_stage("read", data, origin)]
    for step in steps:
        accepted = catalog.kinds_of(step)
        if data.kind not in accepted:
            raise InputError(f"The step {step.name} needs {' or '.join(accepted)}, but the data are {data.kind}.")
        # What a step needs beside the data is read only for it: networks and polygons are large.
        more_data: dict[str, Any] = {}
        if step.needs_network:
            more_data = {"network": load_network(spec, f"The step {step.name} puts points on roads")}
        if step.needs_places:
            places, taxonomy = load_places(spec, f"The step {step.name} looks where people stopped")
            more_data = {"places": places, "taxonomy": taxonomy}
        if step.needs_zones:
            more_data = {"zones": load_zones(spec, step, data)}
        before = data
        # `source` leads from what a step made to what it was made of; chained over steps, it leads back to the trips of
        # the file, so that losses are counted from there.
        data, more, source = step.run_with_origin(data, **more_data)
        if source is not None:
            ids = ids.gather(source)
            origin = origin[source]
        notes += more
        stages.append(replace(count_stage(step.name, data, origin), note=_step_note(step, before, data)))
    if data.owners == "declared" and data.n_owners < len(data):
        # Every trajectory of the input was declared to be a person; its parts are of the same one, and count once.
        data = replace(data, owners="given")
    if data.shared == "taxonomy":
        data = data.recode(in_tree_order(data.taxonomy))  # as in the published file, so that codes stay the same
    if data.slices() and not any(step.name == "slices" for step in steps):
        data, more = _one_slice(data)
        notes += more
    return Prepared(data=data, ids=ids, notes=tuple(notes), stages=tuple(stages), origin=origin)


def _step_note(step: Any, before: Any, after: Any) -> str:
    """Return what a step made up that nobody recorded, or nothing."""
    if step.name != "resample" or len(before) != len(after):
        return ""
    share = interpolated_share(before, after)
    return f"{share:.0%} of the points are interpolated".replace("%", " %") if share else ""


def _one_slice(data: Routes) -> tuple[Routes, tuple[str, ...]]:
    """Return routes as of one slice of time, in which everybody can be confused with everybody.

    What is published is the slice of those trips of which something is published; see `pipeline.output_frame`.
    """
    begin, end, width = whole_days(data.t, data.time_format)
    whole = replace(data, t_start=np.full(len(data), begin), t_end=np.full(len(data), end))
    note = f"No slices of time were asked for (step slices): all routes are taken to be of one, of {width}."
    return whole, (note,) if width else ()


def whole_days(t: IntArray, time_format: TimeFormat) -> tuple[int, int, str]:
    """Return where a slice of whole days around all these times begins and ends, and what it is made of.

    It does not tell the exact first and last time.  Where times are plain integers, it is of whole numbers of a power
    of ten that is no smaller than all the time there is.  Where no times are known, all are 0, and so is the slice.
    """
    # Both 0 is how the reader says that there are no times.
    first, last = (int(t.min()), int(t.max())) if len(t) else (0, 0)
    if first == last == 0:
        return 0, 0, ""
    seconds = seconds_per_unit(time_format)
    # Plain integers have no days: a power of ten that is at least as long as all the time there is takes their part.
    unit = 10 ** len(str(last - first)) if seconds is None else round(86_400 / seconds)
    begin = first // unit * unit
    # The end is that of the last day: the slice says which days there were, not when the first and last trip was.
    end = (last // unit + 1) * unit
    limits = np.iinfo(np.int64)
    if not limits.min <= begin <= end <= limits.max:
        raise InputError("Routes: a time is too close to the limits of 64-bit integers; shift the times.")
    return begin, end, f"multiples of {unit:,}" if seconds is None else "whole days"


def check_sensitive(data: Data, sensitive: Sensitive, *, keep: Iterable[str] = ()) -> None:
    """Refuse sensitive attributes and values that the data do not have, and missing values."""
    values = {
        name: (
            tuple(column.labels[code] for code in np.unique(column.codes).tolist() if code >= 0),
            int(np.count_nonzero(column.codes < 0)),
        )
        for name, column in data.attributes.items()
    }
    check_values(values, len(data), sensitive, keep=keep)


def check_values(
    values: Mapping[str, tuple[tuple[str, ...], int]],
    trajectories: int,
    sensitive: Sensitive,
    *,
    keep: Iterable[str] = (),
) -> None:
    """Refuse the same, for attributes of which it is known what values occur and how often one is missing."""
    # All names first, then values: a misspelt name is a mistake of whoever typed it, a missing value one of the data.
    for name in (*(attribute for attribute, _ in sensitive), *keep):
        if name not in values:
            known = sorted(values)
            raise UsageError(f"The input has no attribute column {name!r}.{closest(name, known)}")
    for name, named in sensitive:
        present, missing = values[name]
        if missing:
            raise InputError(
                f"The sensitive attribute {name!r} has no value in {missing:,} of {trajectories:,} trajectories. "
                "Fill in a value such as 'unknown', or remove these trajectories."
            )
        for value in named:
            if value not in present:
                raise InputError(
                    f"The sensitive value {value!r} never occurs in the attribute {name!r}; check its spelling."
                )
        for value, number in _alike(named, present):
            raise _spelling_error(f"The attribute {name!r}", number, f"the sensitive value {value!r}")


def check_places(data: Data, groups: Sensitive) -> None:
    """Refuse places of adversaries that have another place of the data which is alike and not theirs."""
    named = data.places()
    if named is None:
        return
    for name, places in groups:
        known = set(places)
        others = [place for place in named.names if place not in known]
        for place, number in _alike(places, others):
            raise _spelling_error("The input", number, f"the place {place!r} of the adversary {name!r}")


def _alike(values: Iterable[str], present: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the values that are named and of which the data have other spellings, with the number of these."""
    # Spellings that differ in case, white space or leading zeros would each be bounded by itself, and the same value in
    # two spellings is known twice as well as promised.
    keys = similar_keys(pl.Series(present, dtype=pl.String)).to_list()
    for value in values:
        key = similar_key(value)
        number = sum(other == key and text != value for text, other in zip(present, keys, strict=True))
        if number:
            yield value, number


def _spelling_error(component: str, number: int, what: str) -> InputError:
    """Return the error for other spellings of what was named; they are counted and not shown."""
    return InputError(
        f"{component} has {number:,} other {'spelling' if number == 1 else 'spellings'} of {what}, with another "
        "case, white "
        "space, leading zeros or letter forms; write it in one way in the input, or rename what means something else."
    )
