"""How much a published stop still says: the levels of the taxonomy at which stops are, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.metrics.metric_base import OnStops
from wayveil.metrics.stops.nodes import aligned_nodes
from wayveil.model import Chart, Number, Score, Series, Stops
from wayveil.model.numbers import relative, share

__all__ = ["TaxonomyLevels"]

_KINDS = (("qi_", False), ("sensitive_", True))
_STOPS = {"": "stops", "qi_": "stops that are not sensitive", "sensitive_": "sensitive stops"}


@dataclass(frozen=True, kw_only=True)
class TaxonomyLevels(OnStops):
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
    additive: ClassVar[bool] = True

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: stops per level, those at leaves and at the root."""
        tree = original.taxonomy
        old = original.place.astype(np.int64)
        new = aligned_nodes(self.name, original, published)
        counts: dict[str, Any] = {"root": int((new == tree.root).sum())}
        for part, kind in _KINDS:
            before, after = (nodes[tree.sensitive[nodes] == kind] for nodes in (old, new))
            levels = tuple(np.bincount(tree.depth[side], minlength=tree.height + 1) for side in (before, after))
            counts[part] = {"levels": levels, "leaves": int(tree.is_leaf[after].sum())}
        return counts

    def score(self, counts: Mapping[str, Any]) -> Score:
        numbers: dict[str, Number] = {}
        charts: list[Chart] = []
        parts = {part: tuple(int(side.sum()) for side in counts[part]["levels"]) for part, _ in _KINDS}
        # All stops are those that are sensitive and those that are not.
        parts = {"": tuple(sum(sides) for sides in zip(*parts.values(), strict=True)), **parts}
        for part, (before, after) in parts.items():
            leaves = sum(counts[kind]["leaves"] for kind, _ in _KINDS if part in ("", kind))
            numbers |= {
                # Shares of the original: with dummies, or stops that were added, they may exceed 1, hence a relative
                # number.
                f"{part}own_place_share": relative(
                    _share(leaves, before), f"Share of {_STOPS[part]} at their own place"
                ),
                f"{part}left_out_share": share(
                    _share(max(0, before - after), before), f"Share of {_STOPS[part]} left out"
                ),
            }
            if not part:
                numbers["root_share"] = relative(_share(counts["root"], before), "Share of stops that are anywhere")
                continue
            levels = [side.tolist() for side in counts[part]["levels"]]
            for level, (n_before, n_after) in enumerate(zip(*levels, strict=True)):
                numbers[f"{part}level_{level}_share_before"] = share(
                    _share(n_before, before), f"Share of {_STOPS[part]} at level {level} before"
                )
                numbers[f"{part}level_{level}_share_after"] = relative(
                    _share(n_after, before), f"Share of {_STOPS[part]} at level {level} after"
                )
            charts += _chart(dict(_KINDS)[part], levels, before, after)
        return Score(
            name=self.name,
            meaning="share of the original stops that are published at their own place",
            value=numbers["own_place_share"].value,
            better="higher",
            unit="relative",
            numbers=numbers,
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
