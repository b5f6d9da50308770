"""Whether what many drive is still there: frequent stretches of road, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnRoutes
from wayveil.metrics.patterns.whole_routes import RouteMatches, list_maximal_stretches, match_routes
from wayveil.metrics.roads.road_counts import aligned_roads, counts, distinct, follows
from wayveil.model import Chart, Number, Routes, Score, Series, parameter
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, relabel, relative, share

__all__ = ["RoadPatterns"]

Array = NDArray[Any]

_DRAWN = 12


@dataclass(frozen=True, kw_only=True)
class RoadPatterns(OnRoutes):
    """Which stretches of road that many drive in the original are those that many drive in the published data.

    A pattern is a sequence of 1 to `longest` roads, each beginning where the one before ends.  Its support is the
    number of trajectories that drive it without a break.  It is frequent with a support of at least `min_support`.
    The headline is the F-measure of the frequent patterns of the published data as an answer to the question for those
    of the original: 1 if they are the same, 0 if they have none in common.

    Parameters
    ----------
    min_support : int, >= 1, or "auto"
        Support from which a pattern is frequent; "auto" is 1 % of the people of the original, and at least 2.
    longest : int, 1 to 10
        Number of roads of the longest patterns.

    Notes
    -----
    A pattern matches by half if at least half of its roads, in a row, are a frequent pattern of the other data set.
    `routes_f_measure` is Equation 9 of the paper: the different published routes, from the first road to the last,
    against the stretches of any length that are frequent in the original and part of no longer one.

    Slices of time are not told apart.  Longer patterns are looked for among those that begin with a frequent one.
    O(n log n) time for n rows and each length.

    References
    ----------
    Section 5.2.2 of Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM
    Transactions on Intelligent Systems and Technology 5 (2014).  Precision and recall are the other way round there.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("bd", "b", "d")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab", "bd"], ["ab", "bd"]], network=network)
    >>> after = Routes.from_records([["ab", "bc"]] * 4, network=network)
    >>> score = RoadPatterns(min_support=2).run(before, after)
    >>> score.value, score.measured["precision"], score.measured["recall"], score.measured["recall_half_match"]
    (0.75, 1.0, 0.6, 0.8)
    """

    min_support: int | str = parameter(
        kind="int", low=1, choices=("auto",), default="auto",
        help="trajectories that share a frequent pattern; auto: 1 % of the people, at least 2",
    )  # fmt: skip
    longest: int = parameter(kind="int", low=1, high=10, default=4, help="number of roads of the longest patterns")

    name: ClassVar[str] = "road_patterns"
    summary: ClassVar[str] = "stretches of road that many drive, before and after"

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return the frequent patterns of both, length by length."""
        names, code = aligned_roads(original, published)
        support = self._support(original)
        road = np.concatenate([original.road.astype(np.int64), code])
        # Both tables as one: rows of the publication behind those of the original, with trajectories numbered on.
        levels = _mine(original, published, road, support, self.longest)
        before = road[: original.n_rows]
        stretches = list_maximal_stretches(original.offsets, before, follows(original), support)
        whole = match_routes(stretches, published.offsets, code)
        return {"names": names, "support": support, "road": road, "levels": levels, "whole": whole}

    def score(self, counts: Mapping[str, Any]) -> Score:
        names, support, road, levels = (counts[name] for name in ("names", "support", "road", "levels"))
        old, new, both = ([int(level.common(side).sum()) for level in levels] for side in ("before", "after", "both"))
        halves = {side: [int(_by_half(levels, i, side).sum()) for i in range(len(levels))] for side in ("old", "new")}
        exact = _measures(sum(old), sum(new), sum(both), sum(both))
        half = _measures(sum(old), sum(new), sum(halves["old"]), sum(halves["new"]))
        whole: RouteMatches = counts["whole"]
        error = np.concatenate([np.zeros(0), *(level.error for level in levels)])
        return Score(
            name=self.name,
            meaning="F-measure of the published frequent patterns as an answer to those of the original",
            value=exact["f_measure"].value,
            better="higher",
            unit="share",
            numbers={
                "min_support": count(support, "Smallest support"),
                "patterns_before": count(sum(old), "Patterns before", "patterns"),
                "patterns_after": count(sum(new), "Patterns after", "patterns"),
                "patterns_in_both": count(sum(both), "Patterns in both", "patterns"),
                **exact,
                **relabel(half, "_half_match", "half of a pattern suffices"),
                "longest_before": count(_longest(old), "Longest before", "roads"),
                "longest_after": count(_longest(new), "Longest after", "roads"),
                "routes_f_measure": share(whole.f_measure, "F-measure of whole routes, Equation 9 of the paper"),
                "stretches_before": count(whole.stretches, "Longest frequent stretches before", "stretches"),
                "routes_after": count(whole.routes, "Different published routes", "routes"),
                "routes_matched": count(whole.matched, "Published routes that are such a stretch", "routes"),
                "support_error_rate": relative(
                    float(error.mean()) if len(error) else None, "Mean relative error of the support"
                ),
            },
            charts=(*_by_length(old, new, both, halves), *_most_frequent(levels, road, names)),
        )

    def _support(self, original: Routes) -> int:
        if isinstance(self.min_support, int):
            return self.min_support
        people = original.owner[np.diff(original.offsets) > 0]
        n = len(people) if original.owners == "hidden" else len(np.unique(people))
        return max(2, -(-n // 100))


@dataclass(frozen=True, eq=False)
class _Level:
    """The patterns of one length that are frequent before or after.

    `at` is a row where each begins; `code` the pattern that begins at every row, -1 where none of these does.
    """

    length: int
    at: Array
    before: Array
    after: Array
    support: int
    code: Array

    def common(self, side: str) -> Array:
        """Return which are frequent before, after, or both."""
        old = self.before >= self.support
        new = self.after >= self.support
        return {"before": old, "after": new, "both": old & new}[side]

    @property
    def error(self) -> Array:
        """The relative errors of the supports of what was frequent."""
        old = self.common("before")
        return np.abs(self.after[old] - self.before[old]) / self.before[old]


def _mine(original: Routes, published: Routes, road: Array, support: int, longest: int) -> list[_Level]:
    """Return the patterns of each length; a pattern is frequent only if the one without its last road is."""
    n = len(road)
    n_roads = int(road.max(initial=0)) + 1
    trajectory = np.concatenate(
        [trajectory_of_row(original.offsets), len(original) + trajectory_of_row(published.offsets)]
    )
    goes_on = np.concatenate([follows(original), follows(published)])
    levels: list[_Level] = []
    begin = np.arange(n)
    last = np.arange(n)
    pattern = road
    # Level by level, as in Apriori.  Before a round every occurrence has its first row, its last row and the number of
    # its pattern.  A round counts the patterns, drops occurrences of rare ones, and makes the others longer by the
    # next road.
    for length in range(1, longest + 1):
        values, before, after = _supports(pattern, trajectory[begin], len(original))
        frequent = (before >= support) | (after >= support)
        values = values[frequent]
        before = before[frequent]
        after = after[frequent]
        # Patterns that stay are numbered by their position in the sorted list; occurrences of others are dropped.
        number = np.minimum(np.searchsorted(values, pattern), max(0, len(values) - 1))
        known = values[number] == pattern if len(values) else number < 0
        begin = begin[known]
        last = last[known]
        number = number[known]
        code = np.full(n, -1, np.int64)
        at = np.zeros(len(values), np.int64)
        code[begin] = number
        at[number] = begin
        levels.append(_Level(length, at, before, after, support, code))
        longer = goes_on[last]
        begin = begin[longer]
        last = last[longer] + 1
        # The longer pattern is its number and the next road, as one integer.
        pattern = number[longer] * n_roads + road[last]
    return levels


def _supports(pattern: Array, trajectory: Array, n_before: int) -> tuple[Array, Array, Array]:
    """Return the different patterns, in order, and how many trajectories have each before and after."""
    n = int(trajectory.max(initial=0)) + 1
    # A trajectory counts once per pattern, however often it drives it.
    once = distinct(pattern * n + trajectory)
    item = once // n
    old = once % n < n_before
    return counts(item[old], item[~old])


def _by_half(levels: list[_Level], i: int, side: str) -> Array:
    """Return, for the frequent patterns of one side and length, which match one of the other side at least by half.

    Parts of frequent patterns are frequent, so it is enough to look at those of half the length, rounded up.
    """
    here, other = ("before", "after") if side == "old" else ("after", "before")
    level = levels[i]
    # Half of the roads, rounded up: a pattern matches by half if any window of that length is frequent on the other
    # side.
    part = levels[(levels[i].length + 1) // 2 - 1]
    at = level.at[level.common(here)]
    windows = at[:, None] + np.arange(level.length - part.length + 1)
    return np.any(part.common(other)[part.code[windows]], axis=1) if len(at) else at > 0


def _measures(n_old: int, n_new: int, old_matched: int, new_matched: int) -> dict[str, Number]:
    """Return precision, recall and their harmonic mean, from whole numbers so that 3/4 is 0.75."""
    f = None
    if n_old or n_new:
        # Harmonic mean of recall = old_matched / n_old and precision = new_matched / n_new, as one fraction of
        # integers.
        f = 2 * old_matched * new_matched / max(1, new_matched * n_old + old_matched * n_new)
    return {
        "f_measure": share(f, "F-measure"),
        "precision": share(new_matched / n_new if n_new else None, "Precision"),
        "recall": share(old_matched / n_old if n_old else None, "Recall"),
    }


def _longest(numbers: list[int]) -> int:
    return max((i + 1 for i, number in enumerate(numbers) if number), default=0)


def _by_length(old: list[int], new: list[int], both: list[int], halves: dict[str, list[int]]) -> tuple[Chart, ...]:
    shown = max(_longest(old), _longest(new))
    if not shown:
        return ()
    exact = [_measures(*numbers)["f_measure"].value for numbers in zip(old, new, both, both, strict=True)]
    half = [
        _measures(*numbers)["f_measure"].value for numbers in zip(old, new, halves["old"], halves["new"], strict=True)
    ]
    return (
        Chart(
            title="Frequent patterns by length",
            kind="bars",
            labels=tuple(str(i + 1) for i in range(shown)),
            series=(
                Series(name="exact match", values=tuple(exact[:shown])),
                Series(name="match of half the roads", values=tuple(half[:shown])),
            ),
            x_label="roads of a pattern",
            y_label="F-measure",
            percent=True,
        ),
    )


def _most_frequent(levels: list[_Level], road: Array, names: tuple[str, ...]) -> tuple[Chart, ...]:
    """Return the patterns of two roads or more that most drive in the original, longer ones last where they tie."""
    patterns = []
    for level in levels[1:]:
        rank = np.argsort(-level.before, kind="stable")[:_DRAWN]
        for i in rank[level.before[rank] >= level.support].tolist():
            roads = tuple(names[r] for r in road[level.at[i] : level.at[i] + level.length].tolist())
            patterns.append((-int(level.before[i]), level.length, roads, int(level.after[i])))
    top = sorted(patterns)[:_DRAWN]
    if not top:
        return ()
    return (
        Chart(
            title=f"The {len(top)} most frequent patterns" if len(top) > 1 else "The most frequent pattern",
            kind="bars",
            labels=tuple(" → ".join(roads) for _, _, roads, _ in top),
            series=(
                Series(name="original", values=tuple(float(-minus) for minus, *_ in top)),
                Series(name="published", values=tuple(float(after) for *_, after in top)),
            ),
            x_label="pattern of two roads or more",
            y_label="trajectories",
            names=tuple(roads for _, _, roads, _ in top),
        ),
    )
