"""How large the published boxes are, and whom they left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.kernels.metrics.box_cover import smallest_cover
from wayveil.metrics.metric_base import OnBoxes
from wayveil.metrics.movement import Extent, check_comparable, extent, finite, sides, with_rows
from wayveil.metrics.stats import AREAS, average, distribution, time_amount
from wayveil.model import Boxes, Points, Score, parameter, seconds_per_unit
from wayveil.model.accumulators import Constant, Tally
from wayveil.model.data.ragged import take
from wayveil.model.numbers import amount, count, measure, share

__all__ = ["BoxLoss"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class BoxLoss(OnBoxes):
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

    O(samples + boxes) time and memory where the times of boxes do not overlap.  What is counted in pieces is as long as
    there are boxes of different areas and groups; it tells groups apart by a code of 128 bits made of their boxes.

    References
    ----------
    Zheng Huo, Yi Huang, Xiaofeng Meng: History trajectory privacy-preserving through graph partition.  MLBS 2011.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 2.0)], [(0, 10.0, 10.0)]])
    >>> after = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 2.0)], [(0, 0, 0.0, 1.0, 0.0, 2.0)], []])
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
    additive: ClassVar[bool] = True

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Boxes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: boxes and samples by area, groups by their boxes."""
        check_comparable(self.name, original, published, matched=True)
        area = (published.x_max - published.x_min) * (published.y_max - published.y_min)
        nonempty = with_rows(original)
        has_rows = with_rows(published)
        # Of the boxes that cover a sample's time, the smallest counts; -1 where none does.
        cover = smallest_cover(original.offsets, original.t, published.offsets, published.t_min, published.t_max, area)
        given = original.owners == "given"
        return {
            "trajectories": int(nonempty.sum()),
            "published": int((nonempty & has_rows).sum()),
            # Nobody has trajectories in two pieces, so people can be added.
            "owners": len(np.unique(original.owner[nonempty])) if given else None,
            "owners_published": len(np.unique(original.owner[nonempty & has_rows])) if given else None,
            "lost_with_trajectory": int(np.diff(original.offsets)[~has_rows].sum()),
            "areas": Tally.of(area),
            "covers": Tally.of(cover),
            "groups": _groups(published, area),
            "time": float((published.t_max.astype(np.float64) - published.t_min.astype(np.float64)).sum()),
            "time_format": Constant(published.time_format),
            "extent": extent(original),
        }

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        areas = counts["areas"]
        covers = counts["covers"]
        groups = counts["groups"]
        boxes = areas.total
        samples = covers.total
        trajectories = counts["trajectories"]
        whole = self._whole(counts["extent"])
        # Samples without a box count as the whole area.
        area_share = np.where(covers.values < 0, 1.0, _share(covers.values, whole))
        per_sample = float((area_share * covers.counts).sum())
        trash = trajectories - counts["published"]
        return Score(
            name=self.name,
            meaning="mean area of the box that stands for a true sample, as a share of the whole; lost samples count 1",
            value=finite(per_sample / samples) if samples else None,
            better="lower",
            unit="share",
            numbers={
                "trajectories_published_share": share(
                    _ratio(counts["published"], trajectories), "Share of trajectories published"
                ),
                "owners_published_share": share(
                    _ratio(counts["owners_published"], counts["owners"]), "Share of people published"
                ),
                "samples_lost_share": share(
                    _ratio(int(covers.counts[covers.values < 0].sum()), samples), "Share of samples lost"
                ),
                "boxes": count(boxes, "Boxes", "boxes"),
                "average_box_m2": measure(average(areas), "m²", "Mean area of a box"),
                "middle_box_m2": measure(_middle(areas), "m²", "Median area of a box"),
                "largest_box_m2": measure(finite(areas.values[-1]) if boxes else None, "m²", "Largest box"),
                "average_box_duration": time_amount(
                    finite(counts["time"] / boxes * (seconds_per_unit(counts["time_format"].value) or 1.0))
                    if boxes
                    else None,
                    counts["time_format"].value,
                    "Mean duration of a box",
                ),
                "groups": count(len(groups), "Groups", "groups"),
                # Discernibility: everybody of a group is one of its size, and who was left out one of all.
                "discernibility": amount(int((groups.counts**2).sum()) + trash * trajectories, "Discernibility"),
                "information_given_up_per_sample": amount(finite(per_sample), "Information given up, sample by sample"),
                "information_given_up_printed": amount(
                    _printed(groups, whole, counts["lost_with_trajectory"]),
                    "Information given up, as printed in the paper",
                ),
                "whole_area_m2": measure(finite(whole), "m²", "Whole area"),
            },
            charts=distribution("Areas of the boxes", "area", AREAS, [("published boxes", areas)], "share of boxes"),
        )

    def _whole(self, box: Extent) -> float:
        if not isinstance(self.max_area, str):
            return self.max_area
        width, height = sides(box)
        return width * height


