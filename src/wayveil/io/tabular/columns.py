"""Which column of a file is what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from wayveil.errors import InputError, check_choice, closest
from wayveil.io.tabular.column_slice import split_name
from wayveil.io.tabular.headers import ALSO_CALLED, PLACE_NAMES, bare_name, columns_error, near_name, shown_names
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.normal_columns import SimilarIds
from wayveil.io.tabular.owner_columns import looks_like_person, person_columns
from wayveil.io.tabular.table import Table
from wayveil.model import Frame, InputKind
from wayveil.model.normal import normal_text

__all__ = [
    "EACH_TRAJECTORY",
    "INPUTS",
    "LOCATION_COORDINATES",
    "TRIP_COORDINATES",
    "Columns",
    "InputColumns",
    "Kind",
    "ReadOptions",
    "choose_columns",
    "lone_rows_error",
    "looks_like",
    "place_columns",
    "suggested",
]

EACH_TRAJECTORY = "each-trajectory"
"""What a publisher writes who declares that each trajectory is another person."""

Kind = InputKind
"""What a table of raw data can hold."""


@dataclass(frozen=True, kw_only=True)
class InputColumns:
    """The columns of a table of raw data, by our names for them."""

    needed: tuple[str, ...]
    """What it must have."""

    known: tuple[str, ...]
    """What it may have that means something; anything else is an attribute."""

    rule: str
    """What it must have, in words."""

    place: tuple[str, ...] = ()
    """What says where by a name; none where coordinates say so."""

    place_too: tuple[str, ...] = ()
    """What else may be said of a place."""

    slice: tuple[str, ...] = ()
    """What says when, all together and only where there is no column t."""

    mapped: tuple[str, ...]
    """What, named with --columns, tells this kind from others."""

    in_order: bool = False
    """Whether a column of numbers, seq, does in place of times."""

    copies: tuple[str, ...] = ()
    """Columns that say once more where: these are no attributes."""

    copied_coordinates: bool = False
    """Whether columns that look like coordinates say so, too."""

    copied_names: tuple[str, ...] = ()
    """Columns of ours: others that usually mean the same say it once more."""

    one_row: bool = False
    """Whether a row is a whole trajectory, so that traj_id may be missing: rows are numbered then."""

    content: str = "where and when somebody was"
    """What such copies tell."""


TRIP_COORDINATES = ("origin_x", "origin_y", "destination_x", "destination_y")
"""Where the ends of a trip are: instead of their names, or beside them."""

LOCATION_COORDINATES = ("location_x", "location_y")
"""Where the location of a visit is, beside its name."""

INPUTS: Mapping[str, InputColumns] = {
    "visits": InputColumns(
        needed=("traj_id", "t", "location"),
        known=("traj_id", "t", "location", *LOCATION_COORDINATES, "user_id"),
        rule="Visits need traj_id, t and location",
        place=("location",),
        place_too=LOCATION_COORDINATES,
        mapped=("location",),
    ),
    "points": InputColumns(
        needed=("traj_id", "t", "x", "y"),
        known=("traj_id", "t", "x", "y", "geometry", "user_id"),
        rule="Points need traj_id, t, x and y (or lon and lat, or geometry)",
        mapped=("x", "y", "geometry"),
        copied_coordinates=True,
        content="where a point is",
    ),
    "routes": InputColumns(
        needed=("traj_id", "seq", "road"),
        known=("traj_id", "seq", "road", "t", "user_id"),
        rule="Routes need traj_id, seq and road",
        place=("seq", "road"),
        slice=("t_start", "t_end"),
        mapped=("road",),
        copies=("from_node", "to_node", "t_start", "t_end"),  # what a published table says of a road or its trajectory
    ),
    "stops": InputColumns(
        needed=("traj_id", "t", "place"),  # or seq in place of t
        known=("traj_id", "seq", "t", "place", "t_end", "user_id"),
        rule="Stops need traj_id, place, and seq or t",
        place=("place",),
        place_too=("seq", "t_end"),
        mapped=("place",),
        in_order=True,
        copied_coordinates=True,
    ),
    "trips": InputColumns(
        needed=("origin", "destination", "t_start", "t_end"),
        known=("traj_id", "origin", "destination", "t_start", "t_end", *TRIP_COORDINATES, "user_id"),
        rule="Trips need origin, destination, t_start and t_end, one row per trip",
        place=("origin", "destination", "t_start", "t_end"),
        place_too=TRIP_COORDINATES,
        mapped=("origin", "destination", *TRIP_COORDINATES),
        copies=("t",),
        copied_coordinates=True,
        copied_names=("origin", "destination", "t_start", "t_end", "duration"),
        one_row=True,
        content="where and when a trip began and ended",
    ),
}
"""The columns of every kind of raw data."""

_MAY_BE_CUT = ("traj_id", "user_id")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    Parameters
    ----------
    columns : mapping
        From our names (``traj_id``, ``t``, ``user_id``; ``location`` of visits; ``x``, ``y`` or ``geometry`` of points;
        ``seq`` and ``road`` of routes; ``seq``, ``place`` and ``t_end`` of stops) to the names in the file.  For
        ``traj_id`` and ``user_id`` a part of the text can be taken: ``tid[:-2]``.
    on_duplicate_time : {"first", "last"} or None
        Which of several rows of one trajectory at one time to keep, in the order of the file; None refuses them.
    attributes : tuple of str or None
        The other columns to take along as attributes; None takes all of them.
    crs : str or None
        The coordinate system of points: "EPSG:4326", another EPSG code, "degrees", or "planar" for metres.
    frame : Frame or None
        How degrees become metres, where that is known already: a piece of a file must be read like the whole.
    owners : {"each-trajectory", "elsewhere", "not-asked"} or None
        Who is behind a trajectory where no column says it.  None refuses the file.  "each-trajectory" is the
        declaration of the publisher that each is another person; "elsewhere" means that another table will say it;
        "not-asked" is for whoever counts no people.
    similar_ids : {"different", "same"} or None
        What people are whose ids differ only by case, white space, leading zeros or letter forms; None refuses them.
    piece : bool
        Whether the file is a piece of a table, of which only what is true of every row can be judged.

    Examples
    --------
    >>> ReadOptions(columns={"traj_id": "card", "t": "time"}).on_duplicate_time is None
    True
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    on_duplicate_time: Literal["first", "last"] | None = None
    attributes: tuple[str, ...] | None = None
    crs: str | None = None
    frame: Frame | None = None
    owners: Literal["each-trajectory", "elsewhere", "not-asked"] | None = None
    similar_ids: SimilarIds | None = None
    piece: bool = False

    def __post_init__(self) -> None:
        columns = {ours: normal_text(theirs) for ours, theirs in self.columns.items()}
        object.__setattr__(self, "columns", MappingProxyType(columns))
        if self.owners is not None:
            check_choice("read", "owners", self.owners, (EACH_TRAJECTORY, "elsewhere", "not-asked"))
        if self.similar_ids is not None:
            check_choice("read", "similar_ids", self.similar_ids, ("different", "same"))
        if self.on_duplicate_time is not None:
            check_choice("read", "on_duplicate_time", self.on_duplicate_time, ("first", "last"))
        if self.attributes is not None:
            object.__setattr__(self, "attributes", tuple(normal_text(name) for name in self.attributes))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Positions of the columns in the file.

    `place` has the key location, or x and y, or one of geometry, latlon and lonlat, or seq and road (with t_start and
    t_end where no column t says when), or place with seq and t_end as far as they are there.  `t` is None where routes
    or stops have no times.  `parts` has what to take of the text of ``traj_id`` and ``user_id``, where it is not all.
    `suspects` are the names of columns that look like a person where neither ``user_id`` nor ``traj_id`` does.
    """

    traj_id: int
    """Behind the columns of the file where rows are `numbered`."""
    t: int | None
    place: Mapping[str, int]
    user_id: int | None
    attributes: Mapping[str, int]
    parts: Mapping[str, slice] = field(default_factory=dict)
    suspects: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    numbered: bool = False

    @property
    def positions(self) -> list[int]:
        """Every column that is needed."""
        maybe = [position for position in (self.t, self.user_id) if position is not None]
        own = [] if self.numbered else [self.traj_id]
        return [*own, *maybe, *self.place.values(), *self.attributes.values()]


