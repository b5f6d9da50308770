"""Stretches of low speed: the growing restated with exact numbers, on many small random tracks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from wayveil.kernels.steps.stop_detection import Steps, slow_stretches


def stretches(way: list[int], time: list[int], share: Fraction, most: Fraction, stay: int) -> list[tuple[int, int]]:
    """First and last points, in the order in which the stretches are found."""
    n = len(way)
    if n == 0:
        return []
    mean = Fraction(sum(way), sum(time))
    speed = [Fraction(w, t) for w, t in zip(way, time, strict=True)]
    taken: set[int] = set()
    tried: set[int] = set()
    found = []
    for seed in sorted(range(n), key=lambda i: (speed[i], i)):
        if seed in taken | tried or speed[seed] > min(share, most) * mean:
            continue
        first, last = seed, seed
        while True:
            beside = [i for i in (first - 1, last + 1) if 0 <= i < n and i not in taken and speed[i] <= most * mean]
            for i in sorted(beside, key=lambda i: (speed[i], i)):
                low, high = min(first, i), max(last, i) + 1
                if sum(way[low:high]) <= share * mean * sum(time[low:high]):
                    first, last = low, high - 1
                    break
            else:
                break
        steps = set(range(first, last + 1))
        if sum(time[first : last + 1]) >= stay:
            taken |= steps
            found.append((first, last + 1))
        else:
            tried |= steps
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("share", "most"), [(0.5, 1.0), (0.75, 1.5), (0.5, 4.0), (1.0, 0.75)])
def test_the_stretches_are_those_of_the_rule(seed: int, share: float, most: float) -> None:
    """Several seeds at once are one data set: nothing goes from one track to the next."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 16, 150)
    offsets = np.append(0, np.cumsum(sizes))
    n = int(offsets[-1])
    t = rng.integers(1, 9, n).cumsum()
    length = rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 12, 20, 40], n).astype(float)
    trajectory = np.repeat(np.arange(len(sizes)), sizes)
    length[offsets[1:][sizes > 0] - 1] = 1e9  # the last row of a track begins no step
    step = np.flatnonzero(trajectory[1:] == trajectory[:-1])
    speed = np.zeros(n)
    speed[step] = length[step] / (t[step + 1] - t[step])
    order = step[np.lexsort((speed[step], trajectory[step]))]
    stay = 12
    first, last = slow_stretches(offsets, Steps(trajectory, t, length, speed, order), share, most, stay)
    expected = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        way = [int(w) for w in length[begin : end - 1]] if end > begin else []
        time = np.diff(t[begin:end]).tolist()
        expected += [(begin + a, begin + b) for a, b in stretches(way, time, Fraction(share), Fraction(most), stay)]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected
    assert len(expected) > 20
