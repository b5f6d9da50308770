"""Whether a clustering of the published trajectories finds what a clustering of the originals finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import bounding_box, centres, check_comparable, longer_side, with_rows
from wayveil.model import Boxes, Points, Score, parameter
from wayveil.model.numbers import count, share

__all__ = ["ClusteringAgreement"]

Array = NDArray[Any]

_MOMENTS = 8
_FARTHEST = 1e100  # squares of distances must be numbers


@dataclass(frozen=True, kw_only=True)
class ClusteringAgreement(OnPositions):
    """How often two trajectories are in one cluster after publication that were in one before, and the other way.

    A trajectory is described by where it is at 8 moments, evenly spaced from its own start to its own end; between two
    rows it moves straight, and a box stands for its middle.  Originals and published trajectories are each clustered
    by Ward's method, and every pair of trajectories is asked: same cluster?  The headline is F, the harmonic mean of
    precision (of the pairs that are together after publication, how many were before) and recall (of those that were
    before, how many still are).

    Parameters
    ----------
    clusters : int, >= 2
        Number of clusters, or fewer where there are not as many different trajectories.
    sample : int, 2 to 2,000
        Largest number of trajectories that are clustered; of more, a random sample is.
    seed : int, >= 0
        Seed of the sample.

    Notes
    -----
    A trajectory that was not published is in no cluster: it is with nobody.  O(sample^2) time and memory.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> before = Points.from_records([[(0, x, 0.0), (1, x, 5.0)] for x in (0.0, 1.0, 50.0, 51.0)])
    >>> after = Points.from_records([[(0, x, 0.0), (1, x, 5.0)] for x in (0.0, 3.0, 50.0)] + [[]])
    >>> score = ClusteringAgreement(clusters=2).run(before, after)
    >>> score.measured["precision"], score.measured["recall"], round(score.value, 4)
    (1.0, 0.5, 0.6667)
    """

    clusters: int = parameter(kind="int", low=2, default=10, help="number of clusters")
    sample: int = parameter(kind="int", low=2, high=2000, default=300, help="largest number of trajectories clustered")
    seed: int = parameter(kind="int", low=0, default=0, help="seed of the sample")

    name: ClassVar[str] = "clustering_agreement"
    summary: ClassVar[str] = "pairs of trajectories that are in one cluster before and after publication"
    matched: ClassVar[bool] = True

    @np.errstate(over="ignore")
    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        """Return the cluster of each sampled trajectory, before and after (-1: not published)."""
        check_comparable(self.name, original, published, matched=True)
        chosen = self._sample(original)
        nonempty = with_rows(published)[chosen]
        # Positions of both are measured in the box of the original: a publication that is shifted must not look the
        # same.
        places = [_places(original, chosen, original), _places(published, chosen[nonempty], original)]
        before, after = (_clusters(positions, self.clusters) for positions in places)
        label = np.full(len(chosen), -1)
        label[nonempty] = after
        return {"before": before, "after": label}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        label = counts["after"]
        clustered = label >= 0
        # All pairs, each once; who was not published is with nobody.
        above = np.triu_indices(len(label), 1)
        were = (before[:, None] == before)[above]
        are = ((label[:, None] == label) & clustered[:, None] & clustered)[above]
        together = int((were & are).sum())
        right = int((were == are).sum())
        precision = _share(together, int(are.sum()))
        recall = _share(together, int(were.sum()))
        return Score(
            name=self.name,
            meaning="agreement of clusters before and after publication, by pairs (F, from precision and recall)",
            # F of pairs: 2 * both / (before + after), the harmonic mean of precision and recall.
            value=_share(2 * together, int(are.sum()) + int(were.sum())),
            better="higher",
            unit="share",
            numbers={
                "accuracy": share(_share(right, len(were)), "Accuracy"),
                "precision": share(precision, "Precision"),
                "recall": share(recall, "Recall"),
                "trajectories_clustered": count(len(label), "Trajectories clustered", "trajectories"),
                "trajectories_not_published": count(
                    int((~clustered).sum()), "Trajectories not published", "trajectories"
                ),
                "pairs": count(len(were), "Pairs", "pairs"),
                "pairs_together_before": count(int(were.sum()), "Pairs together before", "pairs"),
                "pairs_together_after": count(int(are.sum()), "Pairs together after", "pairs"),
                "clusters_before": count(len(np.unique(before)), "Clusters before", "clusters"),
                "clusters_after": count(len(np.unique(label[clustered])), "Clusters after", "clusters"),
            },
        )

    def _sample(self, original: Points) -> Array:
        """Return the trajectories that are compared."""
        rows_present = np.flatnonzero(with_rows(original))
        if len(rows_present) <= self.sample:
            return rows_present
        return np.sort(np.random.default_rng(self.seed).choice(rows_present, self.sample, replace=False))


def _places(data: Points | Boxes, chosen: Array, original: Points) -> Array:
    """Return x and y at the moments for each trajectory; the longer side of the original area is 1."""
    box = bounding_box(original)
    side = longer_side(original) or 1.0
    x_min, y_min = (box[0], box[2]) if box else (0.0, 0.0)
    t, x, y = centres(data)
    x, y = (np.clip((values - low) / side, -_FARTHEST, _FARTHEST) for values, low in ((x, x_min), (y, y_min)))
    places = np.empty((len(chosen), 2 * _MOMENTS))
    for row, i in zip(places, chosen.tolist(), strict=True):
        rows = slice(data.offsets[i], data.offsets[i + 1])
        # Moments are relative to the trip itself: a trip an hour later along the same way is the same shape.
        moments = np.linspace(t[rows][0], t[rows][-1], _MOMENTS)
        row[:_MOMENTS] = np.interp(moments, t[rows], x[rows])
        row[_MOMENTS:] = np.interp(moments, t[rows], y[rows])
    return places


def _clusters(places: Array, most: int) -> Array:
    """Return the cluster of each trajectory; equal ones are in the same."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(places) < 2:
        return np.zeros(len(places), np.int64)
    # Not more clusters than different trajectories, or equal ones would be torn apart.
    different = len(np.unique(places, axis=0))
    clusters: Array = fcluster(linkage(places, method="ward"), min(most, different), criterion="maxclust")
    return clusters


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
