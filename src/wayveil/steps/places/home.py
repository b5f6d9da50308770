"""Home: the place where each person lives is taken out of their own visits, or becomes a zone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Step, Trips, Visits, check_parameters, duration_units, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.model.data.trips import DESTINATION, TripEnds
from wayveil.steps.zones.cells import cell_numbers, name_boxes

__all__ = ["Home"]

_HOUR_S = 3600
_DAY_S = 86_400
_HOME = "home"


class _Pairs(NamedTuple):
    """Each pair of a person and a place that they visit, sorted by person; `of_row` is the pair of each row."""

    of_row: IntArray
    person: IntArray
    place: IntArray
    visits: IntArray
    night: FloatArray
    work: FloatArray


@dataclass(frozen=True, kw_only=True)
class Home(Step):
    """Leave out each person's visits to their own home, or replace it by a square or by the word "home".

    A home is a place of one household: hardly any k people share it, and whoever reads the address knows the name.
    Other people's visits to the same place stay as they are.

    Parameters
    ----------
    do : {"drop", "zone"}
        Leave the visits out, or keep them at a coarser place.
    cell : float, > 0, or "home"
        With ``do="zone"``: side of the square in metres; "home" calls every home so and says nowhere where it is.
    workplaces : {"no", "yes"}
        Whether the person's workplace is treated in the same way.
    night_from, night_to, work_from, work_to : int, 0 to 23 (from), 0 to 24 (to)
        Hours of the night and of work, the second one not included.  Where the first is the larger one, midnight is
        between them.
    stay : str
        A duration: a person is taken to stay at a place until their next visit, but for no longer than this.

    Notes
    -----
    The home of a person is the place where they spend most time at night, in all their trajectories; of places with as
    much, and where no night is known, the one visited most, then the one whose name comes first.  The workplace is the
    place, other than home, with most time in working hours and at night together; so a night shift is found, too, even
    where it is taken for the home and the home for the workplace.  Everybody with a visit has a home in this sense.  A
    trip has no stay where it begins; where it ends, the stay lasts until the person's next trip.

    Squares lie at multiples of `cell` in the frame of the places and have the names that `zones` gives them.  With
    ``cell="home"`` all places lose their coordinates, because "home" has none.  Hours are those of the clock that the
    times are written in.  Plain integers have no hours: then the most visited place counts.  O(n log n) time.

    Guarantee
    ---------
    None: which place is the home is a guess, and what is left may still tell roughly where it is.

    Examples
    --------
    >>> hour = 3600
    >>> data = Visits.from_records([[("flat", 0), ("work", 9 * hour), ("bar", 18 * hour), ("flat", 21 * hour)]],
    ...                            time_format="epoch", owner=[0])
    >>> Home().run(data)[0].record(0)
    [('work', 32400), ('bar', 64800)]
    >>> rest, notes = Home(do="zone", cell="home").run(data)
    >>> [place for place, _ in rest.record(0)]
    ['home', 'work', 'bar', 'home']
    >>> notes
    ('Homes of 1 person became zones: 2 of 4 visits.', 'Homes were found by nights for 1 person, by visits for 0.')
    """

    do: str = parameter(
        kind="choice", choices=("drop", "zone"), default="drop", help="leave visits at home out, or make a zone of it"
    )
    cell: float | str = parameter(
        kind="number", low=0, choices=(_HOME,), default=500.0, help="with do=zone: side of the square in metres"
    )
    workplaces: str = parameter(
        kind="choice", choices=("no", "yes"), default="no", help="treat the workplace of each person in the same way"
    )
    night_from: int = parameter(kind="int", low=0, high=23, default=22, help="hour at which nights begin")
    night_to: int = parameter(kind="int", low=0, high=24, default=6, help="hour at which nights end")
    work_from: int = parameter(kind="int", low=0, high=23, default=9, help="hour from which people are at work")
    work_to: int = parameter(kind="int", low=0, high=24, default=17, help="hour until which people are at work")
    stay: str = parameter(kind="duration", default="12h", help="longest stay where the next visit comes later")

    name: ClassVar[str] = "home"
    summary: ClassVar[str] = "leave out people's own homes (and workplaces), or turn them into zones"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Any], ...]] = (Trips,)

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.cell == 0:
            raise ParameterError("home: cell must be greater than 0, got 0. Cells without a size hold no places.")
        for what, begin, end in (("night", self.night_from, self.night_to), ("work", self.work_from, self.work_to)):
            if begin % 24 == end % 24:
                raise ParameterError(f"home: {what}_from and {what}_to must differ, got {begin} and {end}.")

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the data without these places, and notes that count people and rows."""
        if self.do == "zone" and self.cell != _HOME and data.n_rows and data.place_x is None:
            raise InputError(
                "home: it is not known where the places are; give a table of places with coordinates (--places), or "
                "choose cell=home, which calls every home so, or do=drop."
            )
        pairs = self._pairs(data)
        private = np.zeros(len(pairs.person), np.bool_)
        # A home is where a person is longest at night; who never is anywhere at night by the data has the place of most
        # visits instead. A workplace is the place, of those that are left, with most time at night and in working hours
        # together: who works at night works, too.
        homes = _best_of_people(pairs, pairs.night, ~private)
        private[homes] = True
        works = homes[:0]
        if self.workplaces == "yes":
            works = _best_of_people(pairs, pairs.night + pairs.work, ~private)
            private[works] = True
        rows = private[pairs.of_row]
        rest = data.where(~rows) if self.do == "drop" else self._moved(data, rows)
        return rest, self._notes(data, pairs, homes, works, rows)

    def _pairs(self, data: Visits) -> _Pairs:
        """Return who is where, how often, and how long at night and in working hours."""
        names, code = np.unique(np.array(data.place_names(), dtype=np.str_), return_inverse=True)
        place = code.reshape(-1)[data.location].astype(np.int64)
        person = data.owner[trajectory_of_row(data.offsets)].astype(np.int64)
        both, of_row, visits = np.unique(person * max(len(names), 1) + place, return_inverse=True, return_counts=True)
        night, work = self._presence(data, person)
        return _Pairs(
            of_row=of_row.reshape(-1),
            person=both // max(len(names), 1),
            place=both % max(len(names), 1),
            visits=visits,
            night=np.asarray(np.bincount(of_row.reshape(-1), night, len(both)), np.float64),
            work=np.asarray(np.bincount(of_row.reshape(-1), work, len(both)), np.float64),
        )

    def _presence(self, data: Visits, person: IntArray) -> tuple[IntArray, IntArray]:
        """Return how long the stay of each row lasts at night and in working hours, in units of time.

        The rows of a person stand in the order of time, whichever trajectory they are in.  A stay goes on to the next
        row of the person, or for `stay` where that is later or where there is none.
        """
        nothing = np.zeros(data.n_rows, np.int64)
        unit = seconds_per_unit(data.time_format)
        if unit is None or not data.n_rows:
            return nothing, nothing
        second = round(1 / unit)
        longest = duration_units(self.name, "stay", self.stay, data.time_format)
        if max(abs(int(data.t.min())), abs(int(data.t.max()))) + longest > np.iinfo(np.int64).max // 4:
            raise InputError("home: a time is too far from 1970 to reckon with; shift the times.")
        # By person and time over all trajectories: the stay after the last visit of a day goes on to the first of the
        # next.
        order = np.lexsort((data.t, person))
        t = data.t[order]
        lasts = np.full(len(t), longest)
        same = person[order][1:] == person[order][:-1]
        lasts[:-1][same] = np.minimum(np.diff(t)[same], longest)
        if isinstance(data, Trips):
            lasts[~_arrives(data)[order]] = 0  # a trip is on its way from where it began
        # Time at night within [t, t + lasts] as a difference of two running totals since 1970: no loop over days.
        stays = []
        for begin, end in ((self.night_from, self.night_to), (self.work_from, self.work_to)):
            inside = np.empty(len(t), np.int64)
            inside[order] = _time_inside(t + lasts, begin, end, second) - _time_inside(t, begin, end, second)
            stays.append(inside)
        return stays[0], stays[1]

    def _moved(self, data: Visits, rows: BoolArray) -> Visits:
        """Return the data with other places in these rows."""
        old, code = np.unique(np.array(data.place_names(), dtype=np.str_), return_inverse=True)
        code = code.reshape(-1)
        names: list[str] = old.tolist()
        place = code[data.location].astype(np.int64)
        position: tuple[FloatArray, FloatArray] | None = None
        if self.cell == _HOME:
            zone_names: tuple[str, ...] = (_HOME,)
            zone = np.zeros(len(data.location), np.int64)
        elif data.place_x is None or data.place_y is None:
            return data  # there are no rows
        else:
            side = float(self.cell)
            cells = cell_numbers(data.place_x, data.place_y, side, step=self.name)
            squares, square = np.unique(np.concatenate([cells, cells + 1], axis=1), axis=0, return_inverse=True)
            zone_names = name_boxes(squares, data.place_frame, side)
            zone = square.reshape(-1)[data.location]
            at = np.zeros((len(names), 2))
            at[code] = np.stack([data.place_x, data.place_y], axis=1)
            # Zones come behind the places, at the centre of their square: the mean of the homes in it would tell about
            # them.
            at = np.concatenate([at, (squares[:, :2] + 0.5) * side])
            position = at[:, 0], at[:, 1]
        place[rows] = len(names) + zone[rows]
        return _with_places(data, [*names, *zone_names], place, position)

    def _notes(self, data: Visits, pairs: _Pairs, homes: IntArray, works: IntArray, rows: BoolArray) -> tuple[str, ...]:
        what = "Homes and workplaces" if self.workplaces == "yes" else "Homes"
        became = "were left out" if self.do == "drop" else "became zones"
        touched = int(np.count_nonzero(rows))
        by_night = int(np.count_nonzero(pairs.night[homes] > 0))
        notes = [
            f"{what} of {_people(len(homes))} {became}: {touched:,} of {data.n_rows:,} {data.row_word}.",
            f"Homes were found by nights for {_people(by_night)}, by visits for {len(homes) - by_night:,}.",
        ]
        if self.workplaces == "yes":
            notes.append(f"A workplace was found for {_people(len(works))}.")
        lost = len(homes) - len(np.unique(data.owner[trajectory_of_row(data.offsets)][~rows]))
        if self.do == "drop" and lost:
            notes.append(f"Nothing is left of {_people(lost)}, who visited no other place.")
        if self.do == "zone" and self.cell == _HOME and data.place_x is not None:
            notes.append('Places lost their coordinates, because "home" has none.')
        if data.owners == "declared":
            notes.append(
                "Each trajectory counts as another person, so homes were looked for within each trajectory only; give "
                "a column user_id if somebody has several."
            )
        return tuple(notes)


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _arrives(data: Trips) -> BoolArray:
    """Return which ends are destinations."""
    return np.array([name.startswith(DESTINATION) for name in data.locations], np.bool_)[data.location]