def choose_columns(table: Table, options: ReadOptions, kind: Kind = "visits") -> Columns:
    """Find the columns in a table, or raise an InputError that suggests what to type."""
    position = {name: i for i, name in enumerate(table.names) if name}
    # What --columns says is checked first: a misspelt name there explains everything that would be missing below.
    _check_mapping(table, options, position, kind)
    place = place_columns(table, options, kind) or {}
    expected = INPUTS[kind]
    # Of kinds that say where by several columns, each of them may be missing by itself and is named so.
    whole = ("traj_id", "t", "user_id", *(expected.place if len(expected.place) > 1 or "seq" in expected.known else ()))
    named = {ours: split_name(options.columns.get(ours, ours), position)[0] for ours in whole}
    ordered = expected.in_order and options.columns.get("seq", "seq") in position
    # A column seq gives stops an order, and then they need no times.
    needed = [ours for ours in expected.needed if not (ordered and ours == "t")]
    missing = [ours for ours in needed if (named[ours] not in position if ours in named else not place)]
    if missing:
        raise columns_error(table, _missing(table, missing, list(position), kind))
    # A trip has its own two times among its places.
    own = ("traj_id",) if expected.one_row else ("traj_id", "t")
    used = {ours: position[named[ours]] for ours in own if named[ours] in position} | place
    _refuse_twice(table, used)
    user_id = position.get(named["user_id"])
    free = [name for name, i in position.items() if i not in used.values() and i != user_id]
    # Who is behind a trajectory must be said, and before attributes are read: the candidates are shown.
    _check_owners(table, options, named, user_id, [name for name in (named["traj_id"], *free) if name in position])
    taken = {table.names[i] for i in used.values()} | ({named["user_id"]} & set(position))
    if options.attributes is None:
        attributes, notes = _all_others(table, options, taken, place.values(), kind)
    else:
        attributes = _listed_only(table, position, taken, options.attributes, kind)
        notes = ()
    # A declaration is repeated in the notes, with the columns that contradict it.
    if user_id is None and options.owners == EACH_TRAJECTORY:
        notes += (_declaration(person_columns(free)),)
    who = named["traj_id"] if user_id is None else named["user_id"]
    cuts = {ours: split_name(options.columns.get(ours, ours), position)[1] for ours in _MAY_BE_CUT}
    numbered = expected.one_row and named["traj_id"] not in position
    return Columns(
        traj_id=len(table.names) if numbered else position[named["traj_id"]],
        t=None if expected.one_row else position.get(named["t"]),
        place=place,
        user_id=user_id,
        attributes=attributes,
        parts={ours: part for ours, part in cuts.items() if part is not None},
        # Suspects are columns that look like a person beside a traj_id that does not: they may be what is really meant.
        suspects=() if expected.one_row or looks_like_person(who) else person_columns(free),
        notes=notes,
        numbered=numbered,
    )


