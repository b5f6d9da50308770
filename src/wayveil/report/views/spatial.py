"""Where people are, before and after: the places with the most visits, or the busiest roads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wayveil.model import Chart, Series
from wayveil.model.data.ragged import IntArray
from wayveil.report.suppression import MIN_PEOPLE, count_people_by_code

__all__ = ["where"]

_MOST_PLACES = 20


def where(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return the chart of the most visited places, or of the busiest roads; None where there are no names.

    Of `before`, what has fewer than `MIN_PEOPLE` people is left out, and of `after` what has fewer than `fewest`.
    """
    if before.name_word == after.name_word == "roads":
        return _roads(before, after, names, fewest)
    if before.name_word == "places" and type(before) is type(after):
        return _places(before, after, names, fewest)
    return None


def _roads(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how many passages the busiest roads have."""
    network = before.network
    n = len(network)
    code = {name: i for i, name in enumerate(network.roads)}
    translate = np.array([code.get(name, -1) for name in after.network.roads], np.int64)
    passed = translate[after.road]
    # Raw numbers of few people are not shown; published ones are public already.
    people = count_people_by_code(before.road.astype(np.int64), before.row_owner(), n)
    shown = people >= MIN_PEOPLE
    raw = np.bincount(before.road, minlength=n)
    published = np.bincount(passed[passed >= 0], minlength=n)
    owner = after.row_owner()
    later_people = count_people_by_code(passed[passed >= 0], owner[passed >= 0], n)
    published[later_people < fewest] = 0
    drawn = np.flatnonzero((shown & (raw > 0)) | (published > 0))
    busiest = drawn[np.argsort(-np.where(shown, raw, 0)[drawn], kind="stable")[:_MOST_PLACES]]
    return _bars(
        "The busiest roads", network.roads, busiest, (raw, published), (people, later_people), names, "passages"
    )


def _places(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return the places with the most visits, before and after."""
    all_names, code, trajectory = before.places()
    later_names, later, later_trajectory = after.places()
    number = {name: i for i, name in enumerate(all_names)}
    more = [name for name in later_names if name not in number]
    known = (*all_names, *more)
    number |= {name: len(all_names) + i for i, name in enumerate(more)}
    translate = np.array([number[name] for name in later_names], np.int64)
    people = count_people_by_code(code, before.owner[trajectory], len(known))
    shown = people >= MIN_PEOPLE
    raw = np.bincount(code, minlength=len(known))
    later = translate[later] if len(later) else later
    published = np.bincount(later, minlength=len(known))
    # The largest on either side decides which places are shown.
    later_people = count_people_by_code(later, after.owner[later_trajectory], len(known))
    published[later_people < fewest] = 0
    weight = np.maximum(np.where(shown, raw, 0), published)
    drawn = np.argsort(-weight, kind="stable")[:_MOST_PLACES]
    drawn = drawn[weight[drawn] > 0]
    if len(drawn) == 0:
        return None
    return _bars("The most visited places", known, drawn, (raw, published), (people, later_people), names, "visits")


def _bars(
    title: str, known: Sequence[str], drawn: IntArray, counts: tuple[IntArray, IntArray],
    people: tuple[IntArray, IntArray], names: tuple[str, str], what: str,
) -> Chart:  # fmt: skip
    """Return bars of both counts, with the people behind each; of the original only where there are enough."""
    enough = (people[0] >= MIN_PEOPLE, counts[1] > 0)
    return Chart(
        title=title,
        kind="bars",
        labels=tuple(known[i] for i in drawn),
        series=(
            Series(
                name=names[0],
                values=tuple(float(counts[0][i]) if enough[0][i] else None for i in drawn),
                people=tuple(int(people[0][i]) if enough[0][i] else None for i in drawn),
            ),
            Series(
                name=names[1],
                values=tuple(float(counts[1][i]) for i in drawn),
                people=tuple(int(people[1][i]) if enough[1][i] else None for i in drawn),
            ),
        ),
        x_label=f"{what}; of the {names[0]} only where at least {MIN_PEOPLE} people were",
    )
