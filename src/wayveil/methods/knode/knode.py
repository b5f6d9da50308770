"""Trajectory k-anonymity by partitioning a graph of trajectories: one box per group and timestamp."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.knode.exact_boxes import draw_boxes
from wayveil.kernels.knode.greedy_partition import partition
from wayveil.kernels.knode.group_improvement import low_loss_groups
from wayveil.kernels.knode.overlap_graph import AXES, NO_EDGE, edge_weights
from wayveil.methods.common.box_method import BoxMethod
from wayveil.methods.common.dominance import keep_shares
from wayveil.methods.common.kd_parts import cut_large
from wayveil.methods.common.wishes import group_by_wishes
from wayveil.methods.knode.track_pieces import (
    TimedTracks,
    TrackGroups,
    TrackPart,
    TrackPieces,
    distance_from_middle,
    join_groups,
    list_tracks,
)
from wayveil.methods.knode.trajectory_graph import class_owners, merge_small, time_classes
from wayveil.model import (
    BlockKey,
    Boxes,
    Engine,
    KAnonymity,
    MethodResult,
    Points,
    duration_units,
    parameter,
)
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.claims.members import (
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, take

__all__ = ["Knode"]

_MOST = 1024
"""Trajectories of a class that are taken at once: larger classes are cut, so that nothing grows with their square."""

_CROWD = 3  # times the people of a group, in which pieces look for one: they are of all lengths
_LEAST_GAIN = 0.005  # share of all samples that a round must publish for another one to be worth its time
_ROUNDS = 3  # a fourth finds next to nothing


@dataclass(frozen=True, kw_only=True)
class Knode(BoxMethod):
    """Publish, instead of a trajectory, the boxes around a group of at least `k` people who travel at the same time.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people who share one published sequence of boxes.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories with one sequence of boxes that one person may own.
    window : str
        A duration such as "10min"; for times that are plain integers a positive integer, in their unit.  Trajectories
        that start in one window of this length and end in one are a class, and groups are found inside classes.
    variant : {"improved", "paper"}
        `improved` looks for groups at a low loss and leaves out as few as it can; `paper` is the greedy k-node
        partition of the trajectory graph, for comparison.
    overlap : {"or", "and", "x", "y"}
        With ``variant="paper"``: two trajectories have an edge where each has a sample between the start and the end of
        the other, on either axis, on both at once, or on the axis that is named.
    cut_off : {"regroup", "drop"}
        With ``variant="improved"``: what becomes of the samples outside of the time that a group shares.
    k_column : str
        The column that says how many people somebody asks to be one of, where it is more than `k`.  Not published.
    destination_share : number from 0 to 1, or "none"
        Largest share of a group whose people may all end in one square of `destination_cell` metres.

    Guarantee
    ---------
    ``KAnonymity(k, row_share)``: every published sequence of boxes is that of at least `k` distinct owners, nobody owns
    more than `row_share` of its trajectories, and it contains where they were at its times.  Where a whole group goes
    to the same place, that place is published.

    Notes
    -----
    All trajectories must have points at the same times wherever they overlap; ``resample`` sees to it.  A box has the
    time of one timestamp, and a group has boxes at the timestamps that all of its trajectories have; others are cut
    off.  With ``cut_off="regroup"`` they are grouped once more and published as pieces of their own, for which the same
    holds; what is in no group in the end is counted.

    `paper` is Algorithms 1 to 3 with these repairs: all pairs are tested for an edge; an edge needs overlap in both
    directions; components of exactly k are taken; owners are counted.  Pairs are compared, and groups have boxes, at
    the timestamps that they share.  Leftovers are dropped, as printed.  `improved` shares nothing with it but the
    classes, see ``docs/methods/knode.md``.  Where nothing is published of some people, groups are found once more
    without them: what is published depends on nobody else.  Classes of more than 1,024 trajectories (or 4k) are cut by
    place.  Time is O(n x 1,024 x timestamps) at most for each time, memory about five times the points plus
    8 MB per worker.

    References
    ----------
    Huo, Huang, Meng: History trajectory privacy-preserving through graph partition.  MLBS 2011.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> starts = [(0.0, 0.0), (4.0, 1.0), (900.0, 0.0), (900.0, 5.0)]
    >>> ways = [[(t, x + 10.0 * t, y) for t in range(3)] for x, y in starts]
    >>> method = Knode(k=2, window=10)
    >>> result = method.run(Points.from_records(ways), rng=np.random.default_rng(0), engine=LocalEngine())
    >>> result.data.record(0)
    [(0, 0, 0.0, 4.0, 0.0, 1.0), (1, 1, 10.0, 14.0, 0.0, 1.0), (2, 2, 20.0, 24.0, 0.0, 1.0)]
    >>> result.data.record(3)[0], result.facts["success ratio"]
    ((0, 0, 900.0, 900.0, 0.0, 5.0), 1.0)
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published trajectory")
    row_share: Fraction | str = row_share_parameter()
    window: str = parameter(
        kind="duration", help="trajectories that start within one such window and end within one are grouped"
    )
    variant: str = parameter(
        kind="choice",
        choices=("improved", "paper"),
        default="improved",
        help="improved: groups at a low loss, few left out; paper: the greedy partition as published",
    )
    overlap: str = parameter(
        kind="choice",
        choices=tuple(AXES),
        default="or",
        help="with variant=paper: axes on which trajectories must overlap to be neighbours",
    )

    cut_off: str = parameter(
        kind="choice",
        choices=("regroup", "drop"),
        default="regroup",
        help="with variant=improved: what lies outside of the time that a group shares is grouped once more and "
        "published as pieces, or left out",
    )
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "knode"
    summary: ClassVar[str] = "trajectory k-anonymity by grouping trajectories of the same time and publishing boxes"
    publishes: ClassVar[type[Boxes]] = Boxes
    blocks: ClassVar[tuple[BlockKey, ...]] = ("times", "place")
    splits_trajectories: ClassVar[bool] = True
    parts_in_time: ClassVar[bool] = True

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        if self.claim.has_wishes:
            return group_by_wishes(self, data, rng=rng, engine=engine)
        window = duration_units(self.name, "window", self.window, data.time_format)
        engine.progress("finding classes of the same time")
        tracks = list_tracks(data, self.people)
        pieces, facts = self._gather(tracks, window, engine)
        # Groups must follow from published people alone. So after everybody was grouped, the same is done once more
        # without those of whom nothing would be published, until this changes nothing; people only ever leave, so it
        # ends.
        while len(pieces.low):
            known = np.isin(tracks.owner, data.owner[pieces.which])
            if known.all():
                break
            is_published = np.zeros(len(data), np.bool_)
            is_published[tracks.which[known]] = True
            tracks = list_tracks(data.where(np.repeat(is_published, np.diff(data.offsets))), self.people)
            pieces, _ = self._gather(tracks, window, engine)
        if not len(pieces.low):
            raise InputError(
                f"knode: no group of k = {self.k} people was found (classes of time: {facts['classes']:,}), so nothing "
                "can be published. Choose another window, a smaller k or more data."
            )
        engine.progress("drawing boxes")
        return _publish(data, tracks, pieces, self.claim, facts)

    def _gather(
        self, tracks: TimedTracks, window: int, engine: Engine
    ) -> tuple[TrackPieces, dict[str, int | float | str]]:
        """Return the pieces of these trajectories in their groups, and what is to be told of how they were found."""
        windows = tracks.windows(window)
        label = time_classes(windows)
        owners = class_owners(label, tracks.owner)
        facts: dict[str, int | float | str] = {
            "classes": len(owners),
            "classes of fewer than k people": int((owners < self.people).sum()),
        }
        # Definition 6 of Huo et al. (2011): only trajectories that start in one window of time and end in one are
        # compared. A class with fewer than k people has nothing to build a node from.
        label = np.where(owners[label] >= self.people, label, -1)
        engine.progress("grouping trajectories")
        if self.variant == "paper":
            groups, facts["edges"] = self._partition(tracks, label, engine)
            return TrackPieces.join([tracks.grouped(groups)]), facts
        groups = self._group(tracks, label, windows, engine)
        done = [tracks.grouped(groups)]
        # A second chance for what is in no group.  Before each round `tracks` are whole trajectories or pieces of them,
        # and `groups` has those that were put into groups, for the time that each group shares.  A round takes what
        # lies before and after this time as pieces of their own, with all that is in no group, and looks for groups
        # of these.  It ends when there are too few people left for a group, or when a round published next to nothing
        # more; what a round publishes is not left to the next.
        samples = int(tracks.length.sum())
        while self.cut_off == "regroup" and done[-1].n_samples > _LEAST_GAIN * samples:
            tracks = tracks.rest(groups)
            if len(np.unique(tracks.owner)) < self.people:
                break
            engine.progress("grouping what was cut off")
            groups = self._group(tracks, np.full(len(tracks.owner), -1), tracks.windows(window), engine, _CROWD)
            done.append(tracks.grouped(groups))
        return TrackPieces.join(done), facts

    def _partition(self, tracks: TimedTracks, label: IntArray, engine: Engine) -> tuple[TrackGroups, int]:
        """Build and partition the graph of every class, as printed; return the groups and the number of edges."""
        parts = [tracks.part(members, tracks.x, tracks.y) for members in self._parts(tracks, label)]
        done = engine.map(self._partitioned, parts)
        return join_groups([groups for groups, _ in done], len(label)), sum(edges for _, edges in done)

    def _partitioned(self, part: TrackPart) -> tuple[TrackGroups, int]:
        tracks = part.tracks()
        # Algorithms 1 to 3: the trajectories of a class are the vertices of a graph, with an edge where two overlap in
        # space, weighted by their distance; the graph is cut into groups of at least k people, greedily by weight.
        weights = edge_weights(tracks, self.overlap)
        edges = int(np.count_nonzero(weights < NO_EDGE)) // 2
        groups = partition(weights, tracks.owner, part.start, part.end, self.people)
        far = distance_from_middle(part, groups)
        groups[keep_shares(groups, part.owner, far, self.claim.owner_share)] = -1
        return TrackGroups.of(part, groups), edges

    def _group(
        self, tracks: TimedTracks, label: IntArray, windows: IntArray, engine: Engine, crowd: int = 1
    ) -> TrackGroups:
        """Find groups at a low loss: in the classes, then in what is left of all of them, put together anew.

        Classes that are put together have `crowd` times as many people as a group needs, where there are as many.
        """

        def grouped(label: IntArray) -> list[TrackGroups]:
            parts = [tracks.part(members, tracks.u, tracks.v) for members in self._parts(tracks, label)]
            return engine.map(self._grouped, parts)

        done = grouped(label)
        # What a class could not group is put together anew: classes that were too small alone are merged with their
        # neighbours in time until there are enough people, and grouped again.
        for _ in range(_ROUNDS):
            rest = np.flatnonzero(join_groups(done, len(label)).label < 0)
            label = np.full(len(label), -1)
            people = max(self.people, min(crowd * self.people, len(np.unique(tracks.owner[rest]))))
            for number, members in enumerate(merge_small(windows[rest], tracks.owner[rest], people)):
                label[rest[members]] = number
            done += grouped(label)
        return join_groups(done, len(label))

    def _grouped(self, part: TrackPart) -> TrackGroups:
        share = self.claim.owner_share
        groups = low_loss_groups(part.tracks(), self.people, (share.numerator, share.denominator))
        return TrackGroups.of(part, groups)

    def _parts(self, tracks: TimedTracks, label: IntArray) -> list[IntArray]:
        """Return the classes, large ones cut; the largest first, so that no worker ends long after the others."""
        order = np.argsort(label, kind="stable")
        bounds = np.searchsorted(label[order], np.arange(int(label.max(initial=-1)) + 2)).tolist()
        # Grouping is quadratic in the size of a part, so large classes are cut along space first. At least 4 k
        # trajectories stay together, as the rim of a part has fewer candidates.
        most = max(_MOST, 4 * self.people)
        places = tracks.places()
        groups = [
            part
            for low, high in pairwise(bounds)
            if low < high  # small classes have no label
            for part in cut_large(order[low:high], places, tracks.owner, self.people, most)
        ]
        return sorted(groups, key=len, reverse=True)