def place_columns(table: Table, options: ReadOptions, kind: Kind) -> dict[str, int] | None:
    """Return the columns that say where, or None where the table has none for this kind."""
    position = {name: i for i, name in enumerate(table.names) if name}
    expected = INPUTS[kind]
    if expected.place:
        # Kinds whose rows name a place: all names of it must be there, and what else may be said is taken along.
        column_of = {ours: options.columns.get(ours, ours) for ours in (*expected.place, *expected.place_too)}
        columns = {ours: position[name] for ours, name in column_of.items() if name in position}
        if options.columns.get("t", "t") not in position and _all(expected.slice, position):
            columns |= {ours: position[ours] for ours in expected.slice}
        ordered = not expected.in_order or "seq" in columns or options.columns.get("t", "t") in position
        return columns if ordered and all(ours in columns for ours in expected.place) else None
    # Points, from what was said to what is guessed: --columns, the geometry of the file, x and y, then usual names.
    mapped = options.columns
    if "geometry" in mapped:
        if "x" in mapped or "y" in mapped:
            raise InputError("--columns: give either geometry or x and y, not both.")
        name = mapped["geometry"]
        return {looks_like(name, "latlon", "lonlat") or "geometry": position[name]} if name in position else None
    if "x" in mapped or "y" in mapped:
        names = [mapped.get(ours, ours) for ours in ("x", "y")]
        return {ours: position[name] for ours, name in zip("xy", names, strict=True)} if _all(names, position) else None
    if table.geometry is not None:
        return {"geometry": position[table.geometry]}
    if _all("xy", position):
        return {"x": position["x"], "y": position["y"]}
    # Of two columns that say the same, the first in the file counts: the later ones are overwritten.
    known = {what: name for name in reversed(position) if (what := looks_like(name, *PLACE_NAMES, whole=True))}
    if "lon" in known and "lat" in known:
        return {"x": position[known["lon"]], "y": position[known["lat"]]}
    one = [what for what in ("geometry", "latlon", "lonlat") if what in known]
    return {one[0]: position[known[one[0]]]} if one else None


