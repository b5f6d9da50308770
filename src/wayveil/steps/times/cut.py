"""Cut: visits of a long time become one trajectory per period."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Step, Visits, duration_units, parameter
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row

__all__ = ["Cut"]


@dataclass(frozen=True, kw_only=True)
class Cut(Step):
    """Cut every trajectory where a new period begins, for example into days.

    A month of visits is unique for almost everybody, so that almost all of it would have to be suppressed.  A day is
    shared by many.

    Parameters
    ----------
    period : str
        A duration such as "1d"; for times that are plain integers a positive integer, in their unit.

    Notes
    -----
    Periods start at 0, as buckets do.  The parts keep the owner and the attributes, so that people are still counted.
    O(n) time and memory.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 4), ("c", 11)], [("d", 3)]])
    >>> parts, notes = Cut(period=10).run(data)
    >>> [parts.record(i) for i in range(len(parts))]
    [[('a', 1), ('b', 4)], [('c', 11)], [('d', 3)]]
    >>> notes
    ('2 trajectories were cut into 3 of at most 10 each.',)
    """

    period: str = parameter(kind="duration", help="length of a period")

    name: ClassVar[str] = "cut"
    summary: ClassVar[str] = "cut visits into one trajectory per period"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the parts, and a note that counts them."""
        parts, notes, _ = self.run_with_origin(data)
        return parts, notes

    def run_with_origin(self, data: Visits) -> tuple[Visits, tuple[str, ...], IntArray]:
        """Return the parts, notes, and for every part the trajectory that it comes from."""
        width = duration_units(self.name, "period", self.period, data.time_format)
        if data.n_visits and int(data.t.min()) - width < np.iinfo(np.int64).min:
            raise InputError("cut: a time is too close to the smallest 64-bit integer; shift the times.")
        trajectory = trajectory_of_row(data.offsets)
        period = data.t // width
        begins = np.ones(data.n_visits, np.bool_)
        begins[1:] = (trajectory[1:] != trajectory[:-1]) | (period[1:] != period[:-1])
        first = np.flatnonzero(begins)
        source = trajectory[first]
        parts = replace(
            data,
            offsets=offsets_of(np.diff(np.append(first, data.n_visits))),
            owner=data.owner[source],
            attributes={name: column.take(source) for name, column in data.attributes.items()},
        )
        before = int(np.count_nonzero(np.diff(data.offsets)))
        many = "1 trajectory was" if before == 1 else f"{before:,} trajectories were"
        return parts, (f"{many} cut into {len(parts):,} of at most {self.period} each.",), source