def _publish(
    data: Points, tracks: TimedTracks, pieces: TrackPieces, claim: KAnonymity, facts: dict[str, int | float | str]
) -> MethodResult:
    """Give every piece the boxes of its group; a trajectory of which nothing is published stays, without boxes."""
    spans = pieces.high - pieces.low + 1
    first_box = offsets_of(spans)
    # One box per group and timestamp, around the points of all members: members of a group are published alike to the
    # last digit.
    side = draw_boxes(pieces.label, pieces.row, first_box, tracks.x, tracks.y)
    time = tracks.times[np.arange(first_box[-1]) + np.repeat(pieces.low - first_box[:-1], spans)]
    # Trajectories without any box stay in the table as empty ones, so that `source` tells the metrics whom they lost.
    nothing = np.setdiff1d(np.arange(len(data)), pieces.which)
    source = np.concatenate([pieces.which, nothing])
    order = np.argsort(source, kind="stable")
    lengths = np.concatenate([spans[pieces.label], np.zeros(len(nothing), np.int64)])[order]
    source = source[order]
    box = take(first_box, pieces.label)[1]
    regions = Boxes(
        offsets=offsets_of(lengths), t_min=time[box], t_max=time[box],
        x_min=side[0][box], x_max=side[1][box], y_min=side[2][box], y_max=side[3][box],
        owner=data.owner[source], attributes={name: values.take(source) for name, values in data.attributes.items()},
        frame=data.frame, time_format=data.time_format, owners=data.owners,
    )  # fmt: skip
    facts = facts | _facts(data, pieces, side, spans, first_box)
    return MethodResult(data=regions, claim=claim, facts=facts, source=source)


