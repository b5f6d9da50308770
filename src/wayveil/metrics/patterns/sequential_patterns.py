"""Whether what many do in the same order is still there: sequential patterns of places, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import ParameterError
from wayveil.kernels.frequent.pattern_cover import Ancestry, Growth, cover_patterns
from wayveil.kernels.frequent.prefix_span import mine_patterns
from wayveil.metrics.metric_base import OnStops
from wayveil.metrics.stops.nodes import aligned_nodes, height_of
from wayveil.model import Chart, Number, Score, Series, Stops, Taxonomy, parameter
from wayveil.model.data.ragged import offsets_of
from wayveil.model.numbers import count, share

__all__ = ["SequentialPatterns"]

Array = NDArray[Any]

_TIMES = {"_at_half": Fraction(1, 2), "": Fraction(1), "_at_double": Fraction(2), "_at_fourfold": Fraction(4)}
_TIMES_LABEL = {
    "_at_half": ", at half the support",
    "": "",
    "_at_double": ", at twice the support",
    "_at_fourfold": ", at four times the support",
}
_MOST_PATTERNS = 200_000
_MOST_STEPS = 300_000_000  # a second or two of mining, and more for more data
_STEPS_PER_STOP = 60


@dataclass(frozen=True, kw_only=True)
class SequentialPatterns(OnStops):
    """Which sequences of places that many trajectories share are covered by sequences that many published ones share.

    A pattern is a sequence of 1 to `longest` nodes that at least a share `support` of the trajectories have in that
    order; others may lie between.  A pattern of the publication covers one of the original if it has the same length
    and each node is the same or above.  The headline is how exactly the original's patterns are still told, from 0 to
    1: 1 by the same places, less for each level of the taxonomy above them, and 0 by roots alone or by nothing.

    Parameters
    ----------
    support : number above 0, to 1
        Share of the original trajectories, those with stops, from which a pattern is frequent.
    longest : int, 1 to 10
        Number of places of the longest patterns.

    Notes
    -----
    The share is turned into a number of trajectories, rounded up and at least 2, and this number is used on both sides:
    what is lost because trajectories were left out is lost.  Published nodes are items as they are: a stop at a node
    does not count for those above it.

    ``patterns_kept_share`` counts the patterns that are told by the same places, ``patterns_covered_share`` those that
    a published pattern covers which does not consist of the root only: one of categories covers many of places.
    ``patterns_covered_share_upper_bound`` counts all patterns of the publication as covering,
    ``patterns_covered_share_lower_bound`` only those without any root.  The distance coefficients ``hops_loss`` and
    ``leaves_loss`` are the mean, over the original's patterns, of the cost of the nearest published pattern that covers
    it, as in `GeneralizationCost`; 1 where none does.

    Where more than 200,000 patterns would have to be listed, or too many rows read, the numbers of this support are
    None; if it is `support` itself, one of twice, four times, ... as much is used in its place, and `meaning` says so.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 16 to 18.
    Pei et al.: Mining sequential patterns by pattern-growth: the PrefixSpan approach.  IEEE Transactions on Knowledge
    and Data Engineering 16 (2004).

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food")])
    >>> before = Stops.from_records([["Bar", "Cafe"], ["Bar", "Cafe"]], taxonomy=tree)
    >>> after = Stops.from_records([["Food", "Cafe"], ["Food", "Place"]], taxonomy=tree)
    >>> score = SequentialPatterns().run(before, after)
    >>> score.measured["patterns_before"], score.measured["patterns_after"]
    (3, 1)
    >>> round(score.measured["patterns_covered_share"], 3), round(score.value, 3)
    (0.667, 0.333)
    """

    support: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(8, 1000), help="share of trajectories that share a pattern"
    )
    longest: int = parameter(kind="int", low=1, high=10, default=5, help="number of places of the longest patterns")

    name: ClassVar[str] = "sequential_patterns"
    summary: ClassVar[str] = "sequences of places that many share, before and after"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support == 0:
            raise ParameterError(f"{self.name}: support must be more than 0. Take a share such as 0.008.")

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        """Return the patterns of both, at the supports that are compared."""
        tree = original.taxonomy
        trajectories = int((np.diff(original.offsets) > 0).sum())
        published_node = aligned_nodes(self.name, original, published)
        # Four supports are told, so that nobody can pick the one that looks best; each at least two trajectories.
        supports = {suffix: max(2, ceil(self.support * times * trajectories)) for suffix, times in _TIMES.items()}
        tried = sorted(set(supports.values()))
        old = _mine(original.offsets, original.place.astype(np.int64), len(tree), tried, self.longest)
        new = _mine(published.offsets, published_node, len(tree), tried, self.longest)
        return {"tree": tree, "trajectories": trajectories, "supports": supports, "before": old, "after": new}

    def score(self, counts: Mapping[str, Any]) -> Score:
        tree = counts["tree"]
        trajectories = counts["trajectories"]
        supports = counts["supports"]
        old = counts["before"]
        new = counts["after"]
        # Both sides at the same support: the largest of what was asked for and what could be listed.
        used = max(old.support, new.support, supports[""])
        before = old.at(used)
        after = new.at(used)
        covered = _Covered.of(before, after, tree)
        numbers = {"min_support": count(used, "Smallest support"), **covered.shares, **covered.distances}
        for suffix, least in supports.items():
            for side, patterns in (("before", old), ("after", new)):
                numbers[f"patterns_{side}{suffix}"] = count(
                    patterns.number(least), f"Patterns {side}{_TIMES_LABEL[suffix]}", "patterns"
                )
        numbers |= {
            "longest_before": count(before.longest, "Longest before", "stops"),
            "longest_after": count(after.longest, "Longest after", "stops"),
        }
        return Score(
            name=self.name,
            meaning=_MEANING + self._note(supports[""], used, trajectories),
            value=covered.shares["patterns_told_share"].value,
            better="higher",
            unit="share",
            numbers=numbers,
            charts=self._charts(numbers, covered),
        )

    def _note(self, wanted_length: int, used: int, trajectories: int) -> str:
        """Return what to say where there are too many patterns at the support that was asked for."""
        if used == wanted_length:
            return ""
        return (
            f"; with a support of {used / trajectories:.2%} instead of {float(self.support):.2%}, as there are too "
            "many patterns to list"
        )

    def _charts(self, numbers: Mapping[str, Number], covered: _Covered) -> tuple[Chart, ...]:
        if not covered.lengths:
            return ()
        shown = {suffix: self.support * times for suffix, times in _TIMES.items() if self.support * times <= 1}
        return (
            Chart(
                title="Number of sequential patterns",
                kind="bars",
                labels=tuple(f"{float(share) * 100:.4g} %" for share in shown.values()),
                series=tuple(
                    Series(name=name, values=tuple(numbers[f"patterns_{side}{suffix}"].value for suffix in shown))
                    for name, side in (("original", "before"), ("published", "after"))
                ),
                x_label="support",
                y_label="patterns",
            ),
            Chart(
                title="Patterns covered, by length",
                kind="bars",
                labels=tuple(str(length) for length in covered.lengths),
                series=tuple(
                    Series(name=name, values=tuple(by_length[i] for by_length in covered.lengths.values()))
                    for i, name in enumerate(("by any pattern", "not of roots only", "without roots"))
                ),
                x_label="places of a pattern",
                y_label="share of the original's patterns",
                percent=True,
            ),
        )


_MEANING = (
    "how exactly the original's sequential patterns are still told: 100 % by the same places, less by levels above"
)


@dataclass(frozen=True, eq=False)
class _Patterns:
    """Patterns with a support of at least `support`: each is the one `before` it (-1: none) and a `last` item."""

    before: Array
    last: Array
    supports: Array
    support: int

    def number(self, support: int) -> int | None:
        """Return how many have a support; None where not all of these were listed."""
        return int((self.supports >= support).sum()) if support >= self.support else None

    def at(self, support: int) -> _Patterns:
        """Return those with at least this support; what is before a pattern has no lower one."""
        keep = self.supports >= support
        # Positions change when patterns are left out; the last entry, for index -1, stays -1.
        number = np.append(np.cumsum(keep) - 1, -1)
        return _Patterns(number[self.before[keep]], self.last[keep], self.supports[keep], support)

    @property
    def lengths(self) -> Array:
        """Number of items of each."""
        return self.sums(np.ones(int(self.last.max(initial=0)) + 1, np.int64))

    def sums(self, of_item: Array) -> Array:
        """Return the sum of a number per item over the items of each."""
        sums = np.zeros(len(self.before), np.int64)
        at = np.arange(len(self.before))
        # All patterns walk back to their beginnings at once, a step per round; it ends after as many rounds as the
        # longest has items.
        while (has_prefix := at >= 0).any():
            sums[has_prefix] += of_item[self.last[at[has_prefix]]]
            at = np.where(has_prefix, self.before[at], -1)
        return sums

    @property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))


def _mine(offsets: Array, node: Array, n_nodes: int, supports: list[int], longest: int) -> _Patterns:
    """Return the patterns of the first of these supports, or a larger one, with which they can be listed."""
    most = max(_MOST_STEPS, _STEPS_PER_STOP * len(node))
    waiting = supports[::-1]
    support = 0
    while True:  # ends, as no pattern is in more trajectories than there are
        # The supports that were asked for first, from the smallest on; then doubled.
        support = waiting.pop() if waiting else 2 * support
        *columns, n = mine_patterns(offsets, node, n_nodes, support, longest, _MOST_PATTERNS, most)
        if n >= 0:
            before, last, pattern_support = (column[:n] for column in columns)
            return _Patterns(before, last, pattern_support, support)


@dataclass(frozen=True)
class _Covered:
    """The coverage and distance coefficients, and by length how much is covered at all, not by roots, without any."""

    shares: dict[str, Number]
    distances: dict[str, Number]
    lengths: dict[int, tuple[float, float, float]]

    @classmethod
    def of(cls, old: _Patterns, new: _Patterns, tree: Taxonomy) -> _Covered:
        # Children of each pattern side by side, sorted by item: what the kernel walks through.
        order = np.lexsort((new.last, new.before))
        offsets = offsets_of(np.bincount(new.before + 1, minlength=len(new.before) + 1))
        ancestry = Ancestry(tree.parent, tree.depth, tree.n_leaves)
        roots, hops, leaves = cover_patterns(old.before, old.last, Growth(order, new.last[order], offsets), ancestry)
        lengths = old.lengths
        is_covered = roots >= 0
        levels = np.stack([is_covered, is_covered & (roots < lengths), is_covered & (roots == 0)])
        levels_kept: list[Any] = levels.mean(axis=1).tolist() if len(is_covered) else [None] * 3
        # At the same places a pattern is told in full, at roots not at all; in between each level counts the same.
        depths = old.sums(tree.depth)
        # A pattern of roots alone has depth 0 and says nothing, so it counts as 0 even if it is covered.
        detail = np.where(is_covered, 1 - hops / np.maximum(depths, 1), 0.0) * (depths > 0)
        distances: dict[str, Number] = {}
        for name, label, total, scale in (
            ("hops_loss", "Mean cost, by steps in the taxonomy", hops, height_of(tree)),
            ("leaves_loss", "Mean cost, by leaves of the taxonomy", leaves, tree.n_leaves[tree.root]),
        ):
            # What is not covered costs 1, whatever the distance.
            cost = np.where(is_covered, total / (scale * lengths), 1.0)
            distances[name] = share(float(cost.mean()) if len(cost) else None, label)
        return cls(
            shares={
                "patterns_told_share": share(
                    float(detail.mean()) if len(is_covered) else None, "How exactly patterns are told"
                ),
                "patterns_kept_share": share(
                    float((is_covered & (hops == 0)).mean()) if len(is_covered) else None,
                    "Share of patterns kept as they were",
                ),
                "patterns_covered_share": share(levels_kept[1], "Share of patterns covered"),
                "patterns_covered_share_upper_bound": share(levels_kept[0], "Share of patterns covered, at most"),
                "patterns_covered_share_lower_bound": share(levels_kept[2], "Share of patterns covered, at least"),
            },
            distances=distances,
            lengths={
                n: tuple(levels[:, lengths == n].mean(axis=1).tolist()) for n in range(1, lengths.max(initial=0) + 1)
            },
        )
