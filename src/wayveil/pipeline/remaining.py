"""What is left of a file: counted from its own rows, through every step, to what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wayveil.model import Data, MethodResult
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["Remaining", "Stage", "count_published", "count_stage", "name_remedies", "stages_of_balance"]

_HALF = 0.5
_MOVING_TOGETHER = ("nwa", "w4m", "tga", "knode")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What there is after one step; `trips` are the trajectories of the input of which something is left.

    `trips` and `people` are None where nobody counted them, as in the file itself.  `note` says what else the step did
    to what is left, in a few words.
    """

    name: str
    rows: int
    row_word: str
    trips: int | None = None
    people: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Remaining:
    """The stages from the file to the publication, what to try where little is left, and how coarse what is left is.

    Examples
    --------
    >>> stages = (
    ...     Stage(name="file", rows=100, row_word="rows"),
    ...     Stage(name="read", rows=100, row_word="visits", trips=20, people=10),
    ...     Stage(name="bucket", rows=60, row_word="visits", trips=20, people=10),
    ...     Stage(name="kcl", rows=30, row_word="visits", trips=12, people=9),
    ... )
    >>> left = Remaining(stages=stages)
    >>> left.shares, left.worst
    ({'visits': 0.3, 'trips': 0.6, 'people': 0.9}, 'visits')
    >>> left.list_reasons()
    [('bucket', 0.4), ('kcl', 0.3)]
    """

    stages: tuple[Stage, ...] = ()
    remedies: tuple[str, ...] = ()
    sizes: str = ""
    synthetic: bool = False
    """Whether what is published was drawn from a model: then the stages end with the data that it learned from."""

    @property
    def shares(self) -> dict[str, float]:
        """What is left of rows, trips and people, as shares of the input.

        Rows are compared only where they stay the same kind of thing: a step that makes visits of points takes nothing
        by that.  Rows that a step adds do not make up for rows that another one took.
        """
        if len(self.stages) < 2:
            return {}
        # The product over stages of what each left, never more than what it got: a step that resamples makes rows, and
        # these must not hide that another one lost some.
        shares = {self.stages[-1].row_word: self._kept("rows")[-1]}
        for what in ("trips", "people"):
            factors = self._kept(what)
            if getattr(self.stages[-1], what) is not None:
                shares[what] = factors[-1]
        return shares

    @property
    def worst(self) -> str:
        """Of what least is left; "" where nothing was counted."""
        shares = self.shares
        return min(shares, key=lambda what: shares[what]) if shares else ""

    @property
    def below_half(self) -> bool:
        """Whether less than half is left of rows, trips or people."""
        return bool(self.shares) and self.shares[self.worst] < _HALF

    def list_reasons(self) -> list[tuple[str, float]]:
        """Return the two stages that took most of what least is left of, each with the share of the input it took."""
        if not self.worst:
            return []
        factors = self._kept(self.worst if self.worst in ("trips", "people") else "rows")
        names = [stage.name for stage in self.stages[1:]]
        # What a stage took is the difference of the products before and after it, so that all reasons add up to the
        # loss.
        took = [(name, round(factors[i] - factors[i + 1], 12)) for i, name in enumerate(names)]
        return sorted([one for one in took if one[1] > 0], key=lambda one: -one[1])[:2]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON can hold them."""
        return {
            "stages": [asdict(stage) for stage in self.stages],
            "shares": self.shares,
            "below_half": self.below_half,
            "remedies": list(self.remedies),
            "sizes": self.sizes,
        }

    def _kept(self, what: str) -> list[float]:
        factors = [1.0]
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            # Points that become visits are other things: their numbers cannot be compared.  "rows" of the file are what
            # readers turn into the first kind.
            comparable = what != "rows" or after.row_word == before.row_word or before.row_word == "rows"
            one = getattr(before, what)
            other = getattr(after, what)
            factor = min(1.0, other / one) if comparable and one and other is not None else 1.0
            # Rounded, so that 0.1 * 10 is 1 and not a hair less.
            factors.append(round(factors[-1] * factor, 12))
        return factors


def count_stage(name: str, data: Data, origin: IntArray) -> Stage:
    """Return what there is now; `origin` says which trajectory of the input each one comes from."""
    nonempty = data.nonempty
    return Stage(
        name=name,
        rows=data.n_rows,
        row_word=data.row_word,
        # A trip counts as long as anything of it is left, whatever it was cut into.
        trips=len(np.unique(origin[nonempty])),
        people=len(np.unique(data.owner[nonempty])),
    )


def count_published(name: str, before: Data, result: MethodResult, origin: IntArray) -> Stage:
    """Return what a method left: of which trips and people of the input something is published.

    Where numbers are published, it is what these count.
    """
    published = result.data
    # Numbers about many people have no trajectories of their own: which input rows are in them says what is left.
    if result.counted is not None:
        trajectory = np.unique(trajectory_of_row(before.offsets)[result.counted])
        return Stage(
            name=name,
            rows=int(result.counted.sum()),
            row_word=before.row_word,
            trips=len(np.unique(origin[trajectory])),
            people=len(np.unique(before.owner[trajectory])),
        )
    of = np.arange(len(published)) if result.source is None else result.source
    # Dummies are in the file and are nobody.
    real = published.nonempty & (of >= 0)
    return Stage(
        name=name,
        rows=int(published.lengths[real].sum()),
        row_word=published.row_word,
        trips=len(distinct_values(origin[of[real]])),
        people=len(distinct_values(before.owner[of[real]])),
    )


def stages_of_balance(name: str, balance: Mapping[str, Mapping[str, int | None]]) -> tuple[Stage, ...]:
    """Return the data before and after a method, where nothing else was counted (data in blocks)."""
    words = [word for word in balance if word not in ("trajectories", "people")]
    if not words:
        return ()
    both = []
    for when, called in (("in", "prepared"), ("out", name)):
        people = balance.get("people", {}).get(when)
        rows, trips = (_number(balance[what], when) for what in (words[0], "trajectories"))
        both.append(Stage(name=called, rows=rows, row_word=words[0], trips=trips, people=people))
    return tuple(both)


def _number(entry: Mapping[str, int | None], when: str) -> int:
    """Return a count without what was invented, which is nothing that is left."""
    invented = entry.get("invented") or 0
    return max(0, (entry.get(when) or 0) - (invented if when == "out" else 0))


def name_remedies(data: Data, steps: Iterable[Any], method: str) -> tuple[str, ...]:
    """Return options that often leave more, for this kind of data and with what was done already."""
    # At most two options, the one that usually leaves most first; what was done already is not advised again.
    done = {step.name for step in steps}
    remedies: list[str] = []
    if method == "synth":
        places = "coarser places (--prepare grid)" if data.coordinates else "fewer, coarser places"
        return "a larger --epsilon", places, "declared days, places or area, which cost nothing"
    if method == "dp_counts":
        remedies.append("a smaller --per-person, which needs less noise")
        if data.has_times():
            remedies.append("a wider --every, such as 1d or all")
    elif method == "counts":
        if data.has_times():
            remedies.append("a wider --every, such as 1d or all")
        if "zones" not in done and data.kind in ("visits", "trips"):
            remedies.append("--prepare 'zones cell=500 people=50'")
    elif data.kind == "visits":
        if "fold" not in done and data.time_format != "integer":
            remedies.append("--prepare 'fold to=weekday-weekend part=4h'")
        elif not done & {"fold", "bucket"}:
            remedies.append("--time-bucket WIDTH (coarser times)")
        if "zones" not in done:
            known = getattr(data, "place_x", None) is not None
            remedies.append("--prepare 'zones cell=500 people=50'" + ("" if known else " (with --places FILE)"))
    elif data.kind == "points" and method in _MOVING_TOGETHER and not done & {"window", "split"}:
        remedies.append("--prepare 'window width=1h'")
    elif data.kind == "stops" and "days" not in done:
        remedies.append("--prepare days")
    elif data.kind == "routes" and "split" not in done:
        remedies.append("--prepare 'slices width=1d' (wider slices)")
    return (*(remedies[:2] or ["a smaller k"]), "wayveil advise RECIPE")