def _facts(
    data: Points, pieces: TrackPieces, side: FloatArray, spans: IntArray, first_box: IntArray
) -> dict[str, int | float | str]:
    """Return what was published and what was lost of all data, in numbers."""
    label = pieces.label
    people = class_owners(label, data.owner[pieces.which])
    length = np.diff(data.offsets)
    given = int((length > 0).sum())
    trips = np.unique(pieces.which)
    wide, high = (max(float(np.ptp(column)), 1e-300) for column in (data.x, data.y))
    share = (side[1] - side[0]) / wide * ((side[3] - side[2]) / high)
    # The information loss of the paper is the area of each box as a share of the whole space, and 1 for what is
    # suppressed. Its printed form counts a box once per group; per sample, it counts once for everybody who is
    # published as that box.
    of_group = np.add.reduceat(share, first_box[:-1])
    blurred = float(of_group @ np.bincount(label, minlength=len(spans)))
    published = int(spans[label].sum())
    samples = data.n_rows
    left_out = samples - int(length[trips].sum())
    return {
        "groups": len(spans),
        "people in the smallest group": int(people.min()),
        "people in the largest group": int(people.max()),
        "people per group": float(people.mean()),
        "trajectories left out": given - len(trips),
        "success ratio": len(trips) / given,
        "pieces per published trajectory": len(label) / len(trips),
        "points cut off published trajectories": samples - left_out - published,
        "box area, share of the whole space": blurred / published,
        "information loss per sample": (blurred + samples - published) / samples,
        "information loss, printed form": float(of_group.sum()) + left_out,
    }
