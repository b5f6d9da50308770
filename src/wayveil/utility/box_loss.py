"""How large the published boxes are, and whom they left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.box_cover import smallest_cover
from wayveil.kernels.equal_sequences import first_equal
from wayveil.model import Points, Regions, Score, check_parameters, parameter, seconds_per_unit
from wayveil.utility.classes import AREAS, distribution
from wayveil.utility.movement import bounding_box, check_comparable, finite, with_rows

__all__ = ["BoxLoss"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class BoxLoss:
    """The area of the box that stands for each true sample, as a share of the whole area; 1 for a sample that is lost.

    Parameters
    ----------
    max_area : number, >= 0, or "auto"
        The whole area in square metres; "auto" is the bounding box of the original.

    Notes
    -----
    The headline is the mean over all samples of the original.  A sample is lost if its trajectory has no box at its
    time; where several boxes are there at its time, the smallest one stands for it; a box larger than the whole area
    counts as that.

    The formula of Huo, Huang and Meng counts a box once for all trajectories of a group but a deleted trajectory
    sample by sample, so that larger groups seem to lose less.  It is given as `information_given_up_printed`, the
    repaired sum as `information_given_up_per_sample`.  Groups are the published trajectories with the same boxes.

    O(samples + boxes) time and memory where the times of boxes do not overlap.

    References
    ----------
    Zheng Huo, Yi Huang, Xiaofeng Meng: History trajectory privacy-preserving through graph partition.  MLBS 2011.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 2.0)], [(0, 10.0, 10.0)]])
    >>> after = Regions.from_records([[(0, 0, 0.0, 1.0, 0.0, 2.0)], [(0, 0, 0.0, 1.0, 0.0, 2.0)], []])
    >>> score = BoxLoss().run(before, after)
    >>> given_up = [score.measured[f"information_given_up_{form}"] for form in ("printed", "per_sample")]
    >>> round(score.value, 4), given_up
    (0.3467, [1.02, 1.04])
    """

    max_area: float | str = parameter(
        kind="number", low=0, choices=("auto",), default="auto",
        help="the whole area in square metres; auto: the bounding box of the original",
    )  # fmt: skip

    name: ClassVar[str] = "box_loss"
    summary: ClassVar[str] = "areas of published boxes, information loss and share of trajectories published"
    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Regions], ...]] = (Regions,)
    matched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, original: Points, published: Regions) -> Score:
        check_comparable(self.name, original, published, matched=True)
        area = (published.x_max - published.x_min) * (published.y_max - published.y_min)
        whole = self._whole(original)
        there, kept = with_rows(original), with_rows(published)
        samples = np.diff(original.offsets)
        lost_with_trajectory = int(samples[~kept].sum())
        group = _groups(published)
        cover = smallest_cover(original.offsets, original.t, published.offsets, published.t_min, published.t_max, area)
        per_sample = float(np.where(cover < 0, 1.0, _share(cover, whole)).sum())
        sizes = np.bincount(group[kept], minlength=1)
        trash = int((there & ~kept).sum())
        return Score(
            name=self.name,
            meaning="mean area of the box that stands for a true sample, as a share of the whole; lost samples count 1",
            value=finite(per_sample / original.n_rows) if original.n_rows else None,
            better="lower",
            percent=True,
            measured={
                "trajectories_published_share": int((there & kept).sum()) / int(there.sum()) if there.any() else None,
                "owners_published_share": _owners_share(original, there, kept),
                "samples_lost_share": float((cover < 0).mean()) if original.n_rows else None,
                "boxes": published.n_rows,
                "average_box_m2": finite(area.mean()) if len(area) else None,
                "middle_box_m2": finite(np.median(area)) if len(area) else None,
                "largest_box_m2": finite(area.max()) if len(area) else None,
                "average_box_duration": _duration(published),
                "groups": int((sizes > 0).sum()),
                "discernibility": int((sizes**2).sum()) + trash * int(there.sum()),
                "information_given_up_per_sample": finite(per_sample),
                "information_given_up_printed": _printed(published, area, whole, group, lost_with_trajectory),
                "whole_area_m2": finite(whole),
            },
            charts=distribution("Areas of the boxes", "area", AREAS, [("published boxes", area)], "share of boxes"),
        )

    def _whole(self, original: Points) -> float:
        if not isinstance(self.max_area, str):
            return self.max_area
        box = bounding_box(original)
        return (box[1] - box[0]) * (box[3] - box[2]) if box else 0.0


def _share(area: Array, whole: float) -> Array:
    """Return areas as shares of the whole, at most 1; a box without area is nothing even of nothing."""
    return np.where(area > 0, np.minimum(area, whole) / whole if whole > 0 else 1.0, 0.0)


def _groups(published: Regions) -> Array:
    """Return for each trajectory the first one with the same boxes; -1 without boxes."""
    columns = [published.t_min, published.t_max]
    for name in ("x_min", "x_max", "y_min", "y_max"):
        bits = getattr(published, name) + 0.0  # so that 0 and -0 have the same bits
        bits.flags.writeable = False
        columns.append(bits.view(np.int64))
    return first_equal(published.offsets, tuple(columns))


def _printed(published: Regions, area: Array, whole: float, group: Array, lost: int) -> float | None:
    """Return the loss as Huo et al. print it: the boxes of a group once, and the samples of deleted trajectories."""
    if whole <= 0:
        return None
    first = np.repeat(group == np.arange(len(group)), np.diff(published.offsets))
    return finite(float(area[first].sum()) / whole + lost)


def _owners_share(original: Points, there: Array, kept: Array) -> float | None:
    """Return the share of people with a published trajectory, where it is known who they are."""
    if original.owners != "given" or not there.any():
        return None
    return len(np.unique(original.owner[there & kept])) / len(np.unique(original.owner[there]))


def _duration(published: Regions) -> float | None:
    """Return the average time of a box, in seconds or in the unit of plain integers."""
    if not published.n_rows:
        return None
    spans = published.t_max.astype(np.float64) - published.t_min.astype(np.float64)
    return finite(spans.mean() * (seconds_per_unit(published.time_format) or 1.0))
