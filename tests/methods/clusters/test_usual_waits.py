"""Waits and steps that defaults are chosen from, against their definitions."""

from __future__ import annotations

from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.methods.clusters.usual_waits import people_at_once, usual_step, wait_for_people
from wayveil.model import Points

TRIPS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40), st.integers(0, 4)), min_size=1, max_size=9)
Drawn = list[tuple[int, int, int]]


def points(drawn: Drawn) -> Points:
    records = [[(a, 0.0, 0.0), (a + n, 1.0, 0.0)] for a, n, _ in drawn]
    return Points.from_records(records, owner=[who for _, _, who in drawn])


@settings(deadline=None, max_examples=150)
@given(TRIPS, st.integers(2, 4))
def test_waits_are_the_shortest_to_enough_other_people(drawn: Drawn, people: int) -> None:
    """Of each other person the trip whose middle is nearest; middles are whole numbers, so ties may be either's."""
    possible = []
    for a, n, who in drawn:
        middle = a + n // 2
        nearest: dict[int, list[tuple[int, int]]] = {}
        for b, length, other in drawn:
            if other != who:
                apart = abs(b + length // 2 - middle)
                nearest.setdefault(other, []).append((apart, apart - (n + length) // 2))
        best = sorted((min(trips)[0], trips) for trips in nearest.values())[: people - 1]
        waits = [{wait for apart, wait in trips if apart == least} for least, trips in best]
        ties = len(nearest) > people - 1 and sorted(min(t)[0] for t in nearest.values())[people - 1] == best[-1][0]
        if ties or any(len(one) > 1 for one in waits):
            return  # several trips are equally near: which one counts is not said
        possible.append(max([0, *(one.pop() for one in waits)]))
    assert wait_for_people(points(drawn), people) == float(f"{median(possible) / median(n for _, n, _ in drawn):.1g}")


@settings(deadline=None, max_examples=100)
@given(TRIPS)
def test_people_at_once(drawn: Drawn) -> None:
    times = {a for a, _, _ in drawn}
    assert people_at_once(points(drawn)) == max(len({w for a, n, w in drawn if a <= t <= a + n}) for t in times)


def test_nobody_and_single_points_take_no_time() -> None:
    assert wait_for_people(Points.from_records([]), 5) == 0.0
    assert wait_for_people(Points.from_records([[(1, 0.0, 0.0)]] * 3), 2) == 0.0
    assert usual_step(Points.from_records([[(1, 0.0, 0.0)]] * 3)) == 1
    assert people_at_once(Points.from_records([])) == 0