def _share(area: Array, whole: float) -> Array:
    """Return areas as shares of the whole, at most 1; a box without area is nothing even of nothing."""
    return np.where(area > 0, np.minimum(area, whole) / whole if whole > 0 else 1.0, 0.0)


def _groups(published: Boxes, area: Array) -> Tally:
    """Return how many trajectories have the same boxes, by a code of these boxes and the sum of their areas."""
    columns = [published.t_min, published.t_max]
    for name in ("x_min", "x_max", "y_min", "y_max"):
        bits = getattr(published, name) + 0.0  # so that 0 and -0 have the same bits
        bits.flags.writeable = False
        columns.append(bits.view(np.int64))
    # The group of a trajectory is the first one with the same boxes.
    group = first_equal(published.offsets, tuple(columns))
    sizes = np.bincount(group[group >= 0], minlength=1)
    first = np.flatnonzero(sizes)
    offsets, rows = take(published.offsets, first)
    if not len(rows):
        nothing = np.zeros(0, np.int64)
        return Tally(columns=(nothing, nothing, np.zeros(0)), counts=nothing)
    # Two codes of 64 bits each: blocks add groups by code, and two that are different must not meet.
    codes = [_codes([column[rows] for column in columns], offsets, seed) for seed in (1, 2)]
    order = np.lexsort(codes[::-1])
    areas = np.add.reduceat(area[rows], offsets[:-1])
    return Tally(columns=(*(code[order] for code in codes), areas[order]), counts=sizes[first][order])


def _codes(columns: list[Array], offsets: Array, seed: int) -> Array:
    """Return 64 bits for the rows of each trajectory, all of which have rows; other rows give other bits."""
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    code = _mixed(position.astype(np.uint64) + np.uint64(seed << 32))
    for column in columns:
        code = _mixed(code ^ column.view(np.uint64))
    codes: Array = np.add.reduceat(code, offsets[:-1]).view(np.int64)
    return codes


def _mixed(code: Array) -> Array:
    """Return bits that depend on all bits, with the multipliers of SplitMix64; overflow is what mixes."""
    code = (code + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return code ^ (code >> np.uint64(31))


def _printed(groups: Tally, whole: float, lost: int) -> float | None:
    """Return the loss as Huo et al. print it: the boxes of a group once, and the samples of deleted trajectories."""
    return finite(float(groups.columns[2].sum()) / whole + lost) if whole > 0 else None


def _ratio(part: int | None, of: int | None) -> float | None:
    return part / of if part is not None and of else None


def _middle(areas: Tally) -> float | None:
    """Return the median."""
    n = areas.total
    if not n:
        return None
    # The two middle values, by their positions in the running sum of counts.
    low, high = areas.values[np.searchsorted(np.cumsum(areas.counts), [(n - 1) // 2, n // 2], side="right")]
    return finite(low + (high - low) / 2)
