"""Which column of a file is what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from wayveil.errors import InputError, check_choice, closest
from wayveil.io.table import Table
from wayveil.io.words import listed

__all__ = ["Columns", "ReadOptions", "choose_columns"]

_NEEDED = ("traj_id", "t", "location")
_KNOWN = (*_NEEDED, "user_id")

# Names under which people keep what we call traj_id, t, ...; only used to suggest a --columns option.
_ALSO_CALLED = {
    "traj_id": ("traj", "trajectory", "trajectoryid", "trajid", "tid", "trip", "tripid", "card", "cardid", "id"),
    "t": ("time", "timestamp", "datetime", "ts", "when", "date", "hour", "epoch"),
    "location": ("loc", "place", "station", "stop", "cell", "poi", "site", "zone", "venue", "locationid", "placeid"),
    "user_id": ("user", "userid", "uid", "person", "personid", "owner", "ownerid"),
}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    Parameters
    ----------
    columns : mapping
        From our names (``traj_id``, ``t``, ``location``, ``user_id``) to the names in the file.
    on_duplicate_time : {"first", "last"} or None
        Which of several visits of one trajectory at one time to keep, in the order of the file; None refuses them.
    attributes : tuple of str or None
        The other columns to take along as attributes; None takes all of them.

    Examples
    --------
    >>> ReadOptions(columns={"traj_id": "card", "t": "time"}).on_duplicate_time is None
    True
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    on_duplicate_time: Literal["first", "last"] | None = None
    attributes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        if self.on_duplicate_time is not None:
            check_choice("read", "on_duplicate_time", self.on_duplicate_time, ("first", "last"))
        if self.attributes is not None:
            object.__setattr__(self, "attributes", tuple(self.attributes))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Positions of the columns in the file."""

    traj_id: int
    t: int
    location: int
    user_id: int | None
    attributes: Mapping[str, int]
    notes: tuple[str, ...] = ()


def choose_columns(table: Table, options: ReadOptions) -> Columns:
    """Find the columns of visits in a table, or raise an InputError that suggests what to type."""
    position = {name: i for i, name in enumerate(table.names) if name}
    _check_mapping(table, options, position)
    name_of = {ours: options.columns.get(ours, ours) for ours in _KNOWN}
    missing = [ours for ours in _NEEDED if name_of[ours] not in position]
    if missing:
        raise table.wrong(_missing(missing, list(position)))
    user_id = position.get(name_of["user_id"])
    taken = {name_of[ours] for ours in _KNOWN if name_of[ours] in position}
    if options.attributes is None:
        attributes, notes = _all_others(table, position, taken)
    else:
        attributes, notes = _listed_only(table, position, taken, options.attributes), ()
    if user_id is None:
        notes += (_assumed_owners([name for name in position if name not in taken]),)
    return Columns(
        traj_id=position[name_of["traj_id"]],
        t=position[name_of["t"]],
        location=position[name_of["location"]],
        user_id=user_id,
        attributes=attributes,
        notes=notes,
    )


def _check_mapping(table: Table, options: ReadOptions, position: Mapping[str, int]) -> None:
    for ours, theirs in options.columns.items():
        if ours not in _KNOWN:
            raise InputError(
                f"--columns: '{ours}' is not a column of visits; give {', '.join(_KNOWN)} as OURS=NAME_IN_THE_FILE."
                f"{closest(ours, list(_KNOWN))}"
            )
        if theirs not in position:
            raise table.wrong(
                f"--columns says that {ours} is the column '{theirs}', but the file has the columns "
                f"{listed(position)}.{closest(theirs, list(position))}"
            )
    # One column may say both which trajectory and who: then each person has one trajectory.
    used = [theirs for ours, theirs in options.columns.items() if ours != "user_id"]
    used += [ours for ours in _NEEDED if ours not in options.columns and ours in position]
    twice = sorted({name for name in used if used.count(name) > 1})
    if twice:
        raise table.wrong(f"--columns uses the column {listed(twice)} for two things; give each its own column.")


def _missing(missing: list[str], found: list[str]) -> str:
    word = "column is" if len(missing) == 1 else "columns are"
    pairs = [(ours, _near(ours, found)) for ours in missing]
    suggestion = ",".join(f"{ours}={near or 'NAME'}" for ours, near in pairs)
    return (
        f"the {word} missing: {', '.join(missing)}; the file has {listed(found)}. Visits need traj_id, t and "
        f"location; if they have other names, say so, for example --columns {suggestion}"
    )


def _near(ours: str, found: list[str]) -> str | None:
    """Return the column that probably is meant, or None."""
    bare = {_bare(name): name for name in found if name not in _KNOWN}
    for word in (_bare(ours), *_ALSO_CALLED[ours]):
        if word in bare:
            return bare[word]
    near = get_close_matches(ours, [name for name in found if name not in _KNOWN], n=1, cutoff=0.7)
    return near[0] if near else None


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _all_others(table: Table, position: Mapping[str, int], taken: set[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    attributes = {name: i for name, i in position.items() if name not in taken and name not in _KNOWN}
    notes = []
    hidden = [name for name in position if name in _KNOWN and name not in taken]
    if hidden:
        notes.append(f"Column {listed(hidden)} was left out: --columns names another column for it.")
    unnamed = [str(i + 1) for i, name in enumerate(table.names) if not name]
    if unnamed:
        notes.append(f"Column number {', '.join(unnamed)} has no name and was left out.")
    if attributes:
        notes.append(f"Taken as attributes: {listed(attributes)}.")
    return attributes, tuple(notes)


def _assumed_owners(others: list[str]) -> str:
    note = "No user_id column: each trajectory is taken to be a different person."
    near = [name for name in others if _bare(name) in _ALSO_CALLED["user_id"]]
    return f"{note} If column '{near[0]}' says who it is, give --columns user_id={near[0]}" if near else note


def _listed_only(table: Table, position: Mapping[str, int], taken: set[str], wanted: tuple[str, ...]) -> dict[str, int]:
    for name in wanted:
        if name in taken or name in _KNOWN:
            raise table.wrong(f"column '{name}' cannot be an attribute: the column or its name is used otherwise.")
        if name not in position:
            others = [other for other in position if other not in taken]
            raise table.wrong(
                f"there is no column '{name}' to take as an attribute; the file has {listed(position)}."
                f"{closest(name, others)}"
            )
    return {name: position[name] for name in wanted}
