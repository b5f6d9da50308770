"""How far stops were generalized: steps up in the taxonomy, and leaves that a stop may now be at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from math import fsum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.kernels.metrics.stop_alignment import PlaceTree, align_stops
from wayveil.metrics.metric_base import OnStops
from wayveil.metrics.stops.nodes import aligned_nodes, height_of
from wayveil.model import Chart, Number, Score, Series, Stops, Taxonomy
from wayveil.model.accumulators import Constant, Tally
from wayveil.model.data.ragged import keep_rows, trajectory_of_row
from wayveil.model.numbers import count, relative, share

__all__ = ["GeneralizationCost"]

Array = NDArray[Any]

_LABELS = ("0", *(f"up to {10 * i} %" for i in range(1, 10)), "up to 100 %", "100 %: lost")

_PART = {"": "a stop", "qi_": "a stop that is not sensitive", "sensitive_": "a sensitive stop"}
_DISTANCE = {"hops": "steps in the taxonomy", "leaves": "leaves of the taxonomy"}


@dataclass(frozen=True, kw_only=True)
class GeneralizationCost(OnStops):
    """The mean cost of a trajectory, which is the mean over its original stops: 0 if kept, 1 if left out.

    A stop at node p that was published as node g costs, by hops, the steps from p up to g divided by the height of the
    taxonomy; by leaves, the leaves below g that are not below p divided by all leaves.  The headline counts hops.

    Notes
    -----
    Each published trajectory is read as a part of its original: every stop stands for an original one at or below its
    node, in order, a sensitive one for a sensitive one.  Of several readings the one with the least cost counts, found
    for hops and leaves on their own.  A trajectory that was not published costs 1, and so does one that cannot be read
    in this way; `unaligned_trajectories` counts these.  Original trajectories without stops are left out.

    The paper gives every trajectory of another length the distance 1 as a whole: `hops_loss_printed` and
    `leaves_loss_printed`.

    O(n (n - r + 1)) time for a trajectory of n stops of which r are published.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 11 to 13.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food")])
    >>> before = Stops.from_records([["Bar", "Cafe"], ["Bar", "Cafe"]], taxonomy=tree)
    >>> after = Stops.from_records([["Food", "Cafe"], ["Food"]], taxonomy=tree)
    >>> score = GeneralizationCost().run(before, after)
    >>> score.value, score.measured["hops_loss_printed"]
    (0.5, 0.625)
    """

    name: ClassVar[str] = "generalization_cost"
    summary: ClassVar[str] = "how far stops were generalized in the taxonomy, and how many were left out"
    matched: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trajectories by their costs in whole steps or leaves."""
        if len(original) != len(published):
            raise InputError(
                f"{self.name}: every trajectory is compared with its own publication, but the original has "
                f"{len(original)} and the published data {len(published)}. Leave those that are not published without "
                "rows."
            )
        tree = original.taxonomy
        old = _Side(original.offsets.copy(), original.place.astype(np.int64))
        new = _Side(published.offsets.copy(), aligned_nodes(self.name, original, published))
        parts = {"": (old, new)}
        # Sensitive and other stops apart: a cost of one of them would hide in the mean of both.
        for part, kind in (("qi_", False), ("sensitive_", True)):
            parts[part] = old.only(tree.sensitive == kind), new.only(tree.sensitive == kind)
        costs = {}
        scales = {"hops": height_of(tree), "leaves": _leaves(tree)}
        for distance, weight in (("hops", tree.depth), ("leaves", tree.n_leaves)):
            scale = scales[distance]
            for part, (before, after) in parts.items():
                # Whole steps per trajectory are counted, and divided only at the end: integers add up exactly over
                # blocks.
                costs[part + distance] = _costs(before, after, tree, weight, scale)
            costs[f"{distance}_printed"] = _printed(old, new, tree, weight)
        lengths = np.diff(old.offsets)
        n_stops = np.diff(new.offsets)
        nonempty = lengths > 0
        return {
            "scales": Constant((scales["hops"], scales["leaves"])),
            "costs": costs,
            "trajectories": int(nonempty.sum()),
            "other_length": int((lengths != n_stops)[nonempty].sum()),
            "not_published": int((n_stops == 0)[nonempty].sum()),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        numbers: dict[str, Number] = {}
        costs = {}
        for distance, scale in zip(("hops", "leaves"), counts["scales"].value, strict=True):
            for part in ("", "qi_", "sensitive_"):
                part_costs = _Costs(counts["costs"][part + distance], scale)
                costs[part + distance] = part_costs
                numbers[f"{part}{distance}_loss"] = share(
                    part_costs.mean, f"Mean cost of {_PART[part]}, by {_DISTANCE[distance]}"
                )
                if not part:
                    numbers["unaligned_trajectories"] = count(
                        part_costs.lost, "Trajectories that cannot be aligned", "trajectories"
                    )
            printed = _Costs(counts["costs"][f"{distance}_printed"], scale).mean
            numbers[f"{distance}_loss_printed"] = relative(printed, f"Mean cost as printed, by {_DISTANCE[distance]}")
        for what, label in (("other_length", "of another length"), ("not_published", "not published")):
            numbers[f"{what}_share"] = share(
                counts[what] / counts["trajectories"] if counts["trajectories"] else None,
                f"Share of trajectories {label}",
            )
        return Score(
            name=self.name,
            meaning="mean over trajectories of the mean cost of a stop: steps up in the taxonomy by its height; left "
            "out costs 1",
            value=numbers["hops_loss"].value,
            better="lower",
            unit="share",
            numbers=numbers,
            charts=_charts(costs),
        )


@dataclass(frozen=True, eq=False)
class _Side:
    """Stops as nodes of the common taxonomy."""

    offsets: Array
    node: Array

    def only(self, nodes: Array) -> _Side:
        """Return the stops at these nodes."""
        keep = nodes[self.node]
        return _Side(keep_rows(self.offsets, keep), self.node[keep])


def _leaves(tree: Taxonomy) -> int:
    return int(tree.n_leaves[tree.root])


def _costs(old: _Side, new: _Side, tree: Taxonomy, weight: Array, scale: int) -> Tally:
    """Return the trajectories with stops by cost in whole steps (-1 where they cannot be aligned) and by length."""
    kind = tree.sensitive.astype(np.int64)
    places = PlaceTree(tree.first, tree.last, kind, weight)
    total = align_stops(old.offsets, old.node, new.offsets, new.node, places, np.int64(scale))
    length = np.diff(old.offsets)
    return _tally(total, length)


def _printed(old: _Side, new: _Side, tree: Taxonomy, weight: Array) -> Tally:
    """Return the same with stop i of the publication standing for stop i, and -1 where the lengths differ."""
    length = np.diff(old.offsets)
    same = (length == np.diff(new.offsets)) & (length > 0)
    rows = [np.repeat(same, np.diff(side.offsets)) for side in (old, new)]
    p = old.node[rows[0]]
    g = new.node[rows[1]]
    trajectory = trajectory_of_row(old.offsets)[rows[0]]
    # Stop i for stop i: it must be at or below the published node, and of the same kind.
    fits = tree.covers(g, p) & (tree.sensitive[g] == tree.sensitive[p])
    total = np.bincount(trajectory, weights=np.abs(weight[p] - weight[g]), minlength=len(length))
    wrong = np.bincount(trajectory, weights=~fits, minlength=len(length)) > 0
    return _tally(np.where(same & ~wrong, total, -1).astype(np.int64), length)


def _tally(total: Array, length: Array) -> Tally:
    nonempty = length > 0
    return Tally.of(total[nonempty], length[nonempty])


class _Costs:
    """The costs of trajectories, 1 where they are lost, each with the number of trajectories that have it."""

    def __init__(self, tally: Tally, scale: int) -> None:
        total, length = tally.columns
        self.values = np.where(total >= 0, total / np.maximum(1, scale * length), 1.0)
        self.counts = tally.counts
        self.lost = int(tally.counts[total < 0].sum())

    @property
    def mean(self) -> float | None:
        if not len(self.values):
            return None
        # Each as often as it occurs, so that the sum is rounded once, at its end.
        each = chain.from_iterable(map(repeat, self.values.tolist(), self.counts.tolist()))
        return fsum(each) / int(self.counts.sum())


def _charts(costs: dict[str, _Costs]) -> tuple[Chart, ...]:
    """Return how trajectories spread over classes of cost; a cost on a border is in the lower class."""
    if not len(costs["hops"].values):
        return ()
    series = []
    for name in ("hops", "leaves"):
        values = costs[name].values
        counts = costs[name].counts
        place = np.where(values == 1, len(_LABELS) - 1, np.ceil(np.round(values * 10, 9)).astype(np.int64))
        share = np.bincount(place, weights=counts, minlength=len(_LABELS)) / counts.sum()
        series.append(Series(name=name, values=tuple(share.tolist())))
    return (
        Chart(
            title="Generalization cost of trajectories",
            kind="bars",
            labels=_LABELS,
            series=tuple(series),
            x_label="cost of a trajectory",
            y_label="share of trajectories",
            percent=True,
        ),
    )
