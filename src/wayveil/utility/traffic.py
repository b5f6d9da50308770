"""How busy roads and turnings are: traffic counts, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Routes, Score, Series, check_parameters, parameter
from wayveil.model.ragged import trajectory_of_row

__all__ = ["Traffic", "aligned_roads", "aligned_slices", "counts", "distinct", "follows", "largest"]

Array = NDArray[Any]

_DRAWN = 12
_PLAIN = {"integer", "epoch"}


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """How many counts of traffic changed: on roads, and from road to road at intersections.

    A passage is one row: somebody drives along a road.  A turn is two rows that follow each other in a trajectory, the
    second road beginning where the first ends; going straight on is a turn, too.  The headline is the sum of the
    differences between the counts of roads before and after, in relation to all passages before.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of busiest roads and turns that are compared.

    Notes
    -----
    Counts are taken per slice of time where the published slices are slices of the original, else over all times.
    Roads are matched by name.  Dummies count, as nobody can tell them apart.  The headline can be above 1 where traffic
    was invented.  O(n log n) time for n rows.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab"]], network=network)
    >>> after = Routes.from_records([["ab", "bc"], ["ab"], ["ab"]], network=network)
    >>> score = Traffic().run(before, after)
    >>> score.value, score.measured["turns_changed_share"]
    (0.2, 0.5)
    """

    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of busiest roads and turns that are compared"
    )

    name: ClassVar[str] = "traffic"
    summary: ClassVar[str] = "traffic counts of roads and turns, before and after"
    accepts: ClassVar[type[Routes]] = Routes
    targets: ClassVar[tuple[type[Routes], ...]] = (Routes,)
    matched: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(self, original: Routes, published: Routes) -> Score:
        names, code = aligned_roads(original, published)
        slices = aligned_slices(original, published)
        before = original.road.astype(np.int64), slices[0][trajectory_of_row(original.offsets)]
        after = code, slices[1][trajectory_of_row(published.offsets)]
        passed = _Change(before, after)
        turned = _Change(_turns(original, *before, len(names)), _turns(published, *after, len(names)))
        return Score(
            name=self.name,
            meaning="sum of the changes of all traffic counts of roads, in relation to the original traffic",
            value=passed.changed,
            better="lower",
            percent=True,
            measured={
                "slices": slices[2],
                "passages_before": int(passed.before.sum()),
                "passages_after": int(passed.after.sum()),
                "passages_lost_share": passed.lost,
                "passages_added_share": passed.added,
                "roads_before": int((passed.before > 0).sum()),
                "roads_after": int((passed.after > 0).sum()),
                "roads_lost_share": passed.gone,
                f"top_{self.top}_roads_kept_share": passed.top_kept(self.top),
                "turns_before": int(turned.before.sum()),
                "turns_after": int(turned.after.sum()),
                "turns_changed_share": turned.changed,
                "turns_lost_share": turned.lost,
                "turns_added_share": turned.added,
                f"top_{self.top}_turns_kept_share": turned.top_kept(self.top),
            },
            charts=(
                *passed.chart("busiest road", "road", names),
                *turned.chart("busiest turn", "turn", names),
            ),
        )


def _turns(data: Routes, road: Array, slice_: Array, n_roads: int) -> tuple[Array, Array]:
    """Return a number, made of both roads, and the slice of each turn."""
    first = np.flatnonzero(follows(data))
    return road[first] * n_roads + road[first + 1], slice_[first]


class _Change:
    """Counts of roads or turns before and after: per slice (`before`, `after`), and over all (`old`, `new`)."""

    def __init__(self, original: tuple[Array, Array], published: tuple[Array, Array]) -> None:
        self.items, self.old, self.new = counts(original[0], published[0])
        n = max(1, len(self.items))
        keys = [slice_ * n + np.searchsorted(self.items, item) for item, slice_ in (original, published)]
        _, self.before, self.after = counts(*keys)

    @property
    def changed(self) -> float | None:
        return self._share(np.abs(self.before - self.after))

    @property
    def lost(self) -> float | None:
        return self._share(np.maximum(self.before - self.after, 0))

    @property
    def added(self) -> float | None:
        return self._share(np.maximum(self.after - self.before, 0))

    @property
    def gone(self) -> float | None:
        """The share of those with traffic before that have none after."""
        return float((self.after[self.before > 0] == 0).mean()) if self.before.any() else None

    def _share(self, part: Array) -> float | None:
        return int(part.sum()) / int(self.before.sum()) if self.before.any() else None

    def top_kept(self, top: int) -> float | None:
        """Return the share of the busiest that are among the busiest after; ties at the end count as in."""
        old, new = largest(self.old, top), largest(self.new, top)
        if not len(old):
            return None
        bar = self.new[new].min() if len(new) else 1
        return float((self.new[old] >= bar).mean())

    def chart(self, what: str, x_label: str, names: tuple[str, ...]) -> tuple[Chart, ...]:
        top = largest(self.old, _DRAWN)
        if not len(top):
            return ()
        items = self.items[top].tolist()
        if x_label == "turn":
            labels = tuple(f"{names[item // len(names)]} → {names[item % len(names)]}" for item in items)
        else:
            labels = tuple(names[item] for item in items)
        return (
            Chart(
                title=f"The {len(top)} {what}s" if len(top) > 1 else f"The {what}",
                kind="bars",
                labels=labels,
                series=(
                    Series(name="original", values=tuple(self.old[top].astype(float).tolist())),
                    Series(name="published", values=tuple(self.new[top].astype(float).tolist())),
                ),
                x_label=x_label,
                y_label="passages",
            ),
        )


def aligned_roads(original: Routes, published: Routes) -> tuple[tuple[str, ...], Array]:
    """Return the roads of both networks, those of `original` first, and the codes of the published rows in them.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> before = Routes.from_records([["b"]], network=RoadNetwork.from_roads([("b", "1", "2"), ("c", "2", "1")]))
    >>> after = Routes.from_records([["a", "c"]], network=RoadNetwork.from_roads([("a", "1", "2"), ("c", "2", "1")]))
    >>> names, codes = aligned_roads(before, after)
    >>> names, codes.tolist()
    (('b', 'c', 'a'), [2, 1])
    """
    code = {name: i for i, name in enumerate(original.network.roads)}
    for name in published.network.roads:
        code.setdefault(name, len(code))
    recode = np.array([code[name] for name in published.network.roads], np.int64)
    return tuple(code), recode[published.road] if published.n_rows else np.zeros(0, np.int64)


def aligned_slices(original: Routes, published: Routes) -> tuple[Array, Array, int]:
    """Return the number of the slice of each original and each published trajectory, and how many slices there are.

    All are of one slice where the published data have a slice that the original has not.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b")])
    >>> before = Routes.from_records([["ab"], ["ab"]], network=network, slices=[(5, 9), (0, 5)])
    >>> after = Routes.from_records([["ab"]], network=network, slices=[(5, 9)])
    >>> [slices.tolist() for slices in aligned_slices(before, after)[:2]]
    [[1, 0], [1]]
    """
    one = np.zeros(len(original), np.int64), np.zeros(len(published), np.int64), 1
    formats = {original.time_format, published.time_format}
    if len(formats) > 1 and not formats <= _PLAIN:
        return one
    code = np.zeros(len(original) + len(published), np.int64)
    for side in ("t_start", "t_end"):
        values, where = np.unique(
            np.concatenate([getattr(original, side), getattr(published, side)]), return_inverse=True
        )
        code = np.unique(code * max(1, len(values)) + where, return_inverse=True)[1]
    before, after = code[: len(original)], code[len(original) :]
    used = [slices[np.diff(data.offsets) > 0] for slices, data in ((before, original), (after, published))]
    if not np.isin(used[1], used[0]).all():
        return one
    return before, after, len(np.unique(used[0]))


def counts(before: Array, after: Array) -> tuple[Array, Array, Array]:
    """Return the different values of both (none below 0), in order, and how often each occurs before and after.

    Examples
    --------
    >>> [column.tolist() for column in counts(np.array([7, 3, 7]), np.array([9, 7]))]
    [[3, 7, 9], [1, 2, 0], [0, 1, 1]]
    >>> [column.tolist() for column in counts(np.array([7, 3, 7]), np.array([900, 7]))]
    [[3, 7, 900], [1, 2, 0], [0, 1, 1]]
    """
    highest = max((int(side.max()) for side in (before, after) if len(side)), default=-1)
    if highest < 2 * (len(before) + len(after)):  # few enough to count without sorting
        found = np.stack([np.bincount(side, minlength=highest + 1) for side in (before, after)])
        values = np.flatnonzero(found.any(axis=0))
        return values, found[0, values], found[1, values]
    sides = [np.unique(side, return_counts=True) for side in (before, after)]
    values = distinct(np.concatenate([own for own, _ in sides]))
    found = np.zeros((2, len(values)), np.int64)
    for i, (own, number) in enumerate(sides):
        found[i, np.searchsorted(values, own)] = number
    return values, found[0], found[1]


def distinct(values: Array) -> Array:
    """Return the different values in order; sorting is several times faster here than the table of np.unique.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def follows(data: Routes) -> Array:
    """Return for every row whether the next row is of the same trajectory and begins where this road ends.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> follows(Routes.from_records([["ab", "bc", "ab"], ["bc"]], network=network)).tolist()
    [True, False, False, False]
    """
    trajectory, network = trajectory_of_row(data.offsets), data.network
    found = np.zeros(data.n_rows, np.bool_)
    connected = network.to_node[data.road[:-1]] == network.from_node[data.road[1:]]
    found[:-1] = (trajectory[1:] == trajectory[:-1]) & connected
    return found


def largest(values: Array, most: int) -> Array:
    """Return the positions of the largest values, none of them 0; ties in order of position.

    Examples
    --------
    >>> largest(np.array([0, 4, 9, 4]), 2).tolist()
    [2, 1]
    """
    rank = np.argsort(-values, kind="stable")[:most]
    return rank[values[rank] > 0]
