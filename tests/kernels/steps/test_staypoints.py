"""Stays against their definition, word by word, with exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.steps.staypoints import stay_stretches

Row = tuple[int, int, int]
POINTS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=14)


def is_small(points: list[Row], radius: int) -> bool:
    return all(max(p[axis] for p in points) - min(p[axis] for p in points) <= 2 * radius for axis in (1, 2))


def mean(points: list[Row]) -> tuple[Fraction, Fraction]:
    return Fraction(sum(p[1] for p in points), len(points)), Fraction(sum(p[2] for p in points), len(points))


def near(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], radius: int) -> bool:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= radius**2


def oracle(rows: list[Row], radius: int, duration: int, strays: int, gap: int) -> list[tuple[int, int]]:
    """One stay after the other, as the page says it."""
    stays: list[tuple[int, int, list[Row], tuple[Fraction, Fraction]]] = []
    begin = 0
    while begin < len(rows):
        inside = [rows[begin]]
        last = begin
        for at in range(begin + 1, len(rows)):
            if at - last - 1 > strays:
                break
            here = (Fraction(rows[at][1]), Fraction(rows[at][2]))
            if near(here, mean(inside), radius) and is_small([*inside, rows[at]], radius):
                inside.append(rows[at])
                last = at
        if rows[last][0] - rows[begin][0] < duration:
            begin += 1
            continue
        before = stays[-1] if stays else None
        if (
            before is not None
            and rows[begin][0] - rows[before[1]][0] <= gap
            and near(mean(inside), before[3], radius)
            and is_small([*inside, *before[2]], radius)
        ):
            stays[-1] = (before[0], last, [*before[2], *inside], before[3])
        else:
            stays.append((begin, last, inside, mean(inside)))
        begin = last + 1
    return [(first, last) for first, last, _, _ in stays]


def is_close_call(rows: list[Row], radius: int) -> bool:
    """Whether a mean may be exactly as far as the radius, where rounding decides."""
    for begin in range(len(rows)):
        for end in range(begin + 1, len(rows) + 1):
            middle = mean(rows[begin:end])
            for p in rows:
                far = (p[1] - middle[0]) ** 2 + (p[2] - middle[1]) ** 2
                if abs(far - radius**2) < Fraction(1, 10**9):
                    return True
    return False


@settings(deadline=None, max_examples=150)
@given(POINTS, POINTS, st.integers(1, 3), st.integers(1, 12), st.integers(0, 2), st.integers(0, 12))
def test_stays_are_the_rule(
    one: list[Row], other: list[Row], radius: int, duration: int, strays: int, gap: int
) -> None:
    tracks = []
    for steps in (one, other):
        t = np.cumsum([step[0] for step in steps]).tolist()
        tracks.append([(when, x, y) for when, (_, x, y) in zip(t, steps, strict=True)])
    if any(is_close_call(track, radius) for track in tracks):
        radius_used = radius + 0.1234567  # no mean of so few whole numbers is so far
    else:
        radius_used = float(radius)
    rows = [row for track in tracks for row in track]
    t, x, y = (np.array(column) for column in zip(*rows, strict=True))
    first, last = stay_stretches(
        np.array([0, len(one), len(rows)]), t, x.astype(float), y.astype(float), radius_used, duration, strays, gap
    )
    exact = Fraction(radius_used)
    expected = [
        (a + shift, b + shift)
        for track, shift in zip(tracks, (0, len(one)), strict=True)
        for a, b in oracle(track, exact, duration, strays, gap)  # type: ignore[arg-type]
    ]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


def test_no_stay_is_wider_than_twice_the_radius() -> None:
    """Somebody who creeps along, 1 m a second for an hour, drags the mean along; the box does not grow."""
    t = np.arange(0, 3600, 30)
    first, last = stay_stretches(np.array([0, len(t)]), t, t.astype(float), np.zeros(len(t)), 100.0, 120, 3, 600)
    assert len(first) > 10
    assert (t[last] - t[first]).max() <= 200


def test_nothing() -> None:
    none = np.zeros(0)
    first, last = stay_stretches(np.array([0]), none.astype(np.int64), none, none, 10.0, 1, 0, 0)
    assert len(first) == len(last) == 0
