"""Wait For Me: the worked pair, the whole method against its definition, blocks, and what is refused."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.clusters.offsets_in_disc import draw_ranks
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.w4m.w4m import W4m, _blocks, _hilbert, _time_as_length
from wayveil.model import Frame, KDelta, MethodResult, Points
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

PAIR = json.loads((Path(__file__).parents[2] / "golden" / "w4m" / "pair.json").read_text())
Record = list[tuple[int, float, float]]


def run(method: W4m, data: Points, seed: int = 0, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(seed), engine=LocalEngine(workers=workers))


def records_of(data: Points) -> list[Record]:
    return [data.record(i) for i in range(len(data))]


def drawn_order(data: Points, seed: int) -> list[int]:
    """Return the order in which trajectories become pivots: the only thing that chance decides."""
    rows = TrajectoryRows(begin=data.offsets[:-1], end=data.offsets[1:], columns=(data.t, data.x, data.y))
    rank = draw_ranks(rows, data.frame, np.random.default_rng(seed).bytes(32))
    return np.argsort(rank, kind="stable").tolist()


def leading(data: Points, pivot: int) -> int:
    """Return a seed with which this trajectory is the first pivot."""
    return next(seed for seed in range(1000) if drawn_order(data, seed)[0] == pivot)


@pytest.mark.parametrize("case", ["edr", "edr_delete", "lstd", "lstd_longer"])
def test_the_worked_pair(case: str) -> None:
    found = PAIR[case]
    pivot, member = ([tuple(row) for row in PAIR[name]] for name in ("pivot", found["member"]))
    data = Points.from_records([pivot, member])
    more: dict[str, Any] = {"radius_max": 20}
    if case.startswith("edr"):
        dx, dy, dt = found["tolerances"]
        # a duration is at least 1, and here nothing lies between 0 and 1
        more |= {"distance": "edr", "radius_max": 3, "edr_dx": dx, "edr_dy": dy, "edr_dt": max(dt, 1)}
    else:  # time must count as in the example: at speed 1
        more["t2s_factor"] = float(np.ptp(_time_as_length(data, 1.0)) / np.ptp(data.t))
    made = run(W4m(k=2, delta=found["delta"], placement="nearest", **more), data, leading(data, 0))
    assert made.data.record(0) == pivot
    assert np.allclose(made.data.record(1), found["published"], atol=1e-9)
    names = ("total translation (m)", "total time translation", "points created", "points deleted")
    expected = [found[name] for name in ("translation", "time", "created", "deleted")]
    assert [made.facts[name] for name in names] == pytest.approx(expected, abs=1e-9)
    assert made.claim == KDelta(k=2, delta=found["delta"])


# the method from its definition


def lstd_pairs(p: Any, q: Any, unit: float, cap: int) -> tuple[list[tuple[int, int]], int]:
    def cost(pair: tuple[int, int]) -> int:
        (px, py, ps), (qx, qy, qs) = p[pair[0]], q[pair[1]]
        units = math.sqrt((px - qx) ** 2 + (py - qy) ** 2 + (ps - qs) ** 2) / unit
        assume(units > cap + 1 or units == int(units) or abs(units - round(units)) > 1e-6)
        return min(int(units), cap)

    i = j = 0
    pairs = [(0, 0)]
    while (i, j) != (len(p) - 1, len(q) - 1):
        if i + 1 < len(p) and j + 1 < len(q):
            i, j = min([(i + 1, j + 1), (i, j + 1), (i + 1, j)], key=cost)
        else:
            i, j = min(i + 1, len(p) - 1), min(j + 1, len(q) - 1)
        pairs.append((i, j))
    return pairs, sum(map(cost, pairs))


def edr_script(q: Record, p: Record, limits: tuple[float, float, float]) -> tuple[int, str]:
    def same(i: int, j: int) -> bool:
        off = (abs(q[i][1] - p[j][1]), abs(q[i][2] - p[j][2]), abs(q[i][0] - p[j][0]))
        return all(a <= b for a, b in zip(off, limits, strict=True))

    @cache
    def far(i: int, j: int) -> int:
        if i == len(q) or j == len(p):
            return len(q) - i + len(p) - j
        return min(far(i + 1, j) + 1, far(i, j + 1) + 1, far(i + 1, j + 1) + (not same(i, j)))

    i = j = 0
    steps = ""
    while i < len(q) or j < len(p):
        if i == len(q):
            step = "+"
        elif j == len(p):
            step = "-"
        elif same(i, j):
            step = "="
        else:
            order = [("#", far(i + 1, j + 1)), ("+", far(i, j + 1)), ("-", far(i + 1, j))]
            step = min(order, key=lambda one: one[1])[0]
        steps, i, j = steps + step, i + (step != "+"), j + (step != "-")
    return far(0, 0), steps


def clamp(x: float, y: float, cx: float, cy: float, half: float) -> tuple[float, float]:
    far = math.dist((x, y), (cx, cy))
    return (x, y) if far <= half else (cx + (x - cx) * half / far, cy + (y - cy) * half / far)


def keep_share(members: list[int], owner: list[int], far: Any, pivot: int, share: Fraction) -> list[int]:
    """Leave out the farthest of whoever owns more than a share; the pivot stays."""
    counts = Counter(owner[i] for i in members)
    most = max(counts.values())
    while most > share * sum(min(n, most) for n in counts.values()):
        most -= 1
    stay = []
    for person in counts:
        own = sorted((i for i in members if owner[i] == person), key=lambda i: (i != pivot, far(i), i))
        stay += own[:most]
    return sorted(stay)


class Oracle:
    """Everything from the definitions, for one block."""

    def __init__(self, method: W4m, records: list[Record], owner: list[int]) -> None:
        self.method, self.records, self.owner = method, records, owner
        rows = [r for record in records for r in record]
        self.radius = 1.0 if method.distance == "edr" else 10.0
        if method.radius_max != "auto":
            self.radius = float(method.radius_max)
        self.unit = method.delta or 0.001 * self.radius or 1.0
        speeds = [sum(math.dist(a[1:], b[1:]) for a, b in itertools.pairwise(r)) / (r[-1][0] - r[0][0])
                  for r in records if len(r) > 1]  # fmt: skip
        speed = sum(speeds) / len(speeds) / method.t2s_factor if speeds else 0.0
        start = min(r[0] for r in rows)
        self.points = [[(a, b, (t - start) * speed) for t, a, b in r] for r in records]
        gaps = [b[0] - a[0] for r in records for a, b in itertools.pairwise(r)]
        self.limits = (method.delta, method.delta, int(median(gaps)) if gaps else 0)

    def key(self, p: int, q: int) -> tuple[float, float]:
        if self.method.distance == "edr":
            mean = [[sum(r[a] for r in self.records[i]) / len(self.records[i]) for a in (1, 2)] for i in (p, q)]
            return edr_script(self.records[q], self.records[p], self.limits)[0], round(math.dist(*mean), 6)
        pairs, cost = lstd_pairs(self.points[p], self.points[q], self.unit, self.method.cap)
        return cost, max(math.dist(self.points[p][i][:2], self.points[q][j][:2]) for i, j in pairs)

    def clusters(self, order: list[int], radius: float) -> dict[int, list[int]]:
        n, k = len(self.records), self.method.k
        key = {(p, q): self.key(p, q) for p in range(n) for q in range(n)}
        test = 0 if self.method.distance == "edr" else 1
        unvisited, found = set(range(n)), {}
        for pivot in order:
            if pivot not in unvisited:
                continue
            taken, met = [pivot], {self.owner[pivot]}
            for i in sorted(unvisited - {pivot}, key=lambda i: (key[pivot, i], i)):
                if len(met) < k and self.owner[i] not in met:
                    taken.append(i)
                    met.add(self.owner[i])
            if len(met) == k and all(key[pivot, i][test] <= radius * (1 + 1e-12) for i in taken):
                found[pivot] = taken
                unvisited -= set(taken)
        for i in sorted(unvisited):
            if found:
                nearest = min(sorted(found), key=lambda p: (key[p, i], p))
                if key[nearest, i][test] <= radius * (1 + 1e-12):
                    found[nearest].append(i)
        return found

    def shared(self, clusters: dict[int, list[int]]) -> dict[int, list[int]]:
        """Return the clusters without what their owners have too many of."""
        middles = [[sum(r[a] for r in record) / len(record) for a in (1, 2)] for record in self.records]
        share = Fraction(1, self.method.k)
        return {
            p: keep_share(members, self.owner, lambda i, p=p: math.dist(middles[i], middles[p]), p, share)
            for p, members in clusters.items()
        }

    def edit(self, p: int, q: int) -> tuple[Record, list[float]]:
        """Return the published trajectory of q along p, and way, time, created and deleted."""
        pivot, own, half = self.records[p], self.records[q], self.method.delta / 2
        made, done, source = [], [0.0, 0.0, 0, 0], []
        if p == q:
            source = [(i, True) for i in range(len(pivot))]
        elif self.method.distance == "edr":
            i = 0
            for step in edr_script(own, pivot, self.limits)[1]:
                if step == "-":
                    done[3] += 1
                else:
                    source.append((i, True) if step in "=#" else (max(i - 1, 0), False))
                    done[2] += step == "+"
                i += step != "+"
        else:
            match: dict[int, int] = {}
            for i, j in lstd_pairs(self.points[p], self.points[q], self.unit / 2, self.method.cap)[0]:
                match.setdefault(i, j)
            source = [(match[i], True) for i in range(len(pivot))]
            done[2:] = max(0, len(pivot) - len(own)), max(0, len(own) - len(pivot))
        for (t, x, y), (j, real) in zip(pivot, source, strict=True):
            made.append((t, *clamp(own[j][1], own[j][2], x, y, half)))
            if real:
                done[0] += max(0.0, math.dist(own[j][1:], (x, y)) - half)
                done[1] += abs(own[j][0] - t)
        return made, done


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Record], list[int]]:
    n, span = draw(st.integers(2, 7)), draw(st.sampled_from([3, 12, 50]))
    records = []
    for _ in range(n):
        times = sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=4)))
        cells = st.tuples(st.integers(0, span), st.integers(0, span))
        places = draw(st.lists(cells, min_size=len(times), max_size=len(times)))
        records.append([(t, float(a), float(b)) for t, (a, b) in zip(times, places, strict=True)])
    return records, draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) if draw(st.booleans()) else list(
        range(n)
    )


@pytest.mark.parametrize("distance", ["lstd", "edr"])
def test_the_whole_method_in_one_block(distance: str) -> None:
    @settings(deadline=None, max_examples=100, derandomize=True)
    @given(scenes(), st.integers(2, 3), st.sampled_from([0.0, 2.0, 9.0]), st.integers(0, 5),
           st.sampled_from(["0", "0.3"]), st.sampled_from(["auto", 2.0]))  # fmt: skip
    def check(scene: Any, k: int, delta: float, seed: int, trash: str, radius_max: float | str) -> None:
        records, owner = scene
        assume(len(set(owner)) >= k)
        method = W4m(k=k, delta=delta, placement="nearest", distance=distance, trash_max=trash, radius_max=radius_max,
                     cap=4, t2s_factor=2)  # fmt: skip
        data = Points.from_records(records, owner=owner)
        order, there = drawn_order(data, seed), list(range(len(records)))
        allowed = Fraction(trash) * len(records)
        while True:
            oracle = Oracle(method, [records[i] for i in there], [owner[i] for i in there])
            radius, restarts = oracle.radius, 0
            while True:
                clusters = oracle.clusters([there.index(i) for i in order if i in there], radius)
                inside = {i for members in clusters.values() for i in members}
                if len(there) - len(inside) <= allowed:
                    break
                radius, restarts = radius * 1.5, restarts + 1
            if len(there) == len(inside):
                break
            there, allowed = [number for i, number in enumerate(there) if i in inside], Fraction(0)
        assume(there)
        outliers = len(records) - len(there)
        clusters = oracle.shared(clusters)
        extra = len(there) - sum(map(len, clusters.values()))
        expected: list[Record] = [[] for _ in records]
        total = np.zeros(4)
        for pivot, members in clusters.items():
            for q in members:
                expected[there[q]], done = oracle.edit(pivot, q)
                total += done
        made = run(method, data, seed)
        found = records_of(made.data)
        assert [len(r) for r in found] == [len(r) for r in expected]
        assert all(np.allclose(a, b, rtol=0, atol=1e-9) for a, b in zip(found, expected, strict=True) if a)
        assert made.facts["restarts"] == restarts
        unit = "m" if distance == "lstd" else "edits"
        assert made.facts[f"radius used ({unit})"] == pytest.approx(radius)
        assert made.facts["clusters"] == len(clusters)
        names = ("total translation (m)", "total time translation", "points created", "points deleted")
        assert [made.facts[name] for name in names] == pytest.approx(total.tolist(), abs=1e-9)
        assert made.facts["trash: outliers"] == outliers
        assert made.facts["trash: more than the share of one person"] == extra
        assert check_kdelta(made.data, made.claim).holds
        if delta == 0:
            assert all(found[there[q]] == records[there[p]] for p, members in clusters.items() for q in members)

    check()


def movers(n: int, m: int, seed: int = 5) -> Points:
    rng = np.random.default_rng(seed)
    hubs = rng.uniform(0, 9000, (4, 2))
    a, b = (hubs[rng.integers(0, 4, n)] + rng.normal(0, 300, (n, 2)) for _ in range(2))
    u = np.linspace(0, 1, m)
    x, y = (a[:, i, None] + (b - a)[:, i, None] * u for i in range(2))
    t = np.arange(m) * 60 + rng.integers(0, 600, (n, 1))
    return Points(offsets=np.arange(n + 1) * m, t=t.ravel(), x=x.ravel(), y=y.ravel(), owner=rng.integers(0, n // 2, n),
                  owners="given", time_format="epoch")  # fmt: skip


@pytest.mark.parametrize("pivot", ["random", "farthest"])
@pytest.mark.parametrize("distance", ["lstd", "edr"])
def test_blocks_workers_and_seeds(distance: str, pivot: str) -> None:
    data = movers(130, 6)
    method = W4m(k=3, delta=400, chunk_size=40, distance=distance, pivot=pivot)
    one, two = (run(method, data, 1, workers) for workers in (1, 2))
    assert records_of(one.data) == records_of(two.data)
    assert one.facts == two.facts
    assert one.facts["blocks"] == 4
    assert one.facts["trash: outliers"] <= 13
    assert check_kdelta(one.data, one.claim).holds
    assert records_of(one.data) != records_of(run(method, data, 2).data)


def test_farthest_pivots_make_other_clusters() -> None:
    data = movers(60, 5)
    found = [records_of(run(W4m(k=3, delta=400, pivot=pivot), data).data) for pivot in ("random", "farthest")]
    assert found[0] != found[1]


def test_blocks_hold_everybody_once_in_the_order_of_the_input() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 100, (2, 1003))
    held = np.flatnonzero(rng.random(1003) < 0.9)
    blocks = _blocks(x, y, held, 100)
    assert len(blocks) == -(-len(held) // 100)
    assert max(map(len, blocks)) <= 100
    assert min(map(len, blocks)) >= max(map(len, blocks)) - 1
    assert all((np.diff(block) > 0).all() for block in blocks)
    assert sorted(np.concatenate(blocks)) == held.tolist()
    spread = [np.ptp(x[b]) * np.ptp(y[b]) for b in blocks]
    assert np.mean(spread) < 0.35 * 100 * 100  # of the whole square: blocks lie near each other


def test_the_hilbert_curve_visits_neighbours() -> None:
    side = 16
    a, b = (v.ravel() for v in np.meshgrid(np.arange(side), np.arange(side)))
    order = np.argsort(_hilbert(a.astype(float), b.astype(float)))
    steps = np.abs(np.diff(a[order])) + np.abs(np.diff(b[order]))
    assert (steps == 1).all()
    assert len(set(_hilbert(a.astype(float), b.astype(float)).tolist())) == side * side
    assert _hilbert(np.zeros(3), np.zeros(3)).tolist() == [0, 0, 0]


def test_time_counts_at_the_mean_speed() -> None:
    data = Points.from_records([[(10, 0.0, 0.0), (12, 6.0, 8.0)], [(5, 0.0, 0.0), (6, 1.0, 0.0), (7, 0.0, 0.0)],
                                [(9, 3.0, 3.0)], []])  # fmt: skip
    assert _time_as_length(data, 1.0).tolist() == [15.0, 21.0, 0.0, 3.0, 6.0, 12.0]
    assert _time_as_length(data, 3.0).tolist() == [5.0, 7.0, 0.0, 1.0, 2.0, 4.0]
    assert _time_as_length(Points.from_records([[(9, 3.0, 3.0)]]), 1.0).tolist() == [0.0]


def test_among_equal_distances_the_nearer_one_is_taken() -> None:
    """All are beyond the cap, so all cost the same; in the order of the input the last would be left over."""
    data = Points.from_records([[(0, 0.0, 0.0)], [(0, 900.0, 0.0)], [(0, 910.0, 0.0)], [(0, 100.0, 0.0)]])
    for distance in ("lstd", "edr"):
        method = W4m(k=2, delta=0.5, placement="nearest", distance=distance, trash_max=0)
        made = run(method, data, leading(data, 0)).data
        assert np.allclose([made.record(i)[0][1] for i in (0, 3)], [0.0, 0.25])
        assert max(abs(made.record(i)[0][1] - 905) for i in (1, 2)) <= 5


def test_time_is_told_in_seconds_where_that_is_known() -> None:
    records = [[(0, 0.0, 0.0)], [(5_000_000, 0.0, 0.0)]]
    assert run(W4m(k=2, delta=1), Points.from_records(records, time_format="utc")).facts[
        "total time translation (s)"
    ] == pytest.approx(5.0)
    assert run(W4m(k=2, delta=1), Points.from_records(records)).facts["total time translation"] == 5e6


def test_edr_tolerances() -> None:
    data = Points.from_records(
        [[(0, 0.0, 0.0), (60, 9.0, 0.0)], [(20, 1.0, 2.0), (140, 9.0, 0.0)]], time_format="epoch"
    )
    assert W4m(delta=4)._tolerances(data) == (4.0, 4.0, 90)
    assert W4m(delta=4, edr_dx=1, edr_dy="2", edr_dt="2min")._tolerances(data) == (1.0, 2.0, 120)
    assert W4m(delta=4)._tolerances(Points.from_records([[(3, 0.0, 0.0)]])) == (4.0, 4.0, 0)


def test_blocks_of_too_few_people_are_trash() -> None:
    near = [[(0, float(i), 0.0)] for i in range(4)]
    far = [[(0, 1000.0 + i, 1000.0)] for i in range(4)]
    data = Points.from_records([*near, *far], owner=[0, 0, 0, 0, 1, 2, 3, 4])
    made = run(W4m(k=2, delta=1, chunk_size=4), data)
    assert [len(r) for r in records_of(made.data)] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert made.facts["trash: too few people in the class"] == 4
    with pytest.raises(InputError, match="no block of 4 trajectories holds k = 5 people"):
        run(W4m(k=5, delta=1, chunk_size=4), data)


def test_degrees_stay_within_delta_when_written_and_read_back() -> None:
    rng = np.random.default_rng(2)
    lon, lat = 23.7 + rng.normal(0, 0.01, 200), 38.0 + rng.normal(0, 0.01, 200)
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    data = Points(offsets=np.arange(0, 201, 8), t=np.tile(np.arange(8), 25), x=x, y=y, owner=np.arange(25), frame=frame)
    made = run(W4m(k=25, delta=300, placement="nearest", trash_max=0), data).data
    back_x, back_y = frame.to_metres(*frame.to_file(made.x, made.y))
    far = [np.hypot(back_x[i::8, None] - back_x[i::8], back_y[i::8, None] - back_y[i::8]).max() for i in range(8)]
    assert max(far) <= 300
    assert max(far) > 280


@pytest.mark.parametrize("shift", [0.0, 1e12])
@pytest.mark.parametrize(("delta", "placement"), [(0.0, "random"), (30.0, "random"), (30.0, "nearest")])
def test_huge_coordinates_and_everybody_at_one_place(shift: float, delta: float, placement: str) -> None:
    rng = np.random.default_rng(7)
    records = [[(t, shift + float(rng.normal(0, 99)), -shift) for t in range(1 + i % 4)] for i in range(12)]
    made = run(W4m(k=12, delta=delta, placement=placement, trash_max=0), Points.from_records(records))
    assert len({len(r) for r in records_of(made.data)}) == 1
    assert check_kdelta(made.data, made.claim).holds
    for distance in ("lstd", "edr"):
        method = W4m(k=2, delta=delta, placement=placement, distance=distance)
        same = records_of(run(method, Points.from_records([[(0, 0.1, 0.7)]] * 9)).data)
        if delta == 0 or placement == "nearest":
            assert same == [[(0, 0.1, 0.7)]] * 9
        else:
            assert len({tuple(record) for record in same}) == 9
            assert max(math.dist(record[0][1:], (0.1, 0.7)) for record in same) <= 15 * (1 + 1e-12)


def test_empty_trajectories_owners_and_attributes_stay() -> None:
    data = Points.from_records([[], [(0, 0.0, 0.0)], [(3, 1.0, 0.0), (4, 1.0, 0.0)], []], owner=[3, 1, 2, 1],
                               attributes={"car": ["a", "b", None, "a"]})  # fmt: skip
    made = run(W4m(k=2, delta=0), data)
    assert [len(r) > 0 for r in records_of(made.data)] == [False, True, True, False]
    assert made.data.owner.tolist() == [3, 1, 2, 1]
    assert made.data.attributes["car"].values() == ["a", "b", None, "a"]
    assert made.facts["trajectories in trash"] == 0


def test_what_cannot_be_published_is_refused() -> None:
    with pytest.raises(InputError, match="w4m: k is 5, but the data holds points of 0 people"):
        run(W4m(delta=1), Points.from_records([]))
    with pytest.raises(InputError, match="no places in metres"):
        run(W4m(k=2, delta=1), Points.from_records([[(0, -2e15, 0.0)]] * 2))
    apart = Points.from_records([[(0, 0.0, 0.0)], [(0, 100.0, 0.0)]])
    with pytest.raises(InputError, match="every trajectory is an outlier"):
        run(W4m(k=2, delta=1, radius_max=1, trash_max=1), apart)
    with pytest.raises(InputError, match="edr_dt must be one"):
        run(W4m(k=2, delta=1, distance="edr", edr_dt="1min"), apart)
    for wrong, words in (({"radius_max": 0}, "radius_max must be larger than 0"),
                         ({"radius_growth": 1}, "radius_growth must be at least 1.01"),
                         ({"t2s_factor": 0}, "t2s_factor must be a number >= 1e-09"),
                         ({"chunk_size": 6000}, "chunk_size must be an integer from 2 to 5000"),
                         ({"distance": "dtw"}, "distance must be one of lstd, edr")):  # fmt: skip
        with pytest.raises(ParameterError, match=words):
            W4m(**{"delta": 1, **wrong})


@pytest.mark.parametrize("distance", ["lstd", "edr"])
def test_nobody_owns_more_than_the_share_of_a_cluster(distance: str) -> None:
    """Twenty trips of one person and one of another: with all of them published, 20 of 21 are one person's."""
    data = Points.from_records([[(i, 0.0, 0.0), (i + 9, float(i), 0.0)] for i in range(21)], owner=[*[0] * 20, 1])
    for delta in (0.0, 5.0):
        made = run(W4m(k=2, delta=delta, distance=distance, radius_max=50), data)
        kept = [i for i in range(21) if made.data.record(i)]
        assert len(kept) == 2
        assert 20 in kept
        assert made.facts["trash: more than the share of one person"] == 19
        assert check_kdelta(made.data, made.claim).holds


