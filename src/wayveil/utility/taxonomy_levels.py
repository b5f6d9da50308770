"""How much a published stop still says: the levels of the taxonomy at which stops are, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Score, Series, Stops, check_parameters
from wayveil.utility.nodes import aligned_nodes

__all__ = ["TaxonomyLevels"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class TaxonomyLevels:
    """The share of stops at each level of the taxonomy; the headline is the share published at their own place.

    The level of a stop is the depth of its node: 0 for the root, which says nothing of the place.  All shares are of
    the original stops, so those of the publication and what was left out add up to 1.

    Notes
    -----
    A stop is published at its own place if it is at a leaf: nodes are only replaced by nodes above them.  A stop counts
    as sensitive if its node is; every other one is a quasi-identifier (QI), also one at the root.  O(stops) time.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food")])
    >>> before = Stops.from_records([["Bar", "Cafe"], ["Bar", "Cafe"]], taxonomy=tree)
    >>> after = Stops.from_records([["Food", "Cafe"], ["Place"]], taxonomy=tree)
    >>> score = TaxonomyLevels().run(before, after)
    >>> score.value, score.measured["root_share"], score.measured["left_out_share"]
    (0.25, 0.25, 0.25)
    """

    name: ClassVar[str] = "taxonomy_levels"
    summary: ClassVar[str] = "share of stops at each level of the taxonomy, before and after"
    accepts: ClassVar[type[Stops]] = Stops
    targets: ClassVar[tuple[type[Stops], ...]] = (Stops,)
    matched: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(self, original: Stops, published: Stops) -> Score:
        tree = original.taxonomy
        old, new = original.place.astype(np.int64), aligned_nodes(self.name, original, published)
        measured: dict[str, int | float | None] = {}
        charts: list[Chart] = []
        for part, kind in (("", None), ("qi_", False), ("sensitive_", True)):
            before, after = (nodes if kind is None else nodes[tree.sensitive[nodes] == kind] for nodes in (old, new))
            measured |= {
                f"{part}own_place_share": _share(int(tree.is_leaf[after].sum()), len(before)),
                f"{part}left_out_share": _share(max(0, len(before) - len(after)), len(before)),
            }
            if kind is None:
                measured["root_share"] = _share(int((after == tree.root).sum()), len(before))
            else:
                levels = [np.bincount(tree.depth[side], minlength=tree.height + 1).tolist() for side in (before, after)]
                for level, (n_before, n_after) in enumerate(zip(*levels, strict=True)):
                    measured[f"{part}level_{level}_share_before"] = _share(n_before, len(before))
                    measured[f"{part}level_{level}_share_after"] = _share(n_after, len(before))
                charts += _chart(kind, levels, len(before), len(after))
        return Score(
            name=self.name,
            meaning="share of the original stops that are published at their own place",
            value=measured["own_place_share"],
            better="higher",
            percent=True,
            measured=measured,
            charts=tuple(charts),
        )


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


def _chart(sensitive: bool, levels: list[list[int]], n_before: int, n_after: int) -> list[Chart]:
    """Return the levels of one kind of stops, the root first, and what was left out."""
    if not n_before:
        return []
    left_out = max(0, n_before - n_after)
    return [
        Chart(
            title="Levels of sensitive stops" if sensitive else "Levels of stops that are not sensitive",
            kind="bars",
            labels=("0: root", *(str(level) for level in range(1, len(levels[0]))), "left out"),
            series=tuple(
                Series(name=name, values=tuple(count / n_before for count in (*counts, gone)))
                for name, counts, gone in zip(("original", "published"), levels, (0, left_out), strict=True)
            ),
            x_label="level in the taxonomy",
            y_label="share of original stops",
            percent=True,
        )
    ]