def looks_like(name: str, *kinds: str, whole: bool = False) -> str | None:
    """Return which of these the name of a column says that it holds: lon, lat, geometry, latlon or lonlat.

    Examples
    --------
    >>> looks_like("Start Station Longitude", "lon"), looks_like("x", "lon"), looks_like("lng", "lon", whole=True)
    ('lon', None, 'lon')
    """
    last = bare_name(re.split(r"[\W_]+", name.strip())[-1])
    for kind in kinds:
        if bare_name(name) in PLACE_NAMES[kind] or (not whole and last in PLACE_NAMES[kind]):
            return kind
    return None


def suggested(candidates: Iterable[str], kind: Kind) -> str:
    """Return a --columns option to try for a file with these columns."""
    names = list(candidates)
    here = {*names, *(("t",) if INPUTS[kind].in_order and "seq" in names else ())}
    missing = [ours for ours in INPUTS[kind].needed if ours not in here]
    return ",".join(f"{ours}={_near(ours, names, kind) or 'NAME'}" for ours in missing)


def _all(names: Iterable[str], position: Mapping[str, int]) -> bool:
    return all(name in position for name in names)


def _check_mapping(table: Table, options: ReadOptions, position: Mapping[str, int], kind: Kind) -> None:
    known = INPUTS[kind].known
    for ours, theirs in options.columns.items():
        if ours not in known:
            raise InputError(
                f"--columns: '{ours}' is not a column of {kind}; give {', '.join(known)} as OURS=NAME_IN_THE_FILE."
                f"{closest(ours, list(known))}"
            )
        name, part = split_name(theirs, position)
        if part is not None and ours not in _MAY_BE_CUT:
            raise InputError(
                f"--columns: {ours} must be a whole column; only {' and '.join(_MAY_BE_CUT)} can be a part such as "
                "NAME[:-2]."
            )
        if name not in position:
            raise columns_error(
                table,
                f"--columns says that {ours} is the column '{name}', but the file has {shown_names(table)}."
                f"{near_name(table, name)}",
            )


def _refuse_twice(table: Table, used: Mapping[str, int]) -> None:
    # One column may say both which trajectory and who, so user_id is not in `used`.
    positions = list(used.values())
    twice = sorted({table.names[i] for i in positions if positions.count(i) > 1})
    if twice:
        raise table.wrong(f"--columns uses the column {listed(twice)} for two things; give each its own column.")


def _missing(table: Table, missing: list[str], names: list[str], kind: Kind) -> str:
    word = "column is" if len(missing) == 1 else "columns are"
    near = {ours: _near(ours, names, kind) for ours in missing}
    # Who the person is will be asked next; one answer to both questions is enough.
    people = () if "user_id" in names else person_columns(names)
    suggestions = [*near.items(), *(("user_id", name) for name in people[:1])]
    suggestion = ",".join(f"{ours}={name or 'NAME'}" for ours, name in suggestions)
    return (
        f"the {word} missing: {', '.join(missing)}; the file has {shown_names(table)}. {INPUTS[kind].rule}; if they "
        f"have other names, say so, for example --columns {suggestion}"
    )


def _near(ours: str, names: list[str], kind: Kind) -> str | None:
    """Return the column that probably is meant, or None."""
    others = [name for name in names if name not in INPUTS[kind].known]
    # The word itself, then what people usually call it, then coordinates, then anything spelt alike.
    bare = {bare_name(name): name for name in others}
    for word in (bare_name(ours), *ALSO_CALLED[ours]):
        if word in bare:
            return bare[word]
    if ours in ("x", "y"):
        return next((name for name in others if looks_like(name, "lon" if ours == "x" else "lat")), None)
    near = get_close_matches(ours, others, n=1, cutoff=0.7)
    return near[0] if near else None


