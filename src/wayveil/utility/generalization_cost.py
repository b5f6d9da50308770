"""How far stops were generalized: steps up in the taxonomy, and leaves that a stop may now be at."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.kernels.stop_alignment import align_stops
from wayveil.model import Chart, Score, Series, Stops, Taxonomy, check_parameters
from wayveil.model.ragged import keep_rows, trajectory_of_row
from wayveil.utility.nodes import aligned_nodes, height_of

__all__ = ["GeneralizationCost"]

Array = NDArray[Any]

_LABELS = ("0", *(f"up to {10 * i} %" for i in range(1, 10)), "up to 100 %", "100 %: lost")


@dataclass(frozen=True, kw_only=True)
class GeneralizationCost:
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
    accepts: ClassVar[type[Stops]] = Stops
    targets: ClassVar[tuple[type[Stops], ...]] = (Stops,)
    matched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(self, original: Stops, published: Stops) -> Score:
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
        for part, kind in (("qi_", False), ("sensitive_", True)):
            parts[part] = old.only(tree.sensitive == kind), new.only(tree.sensitive == kind)
        measured: dict[str, int | float | None] = {}
        costs = {}
        for distance, weight, scale in (
            ("hops", tree.depth, height_of(tree)),
            ("leaves", tree.n_leaves, _leaves(tree)),
        ):
            for part, (before, after) in parts.items():
                costs[part + distance], aligned = _costs(before, after, tree, weight, scale)
                measured[f"{part}{distance}_loss"] = _mean(costs[part + distance])
                if not part:
                    measured["unaligned_trajectories"] = int((~aligned).sum())
            measured[f"{distance}_loss_printed"] = _mean(_printed(old, new, tree, weight, scale))
        lengths, kept = np.diff(old.offsets), np.diff(new.offsets)
        measured["other_length_share"] = _mean((lengths != kept)[lengths > 0])
        measured["not_published_share"] = _mean((kept == 0)[lengths > 0])
        return Score(
            name=self.name,
            meaning="mean over trajectories of the mean cost of a stop: steps up in the taxonomy by its height; left "
            "out costs 1",
            value=measured["hops_loss"],
            better="lower",
            percent=True,
            measured=measured,
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


def _costs(old: _Side, new: _Side, tree: Taxonomy, weight: Array, scale: int) -> tuple[Array, Array]:
    """Return the costs of the trajectories with stops, and which of them could be aligned."""
    kind = tree.sensitive.astype(np.int64)
    total = align_stops(
        old.offsets, old.node, new.offsets, new.node, tree.first, tree.last, kind, weight, np.int64(scale)
    )
    length = np.diff(old.offsets)
    there, aligned = length > 0, total >= 0
    cost = np.where(aligned, total / np.maximum(1, scale * length), 1.0)
    return cost[there], aligned[there]


def _printed(old: _Side, new: _Side, tree: Taxonomy, weight: Array, scale: int) -> Array:
    """Return the costs with stop i of the publication standing for stop i, and 1 where the lengths differ."""
    length = np.diff(old.offsets)
    same = (length == np.diff(new.offsets)) & (length > 0)
    rows = [np.repeat(same, np.diff(side.offsets)) for side in (old, new)]
    p, g = old.node[rows[0]], new.node[rows[1]]
    trajectory = trajectory_of_row(old.offsets)[rows[0]]
    fits = tree.covers(g, p) & (tree.sensitive[g] == tree.sensitive[p])
    total = np.bincount(trajectory, weights=np.abs(weight[p] - weight[g]), minlength=len(length))
    wrong = np.bincount(trajectory, weights=~fits, minlength=len(length)) > 0
    cost = np.where(same & ~wrong, total / np.maximum(1, scale * length), 1.0)
    return cost[length > 0]


def _mean(values: Array) -> float | None:
    return fsum(values.tolist()) / len(values) if len(values) else None


def _charts(costs: dict[str, Array]) -> tuple[Chart, ...]:
    """Return how trajectories spread over classes of cost; a cost on a border is in the lower class."""
    if not len(costs["hops"]):
        return ()
    series = []
    for name in ("hops", "leaves"):
        values = costs[name]
        place = np.where(values == 1, len(_LABELS) - 1, np.ceil(np.round(values * 10, 9)).astype(np.int64))
        share = np.bincount(place, minlength=len(_LABELS)) / len(values)
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
