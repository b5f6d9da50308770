"""Some trajectories as the names of their places, place by place: the published ones, and the raw ones where asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model import Data
from wayveil.report.views.map_geometry import evenly

__all__ = ["ToldTrips", "tell_trips"]

_MOST_TOLD = 12
_MOST_PLACES = 16


@dataclass(frozen=True, kw_only=True)
class ToldTrips:
    """A table: the names of its columns, a row per trajectory with the places of each, and whether raw ones are in."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    raw: bool


def tell_trips(
    before: Data, after: Data, *, names: tuple[str, str], with_raw: bool, published: bool = True
) -> ToldTrips | None:
    """Return some published trajectories as names of places and, with `with_raw`, the same ones of the original.

    What was not published may be as telling as the original, and is not told without it.  None where neither has names.
    """
    if after.name_word != "places" or not isinstance(before, type(after)) or not (published or with_raw):
        return None
    with_rows = np.flatnonzero(after.nonempty)
    if not len(with_rows):
        return None
    picked = with_rows[evenly(len(with_rows), _MOST_TOLD)]
    chosen: list[tuple[str, Data]] = [(names[0], before)] if with_raw and len(before) == len(after) else []
    chosen.append((names[1], after))
    columns = [_place_names(data.take(picked)) for _, data in chosen]
    rows = tuple(tuple(row) for row in zip(*columns, strict=True))
    return ToldTrips(names=tuple(name for name, _ in chosen), rows=rows, raw=len(chosen) > 1)


def _place_names(data: Data) -> Sequence[str]:
    """Return the first places of each trajectory, and how many more there are."""
    places: Any = data.places()
    if places is None:
        return ["–"] * len(data)
    sentences = []
    for trajectory in range(len(data)):
        names = [places.names[code] for code in places.code[places.trajectory == trajectory].tolist()]
        more = len(names) - _MOST_PLACES
        words = (*names[:_MOST_PLACES], f"and {more:,} more") if more > 0 else tuple(names)
        sentences.append(" → ".join(words) or "–")
    return sentences
