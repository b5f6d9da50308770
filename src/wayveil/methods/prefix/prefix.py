"""Prefix-tree anonymization of routes: the baseline that clustering is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.kernels.routes.prefix_tree import kept_prefixes
from wayveil.methods.common.distinct_people import check_people
from wayveil.methods.routes.road_parts import OnRoutes, Parts, Release, publish_slices
from wayveil.methods.routes.road_shares import fewest_people, shorten_within_share
from wayveil.model import Engine, MethodResult, Routes, SubsequenceK, parameter
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row

__all__ = ["Prefix"]


@dataclass(frozen=True, kw_only=True)
class Prefix(OnRoutes):
    """Publish, per slice of time, only prefixes of routes that at least `k` people share.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people who share a published prefix, and of those on a road that is published at all.
    reattach : {"lcs", "prefix"}
        `lcs`: routes are taken out until all prefixes of the others are shared by k people; what was taken out is
        published as the prefix of another route that it has most in common with.  `prefix`: every route becomes its
        longest prefix that k people share.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories with a common part that one person may own; of a person with more, the trips
        beyond it are shortened or left out.

    Guarantee
    ---------
    ``SubsequenceK(k, row_share)``.  Whole published routes may be unique, and a map may tell who left them where
    (inference routes): both are not covered.

    Notes
    -----
    The tree is pruned to a fixpoint, and supports count distinct owners.  Of the prefixes with a longest common
    subsequence the shortest one is taken, of equal ones the first by its roads.  Roads that fewer than k people took
    are taken out first, as for the clustering methods; without that hardly anything is left.

    At the end every prefix is counted both ways.  Of a person who owns too many of the routes with a prefix, those that
    end there are shortened by a road.  If nobody owns more than a share of the routes with any prefix, then nobody owns
    more than it of the routes that contain any subsequence: of one person's routes with the subsequence, take those of
    which no other is a prefix.  All that begin with one of these contain the subsequence, those of two different ones
    are apart, and this person's others are among them.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("BD", "B", "D")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB", "BD"]], network=network)
    >>> made = Prefix(k=3).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC'], ['AB']]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share every part of a published route")
    reattach: str = parameter(
        kind="choice",
        choices=("lcs", "prefix"),
        default="lcs",
        help="rare routes become the shared prefix that is most like them, or their own longest shared prefix",
    )
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "prefix"
    summary: ClassVar[str] = "k-anonymity of parts of routes on a road network by a prefix tree, the baseline"

    @property
    def claim(self) -> SubsequenceK:
        return SubsequenceK(k=self.k, row_share=self.row_share)

    def run(self, data: Routes, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        check_people(self.name, data, self.k, "routes")
        engine.progress("pruning routes")
        return publish_slices(data, self._people, self.claim, engine, self._release)

    @property
    def _people(self) -> int:
        """How many share a prefix, so that there are k of them and one trip of each is no more than its share."""
        return fewest_people(self.k, self.claim.owner_share)

    def _release(self, parts: Parts) -> Release:
        # Pensa et al. (2008): in the tree of all routes, what fewer than k people share is taken out, and put back as
        # the prefix of another route that it has most in common with (`reattach`).
        route, length = kept_prefixes(
            parts.offsets,
            parts.road,
            parts.owner_first,
            parts.owner,
            np.argsort(parts.owner, kind="stable"),
            len(parts.roads),
            self._people,
            self.reattach == "lcs",
        )
        part = np.flatnonzero(length[parts.route])
        begin = parts.offsets[route[parts.route[part]]]
        lengths = length[parts.route[part]]
        person = parts.person[part]
        shorter = np.zeros(len(part), np.bool_)
        # Who has many parts with one prefix is moved up to shorter prefixes, which more people share; never above the
        # first road that they drove themselves.
        if len(np.unique(person)) < len(person):  # with one part for everybody nobody dominates
            offsets, rows = _rows(begin, lengths)
            shortest = _first_own(parts, part, offsets, parts.road[rows])
            lengths_left = shorten_within_share(offsets, parts.road[rows], person, shortest, self.claim.owner_share)
            stays = lengths_left > 0
            shorter = (lengths_left < lengths)[stays]
            part = part[stays]
            begin = begin[stays]
            lengths = lengths_left[stays]
        offsets, rows = _rows(begin, lengths)
        own = np.diff(parts.offsets)
        changed = (length > 0) & ((route != np.arange(len(route))) | (length < own))
        return Release(
            source=parts.trajectory[part],
            like=parts.trajectory[part],
            offsets=offsets,
            road=parts.roads[parts.road[rows]],
            facts={
                "rare roads taken out": parts.n_roads_removed,
                "rows on rare roads": parts.n_rows_removed,
                "parts": len(parts),
                "parts left out": len(parts) - len(part),
                "parts changed": int((changed[parts.route[part]] | shorter).sum()),
                "parts shortened of people with too many": int(shorter.sum()),
            },
        )


def _rows(begin: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return (offsets, rows) of ranges of rows."""
    offsets = offsets_of(lengths)
    return offsets, np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], lengths)


def _first_own(parts: Parts, part: IntArray, offsets: IntArray, road: IntArray) -> IntArray:
    """Return how long the published route of each part must be to have one road of the part itself."""
    n_roads = len(parts.roads)
    own = np.unique(trajectory_of_row(parts.offsets) * n_roads + parts.road)
    of_row = trajectory_of_row(offsets)
    place = np.arange(len(road)) - offsets[of_row] + 1
    mine = np.isin(parts.route[part][of_row] * n_roads + road, own)
    shortest = np.full(len(part), np.iinfo(np.int64).max)
    np.minimum.at(shortest, of_row[mine], place[mine])
    return shortest