def _all_others(
    table: Table, options: ReadOptions, taken: set[str], place: Iterable[int], kind: Kind
) -> tuple[dict[str, int], tuple[str, ...]]:
    notes = []
    others = {name: i for i, name in enumerate(table.names) if name and name not in taken and name not in table.aside}
    # A column of the file that has one of our names, while --columns gives that name to another one.
    hidden = [name for name in others if name in options.columns]
    if hidden:
        notes.append(f"Column {listed(hidden)} was left out: --columns names another column for it.")
    # A second copy of the place must not leave as an attribute.
    copies = [name for name in others if name not in hidden and _says_where(name, kind)]
    if copies:
        names = listed(table.names[i] for i in place)
        notes.append(f"Column {listed(copies)} was left out: {INPUTS[kind].content}, is told by {names}.")
    unnamed = [str(i + 1) for i, name in enumerate(table.names) if not name]
    if unnamed:
        notes.append(f"Column number {', '.join(unnamed)} has no name and was left out.")
    attributes = {name: i for name, i in others.items() if name not in hidden and name not in copies}
    return attributes, tuple(notes)


def _says_where(name: str, kind: Kind) -> bool:
    expected = INPUTS[kind]
    if expected.copied_coordinates and (name in ("x", "y") or looks_like(name, *PLACE_NAMES) is not None):
        return True
    also = {word for ours in expected.copied_names for word in ALSO_CALLED[ours]}
    return name in expected.copies or bare_name(name) in also


def _declaration(unused: tuple[str, ...]) -> str:
    note = "Each trajectory was declared to be another person."
    if not unused:
        return note
    verb = "looks" if len(unused) == 1 else "look"
    return f"{note} Column {listed(unused)} {verb} like a person and was not used for that."


def _check_owners(
    table: Table, options: ReadOptions, named: Mapping[str, str], user_id: int | None, candidates: list[str]
) -> None:
    """Refuse a table of which nobody said who is behind a trajectory, or for which both was said."""
    if user_id is not None and options.owners == EACH_TRAJECTORY:
        raise table.wrong(
            f"column {listed([named['user_id']])} says who is behind a trajectory, and --each-trajectory-is-a-person "
            "says that nobody has two; give one of them: leave the declaration out, or rename the column."
        )
    if user_id is not None or options.owners is not None:
        return
    likely = person_columns(candidates) or tuple(name for name in table.aside if name in ("folder", "file"))
    if len(likely) == 1:
        look = f"column {listed(likely)} looks like a person"
    elif likely:
        look = f"columns {listed(likely)} look like a person"
    else:
        look = "no column looks like one"
    raise table.wrong(
        "nobody said who the person behind a trajectory is: give the column as --columns "
        f"user_id={likely[0] if likely else 'NAME'} ({look}) or a table with --owners FILE, or declare "
        '--each-trajectory-is-a-person (in a recipe and in Python: owners = "each-trajectory").'
    )


def lone_rows_error(shown: str, suspects: tuple[str, ...]) -> InputError:
    """Return the error for a table in which every trajectory has one row, although columns look like a person."""
    verb = "looks" if len(suspects) == 1 else "look"
    return InputError(
        f"{shown}: every trajectory has one row only, so that traj_id seems to number rows, and column "
        f"{listed(suspects)} {verb} like a person: say who it is with --columns user_id={suspects[0]}, or rename the "
        "column if it names nobody."
    )


def _listed_only(
    table: Table, position: Mapping[str, int], taken: set[str], names: tuple[str, ...], kind: Kind
) -> dict[str, int]:
    for name in names:
        if name in taken or name in INPUTS[kind].known:
            raise table.wrong(f"column '{name}' cannot be an attribute: the column or its name is used otherwise.")
        if name not in position:
            others = [other for other in position if other not in taken]
            raise columns_error(
                table,
                f"there is no column '{name}' to take as an attribute; the file has {shown_names(table)}."
                f"{near_name(table, name, others)}",
            )
    return {name: position[name] for name in names}