def test_the_pivot_of_a_cluster_stays_and_is_not_published_where_it_was() -> None:
    data = movers(60, 6)
    made = run(W4m(k=3, delta=400), data)
    for pivot in set(made.groups.tolist()) - {-1, -2, -4}:
        assert made.groups[pivot] == pivot
        true = np.array(data.record(pivot))[:, 1:]
        for i in np.flatnonzero(made.groups == pivot).tolist():
            off = np.array(made.data.record(i))[:, 1:] - true
            assert np.allclose(off, off[0])  # one offset for the whole trajectory
            assert 0 < math.hypot(*off[0]) <= 200 * (1 + 1e-12)


def test_a_cap_that_never_limits_keeps_people_of_one_day_together() -> None:
    """Ten units are one per cent of the first radius: with delta = 0 all pairs cost the same, whatever the day."""
    rng = np.random.default_rng(4)
    day = rng.integers(0, 7, 90) * 86_400
    records = [
        [(int(day[i]) + 60 * j, float(x), float(y)) for j, (x, y) in enumerate(np.cumsum(rng.normal(0, 99, (6, 2)), 0))]
        for i in range(90)
    ]
    data = Points.from_records(records, time_format="epoch")
    limited, auto = (run(W4m(k=3, delta=0, cap=cap), data) for cap in (10, "auto"))
    name = "time translation per point (s)"
    assert limited.facts[name] > 24 * 3600
    assert auto.facts[name] < 4 * 3600
    assert limited.facts["largest cost of a pair of points"] == 10
    assert auto.facts["largest cost of a pair of points"] > 400_000
    assert "largest cost of a pair of points" not in run(W4m(k=3, delta=9, distance="edr"), data).facts
    assert auto.facts[name] == pytest.approx(auto.facts["total time translation (s)"] / auto.data.n_rows)


def test_where_nobody_is_on_the_way_together_places_decide() -> None:
    """Two ways 5 km apart, each driven every other week: at the mean speed the nearest in time would be joined."""
    week = 7 * 86_400
    records = [[(n * week + t, 5000.0 * (n % 2) + 10.0 * n, 10.0 * t) for t in range(0, 600, 60)] for n in range(8)]
    data = Points.from_records(records, time_format="epoch")
    made = run(W4m(k=4, trash_max=0), data)
    assert {round(made.data.record(n)[0][1] / 5000) == n % 2 for n in range(8)} == {True}
    assert "hardly ever on the way at a time" in str(made.facts["chosen"])
    at_speed = run(W4m(k=4, trash_max=0, t2s_factor=1), data)
    assert "chosen" not in at_speed.facts
    assert at_speed.facts["total translation (m)"] > 10 * float(made.facts["total translation (m)"])