def _time_inside(t: IntArray, begin: int, end: int, second: int) -> IntArray:
    """Return how much time up to `t` is between these hours of a day; differences of two are what counts."""
    if begin > end:
        between: IntArray = t - _time_inside(t, end, begin, second)
        return between
    low = begin * _HOUR_S * second
    width = (end - begin) * _HOUR_S * second
    day, moment = np.divmod(t, _DAY_S * second)
    inside: IntArray = day * width + np.clip(moment - low, 0, width)
    return inside


def _best_of_people(pairs: _Pairs, time: FloatArray, among: BoolArray) -> IntArray:
    """Return the pair of each person with most time, then most visits, then the first name; of those `among` all."""
    at = np.flatnonzero(among)
    order = at[np.lexsort((pairs.place[at], -pairs.visits[at], -time[at], pairs.person[at]))]
    first: IntArray = order[np.unique(pairs.person[order], return_index=True)[1]]
    return first


def _with_places(
    data: Visits, names: list[str], place: IntArray, position: tuple[FloatArray, FloatArray] | None
) -> Visits:
    """Return the data with `place`, a code of `names`, in each row; names that are equal are one place."""
    labels, first, code = np.unique(np.array(names, dtype=np.str_), return_index=True, return_inverse=True)
    place = code.reshape(-1)[place]
    if isinstance(data, Trips):
        return _trips_with_places(
            data, tuple(labels.tolist()), place, None if position is None else (position[0][first], position[1][first])
        )
    used, location = np.unique(place, return_inverse=True)
    return replace(
        data,
        location=location.reshape(-1).astype(np.int32),
        locations=tuple(labels[used].tolist()),
        place_x=None if position is None else position[0][first][used],
        place_y=None if position is None else position[1][first][used],
        place_frame=None if position is None else data.place_frame,
    )


def _trips_with_places(
    data: Trips, names: tuple[str, ...], place: IntArray, position: tuple[FloatArray, FloatArray] | None
) -> Trips:
    arrives = _arrives(data)
    trip = trajectory_of_row(data.offsets)
    columns: dict[str, IntArray] = {}
    for end, t, role in (("origin", "t_start", ~arrives), ("destination", "t_end", arrives)):
        columns[end] = np.full(len(data), -1, np.int64)
        columns[end][trip[role]] = place[role]
        columns[t] = np.zeros(len(data), np.int64)
        columns[t][trip[role]] = data.t[role]
    return Trips.of_ends(
        TripEnds(places=names, **columns),
        owner=data.owner,
        attributes=data.attributes,
        time_format=data.time_format,
        owners=data.owners,
        positions=position,
        frame=data.place_frame,
    )
