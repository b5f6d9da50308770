"""Never Walk Alone: the worked example, the whole method against its definition, and what is refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.clusters.offsets_in_disc import draw_ranks
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.nwa.nwa import Nwa, _cut, _sketches, classes_of
from wayveil.model import Coded, Frame, KDelta, MethodResult, Points
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

GOLDEN = Path(__file__).parents[2] / "golden" / "nwa"
Record = list[tuple[int, float, float]]


def run(method: Nwa, data: Points, seed: int = 0, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(seed), engine=LocalEngine(workers=workers))


def records_of(data: Points) -> list[Record]:
    return [data.record(i) for i in range(len(data))]


def close(found: list[Record], expected: Any, atol: float = 1e-9) -> bool:
    return [len(r) for r in found] == [len(r) for r in expected] and all(
        np.allclose(a, b, rtol=0, atol=atol) for a, b in zip(found, expected, strict=True) if a
    )


@pytest.fixture(scope="module")
def five() -> dict[str, Any]:
    return json.loads((GOLDEN / "five.json").read_text())


def five_points(five: dict[str, Any]) -> Points:
    return Points.from_records([[tuple(row) for row in r] for r in five["records"]])


@pytest.mark.parametrize("seed", range(6))
def test_the_worked_example(five: dict[str, Any], seed: int) -> None:
    """Whichever trajectory is the first pivot."""
    method = Nwa(**{name: five[name] for name in ("k", "delta", "radius_max", "trash_max")}, placement="nearest")
    made = run(method, five_points(five), seed)
    assert close(records_of(made.data), five["published"])
    assert made.claim == KDelta(k=2, delta=2)
    assert {name: pytest.approx(value) for name, value in five["facts"].items()} == made.facts
    assert records_of(made.data)[2:4] == [[tuple(row) for row in r] for r in five["records"][2:4]]
    strict = run(Nwa(k=2, delta=0, radius_max=5, trash_max="1/5"), five_points(five), seed)
    assert records_of(strict.data) == [[tuple(row) for row in r] for r in five["delta_0"]]
    grown = run(replace(method, radius_max=five["grown"]["radius_max"]), five_points(five), seed)
    assert grown.facts["radius used (m)"] == five["grown"]["radius_used"]
    assert grown.facts["restarts"] == five["grown"]["restarts"]
    assert records_of(grown.data) == records_of(made.data)


def test_what_is_not_promised(five: dict[str, Any]) -> None:
    """The nearest published point is everybody's own, and a partner can be more than delta from the truth."""
    data = five_points(five)
    made = run(Nwa(k=2, delta=2, placement="nearest", radius_max=5, trash_max="1/5"), data)
    published = [r for r in records_of(made.data) if r]
    guess = [min(range(4), key=lambda j: math.dist(data.record(i)[0][1:], published[j][0][1:])) for i in range(4)]
    assert guess == five["nearest_published_at_0"]
    partner = five["partner"]
    assert math.dist(data.record(partner["true"])[0][1:], published[partner["published"]][0][1:]) == pytest.approx(
        partner["distance_at_0"]
    )


def test_cutting_to_multiples_of_pi() -> None:
    golden = json.loads((GOLDEN / "pi.json").read_text())
    spans = [[(t, float(t), float(i)) for t in range(a, b + 1)] for i, (a, b) in enumerate(golden["spans"])]
    data = Points.from_records(spans)
    begin, end = _cut(data, np.ones(len(data), bool), golden["pi"])
    assert [[int(a - o), int(b - o)] for a, b, o in zip(begin, end, data.offsets[:-1], strict=True)] == golden["rows"]
    members, first = classes_of(data.t, begin, end)
    assert len(first) - 1 == len(golden["classes"])
    assert sorted([int(data.t[begin[m]]), int(data.t[end[m] - 1])] for m in members) == golden["classes"]
    twice = Points.from_records(spans * 2)
    made = run(Nwa(k=2, delta=0, pi="5"), twice)
    assert [[r[0][0], r[-1][0]] if r else [] for r in records_of(made.data)] == [[5, 10], [5, 15], []] * 2
    assert made.facts["trash: cut off by pi"] == 2
    assert made.facts["points cut off by pi"] == 8
    assert made.facts["points in trash"] == 6
    assert made.facts["trajectories in trash"] == 2
    assert made.facts["discernibility"] == 4 + 4 + 2 * 6
    whole = run(Nwa(k=2), twice)
    assert whole.facts["points cut off by pi"] == 0
    assert records_of(whole.data) == spans * 2


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 25), st.integers(0, 3)), min_size=4, max_size=9))
def test_the_automatic_pi_keeps_most_points(drawn: list[tuple[int, int, int]]) -> None:
    """Against every time that is tried, by definition: points from the first multiple to the last, in large classes."""
    spans = [list(range(a, a + n)) for a, n, _ in drawn]
    owners = [who for _, _, who in drawn]
    data = Points.from_records([[(t, 0.0, 0.0) for t in span] for span in spans], owner=owners)

    def kept(pi: int) -> int:
        cut = []
        for span, who in zip(spans, owners, strict=True):
            fits = [t for t in span if t % pi == 0]
            cut.append((fits[0], fits[-1], who) if len(fits) > 1 or (fits and pi == 1) else None)
        people = {(a, b): {c[2] for c in cut if c and c[:2] == (a, b)} for a, b, _ in filter(None, cut)}
        return sum(b - a + 1 for a, b, _ in filter(None, cut) if len(people[a, b]) >= 2)

    tried = [1, *(many for many in (2, 5, 10, 15, 20, 30))]
    best = max(kept(pi) for pi in tried)
    chosen = Nwa(k=2)._choose_pi(data, np.ones(len(data), bool))
    assert chosen == next(pi for pi in tried if kept(pi) == best)


def test_the_automatic_pi_is_told_and_brings_people_together() -> None:
    minute = [[(t, 0.0, 0.0) for t in range(start, 10_000, 60)] for start in (60, 120, 240, 420)]
    made = run(Nwa(k=4), Points.from_records(minute, time_format="epoch"))
    assert made.facts["trajectories in trash"] == 0
    assert str(made.facts["chosen"]).startswith("pi = 10min: trips begin and end at multiples of it")
    with pytest.raises(InputError, match="Take pi = auto"):
        run(Nwa(k=4, pi="none"), Points.from_records(minute, time_format="epoch"))


def test_pi_is_a_time_in_the_unit_of_the_data() -> None:
    minute = [[(t, 0.0, 0.0) for t in range(30, 200, 30)]] * 2
    made = run(Nwa(k=2, delta=0, pi="1min"), Points.from_records(minute, time_format="epoch"))
    assert [t for t, _, _ in made.data.record(0)] == [60, 90, 120, 150, 180]
    micro = [[(t * 1_000_000, 0.0, 0.0) for t in range(-30, 200, 30)]] * 2
    made = run(Nwa(k=2, delta=0, pi="1min"), Points.from_records(micro, time_format="utc"))
    assert [t // 1_000_000 for t, _, _ in made.data.record(0)] == [0, 30, 60, 90, 120, 150, 180]
    with pytest.raises(InputError, match="pi needs a unit"):
        run(Nwa(k=2, delta=0, pi="60"), Points.from_records(micro, time_format="utc"))


# the method from its definition


def squared(a: Record, b: Record) -> float:
    return sum((p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2 for p, q in zip(a, b, strict=True))


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


def oracle_clusters(
    records: list[Record], owner: list[int], k: int, radius: float, first: int
) -> tuple[list[list[int]], set[int]]:
    """Return the clusters, without what their owners have too many of, and the outliers."""
    n, most = len(records), radius * radius * len(records[0])
    d = [[squared(a, b) for b in records] for a in records]
    unvisited, active, tried, clusters = set(range(n)), set(range(n)), [], {}
    pivot = first
    while True:
        tried.append(pivot)
        active.discard(pivot)
        taken, met = [pivot], {owner[pivot]}
        for i in sorted(unvisited - {pivot}, key=lambda i: (d[pivot][i], i)):
            if len(met) < k and owner[i] not in met:
                taken.append(i)
                met.add(owner[i])
        if len(met) == k and max(d[pivot][i] for i in taken) <= most:
            clusters[pivot] = taken
            unvisited -= set(taken)
        left = sorted(active & unvisited)
        if not left:
            break
        pivot = max(left, key=lambda i: (min(d[p][i] for p in tried), -i))
    for i in sorted(unvisited):
        if clusters:
            nearest = min(sorted(clusters), key=lambda p: (d[p][i], p))
            if d[nearest][i] <= most:
                clusters[nearest].append(i)
    outliers = set(range(n)) - {i for members in clusters.values() for i in members}
    share = Fraction(1, k)
    return [keep_share(c, owner, lambda i, p=p: d[p][i], p, share) for p, c in clusters.items()], outliers


def oracle_published(records: list[Record], clusters: list[list[int]], delta: float) -> list[Record]:
    made: list[Record] = [[] for _ in records]
    for cluster in clusters:
        for step in range(len(records[cluster[0]])):
            points = [records[i][step] for i in cluster]
            cx, cy = (sum(p[a] for p in points) / len(points) for a in (1, 2))
            for i, (t, x, y) in zip(cluster, points, strict=True):
                far = math.dist((x, y), (cx, cy))
                share = 1.0 if far <= delta / 2 else delta / 2 / far
                made[i].append((t, cx + (x - cx) * share, cy + (y - cy) * share))
    return made


def drawn_ranks(data: Points, seed: int) -> list[int]:
    """Return who leads, the smallest first: the only thing that chance decides."""
    rows = TrajectoryRows(begin=data.offsets[:-1], end=data.offsets[1:], columns=(data.t, data.x, data.y))
    return draw_ranks(rows, data.frame, np.random.default_rng(seed).bytes(32)).tolist()


def oracle_run(
    records: list[Record], owner: list[int], k: int, start: float, trash: Fraction, rank: list[int]
) -> tuple[list[list[int]], int, float, int]:
    """Return clusters, number of outliers, radius and restarts; once more without the outliers, if there are any."""
    there = list(range(len(records)))
    allowed = trash * len(records)
    while True:
        radius, restarts = start, 0
        first = min(range(len(there)), key=lambda i: rank[there[i]])
        own = [owner[i] for i in there]
        while True:
            clusters, outliers = oracle_clusters([records[i] for i in there], own, k, radius, first)
            if len(outliers) <= allowed:
                break
            radius, restarts = radius * 1.5, restarts + 1
        if not outliers:
            found = [[there[i] for i in cluster] for cluster in clusters]
            return found, len(records) - len(there), radius, restarts
        there = [number for i, number in enumerate(there) if i not in outliers]
        allowed = Fraction(0)


@st.composite
def one_class(draw: st.DrawFn) -> tuple[list[Record], list[int]]:
    n, m, span = draw(st.integers(3, 12)), draw(st.integers(1, 3)), draw(st.sampled_from([2, 10, 60]))
    cells = st.lists(st.tuples(st.integers(0, span), st.integers(0, span)), min_size=m, max_size=m)
    records = [[(t, float(x), float(y)) for t, (x, y) in enumerate(draw(cells))] for _ in range(n)]
    several = draw(st.booleans())
    return records, draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) if several else list(range(n))


@settings(deadline=None, max_examples=150)
@given(one_class(), st.integers(2, 3), st.sampled_from([0.0, 1.0, 4.0]), st.integers(0, 5),
       st.sampled_from(["0", "0.1", "0.4"]), st.sampled_from(["auto", 1.0, 5.0]))  # fmt: skip
def test_the_whole_method_on_one_class(
    scene: tuple[list[Record], list[int]], k: int, delta: float, seed: int, trash: str, radius_max: float | str
) -> None:
    records, owner = scene
    if len(set(owner)) < k:
        return
    data = Points.from_records(records, owner=owner)
    made = run(Nwa(k=k, delta=delta, placement="nearest", trash_max=trash, radius_max=radius_max), data, seed)
    start = 10.0 if radius_max == "auto" else float(radius_max)
    clusters, outliers, radius, restarts = oracle_run(
        records, owner, k, start, Fraction(trash), drawn_ranks(data, seed)
    )
    expected = oracle_published(records, clusters, delta)
    assert close(records_of(made.data), expected, 1e-8)
    assert made.facts["restarts"] == restarts
    assert made.facts["radius used (m)"] == radius
    assert made.facts["clusters"] == len(clusters)
    assert made.facts["largest cluster"] == max(map(len, clusters))
    assert made.facts["trash: outliers"] == outliers
    trash_size = len(records) - sum(map(len, clusters))
    assert made.facts["trash: more than the share of one person"] == trash_size - outliers
    assert made.facts["discernibility"] == sum(len(c) ** 2 for c in clusters) + trash_size * len(records)
    way = sum(
        math.dist(a[1:], b[1:]) for r, s in zip(records, expected, strict=True) for a, b in zip(r, s, strict=False)
    )
    assert made.facts["total translation (m)"] == pytest.approx(way, abs=1e-6)
    assert check_kdelta(made.data, made.claim).holds
    for cluster in clusters:
        assert len({owner[i] for i in cluster}) >= k
        assert max(Counter(owner[i] for i in cluster).values()) * k <= len(cluster)
        for i, j in combinations(cluster, 2):
            pairs = list(zip(made.data.record(i), made.data.record(j), strict=True))
            assert all(math.dist(p[1:], q[1:]) <= delta * (1 + 1e-15) for p, q in pairs)
            if delta == 0:
                assert all(p == q for p, q in pairs)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=12))
def test_several_classes_are_clustered_each_by_itself(drawn: list[tuple[int, int, int]]) -> None:
    times = [(0, 1), (0, 2), (0, 1, 2)]
    records = [[(t, float(x + t), float(y)) for t in times[which]] for which, x, y in drawn]
    parts = [[i for i, (which, _, _) in enumerate(drawn) if which == c] for c in range(3)]
    large = [part for part in parts if len(part) >= 2]
    data = Points.from_records(records)
    if not large:
        with pytest.raises(InputError, match="share the same timestamps"):
            run(Nwa(k=2, delta=0), data)
        return
    made = run(Nwa(k=2, delta=0, radius_max=1.5, trash_max=0), data)
    radius = made.facts["radius used (m)"]
    possible = []
    for part in large:
        own = [records[i] for i in part]
        ways = [oracle_clusters(own, list(range(len(own))), 2, radius, first)[0] for first in range(len(own))]
        possible.append([[[part[i] for i in c] for c in clusters] for clusters in ways])
    found = records_of(made.data)
    assert any(
        close(found, oracle_published(records, [c for clusters in chosen for c in clusters], 0.0))
        for chosen in product(*possible)
    )
    assert made.facts["classes"] == sum(1 for part in parts if part)
    assert made.facts["trash: too few people in the class"] == sum(len(part) for part in parts if len(part) < 2)
    assert made.facts["trash: outliers"] == 0


def movers(n: int, m: int, seed: int = 5) -> Points:
    """Trajectories between a few places, more than a tree has leaves for."""
    rng = np.random.default_rng(seed)
    hubs = rng.uniform(0, 9000, (5, 2))
    a, b = (hubs[rng.integers(0, 5, n)] + rng.normal(0, 300, (n, 2)) for _ in range(2))
    u = np.clip((np.linspace(0, 1, m) - rng.uniform(0, 0.4, (n, 1))) / rng.uniform(0.3, 0.6, (n, 1)), 0, 1)
    x, y = (np.round(a[:, i, None] + (b - a)[:, i, None] * u) for i in range(2))
    return Points(offsets=np.arange(n + 1) * m, t=np.tile(np.arange(m), n), x=x.ravel(), y=y.ravel(),
                  owner=rng.integers(0, n // 2, n), owners="given", time_format="epoch")  # fmt: skip


def test_a_larger_class_with_sketches() -> None:
    """With more than 64 trajectories distances are bounded by sketches first; the clusters are still those."""
    data = movers(150, 20)
    made = run(Nwa(k=4, delta=0, radius_max=400, trash_max="1/4"), data, seed=3)
    records, rank = records_of(data), drawn_ranks(data, 3)
    clusters, outliers, radius, restarts = oracle_run(records, data.owner.tolist(), 4, 400.0, Fraction(1, 4), rank)
    assert close(records_of(made.data), oracle_published(records, clusters, 0.0), 1e-6)
    assert len(clusters) > 8
    assert (made.facts["radius used (m)"], made.facts["restarts"]) == (radius, restarts)
    assert made.facts["trash: outliers"] == outliers
    assert restarts > 0
    assert outliers > 0


@pytest.mark.parametrize(("n", "length", "shift"), [(100, 1, 0.0), (100, 3, 1e6), (500, 30, 0.0), (90, 6, 1e12)])
def test_sketches_never_overstate_a_distance(n: int, length: int, shift: float) -> None:
    rows = shift + np.cumsum(np.random.default_rng(n).normal(0, 50, (n, 2 * length)), axis=1)
    sketch, slack = _sketches(lambda which: rows[which], n, length)
    assert len(sketch) == n
    for i in range(0, n, 7):
        true = ((rows - rows[i]) ** 2).sum(axis=1)
        shown = ((sketch - sketch[i]) ** 2).sum(axis=1)
        assert (shown <= true * (1 + 1e-6) + slack).all()
        if shift < 1e9 and length > 1:  # and they are of use
            assert np.median(shown[true > 0] / true[true > 0]) > 0.5
    assert slack < 1e-6 * max(1.0, shift) ** 2


def test_a_few_trajectories_need_no_sketch() -> None:
    sketch, slack = _sketches(lambda which: np.zeros((len(which), 4)), 64, 2)
    assert sketch.shape == (64, 1)
    assert slack == 0
    assert _sketches(lambda which: np.zeros((len(which), 4)), 65, 2)[0].shape == (65, 5)


def test_workers_and_seeds() -> None:
    data = movers(300, 8)
    short = data.where(np.arange(data.n_rows) % 16 != 15)  # every second trajectory ends earlier: two classes
    method = Nwa(k=3, delta=100)
    one, two = (run(method, short, 1, workers) for workers in (1, 2))
    assert records_of(one.data) == records_of(two.data)
    assert one.facts == two.facts
    assert one.facts["classes"] == 2
    assert records_of(one.data) != records_of(run(method, short, 2).data)


def test_equal_timestamps_are_a_class_and_others_are_not() -> None:
    records = [[(0, 0.0, 0.0), (2, 0.0, 0.0), (9, 0.0, 0.0)]] * 3 + [[(0, 0.0, 0.0), (3, 0.0, 0.0), (9, 0.0, 0.0)]] * 2
    made = run(Nwa(k=3, delta=0), Points.from_records(records))
    assert [len(r) for r in records_of(made.data)] == [3, 3, 3, 0, 0]
    assert made.facts["trash: too few people in the class"] == 2
    assert "advice" not in made.facts
    made = run(Nwa(k=3, delta=0), Points.from_records([*records, *(r[:2] for r in records[2:])]))
    assert made.facts["classes"] == 4
    assert "resample" in str(made.facts["advice"])


def test_hashes_that_collide_only_split_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.methods.nwa.nwa._scramble", lambda t: np.zeros(len(t), np.uint64))
    t = np.array([0, 1, 5, 0, 2, 5, 0, 1, 5, 0, 1, 5])
    members, first = classes_of(t, np.arange(0, 12, 3), np.arange(3, 13, 3))
    assert [members[a:b].tolist() for a, b in pairwise(first)] == [[0], [1], [2, 3]]


def test_k_counts_people() -> None:
    records = [[(0, float(i), 0.0)] for i in range(6)]
    with pytest.raises(InputError, match="k is 3, but the data holds points of 2 people"):
        run(Nwa(k=3, delta=1), Points.from_records(records, owner=[0, 0, 0, 1, 1, 1]))
    made = run(Nwa(k=3, delta=0, trash_max=0), Points.from_records(records, owner=[0, 0, 0, 0, 1, 2]))
    assert len({tuple(r) for r in records_of(made.data) if r}) == 1
    assert [len(r) for r in records_of(made.data)].count(1) == 3
    with pytest.raises(InputError, match="points of 1 people"):
        run(Nwa(k=2, delta=1), Points.from_records([[(0, 0.0, 0.0)], []]))


def test_degrees_stay_within_delta_when_written_and_read_back() -> None:
    rng = np.random.default_rng(2)
    lon, lat = 23.7 + rng.normal(0, 0.01, 400), 38.0 + rng.normal(0, 0.01, 400)
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    data = Points(offsets=np.arange(0, 401, 8), t=np.tile(np.arange(8), 50), x=x, y=y, owner=np.arange(50), frame=frame)
    for delta, placement in product((300.0, 1e-3, 1e-6, 0.0), ("nearest", "random")):
        made = run(Nwa(k=50, delta=delta, placement=placement, trash_max=0), data).data
        back_x, back_y = frame.to_metres(*frame.to_file(made.x, made.y))
        for step in range(8):
            px, py = back_x[step::8], back_y[step::8]
            far = np.hypot(px[:, None] - px, py[:, None] - py)
            assert far.max() <= delta
            assert delta < 100 or far.max() > delta - (0.1 if placement == "nearest" else 30)


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("delta", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("center", ["mean", "mec"])
@pytest.mark.parametrize("placement", ["nearest", "random"])
def test_huge_coordinates(shift: float, delta: float, center: str, placement: str) -> None:
    rng = np.random.default_rng(7)
    records = [[(t, shift + float(rng.normal(0, 99)), -shift + float(rng.normal(0, 99))) for t in range(4)]
               for _ in range(90)]  # fmt: skip
    method = Nwa(k=90, delta=delta, placement=placement, trash_max=0, center=center)
    made = run(method, Points.from_records(records)).data
    for step in range(4):
        px, py = made.x[step::4], made.y[step::4]
        assert np.hypot(px[:, None] - px, py[:, None] - py).max() <= delta


def test_the_smallest_circle_as_centre() -> None:
    data = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)], [(0, 8.0, 0.0)]])
    assert [r[0][1] for r in records_of(run(Nwa(k=3, delta=0, center="mec"), data).data)] == [4.0, 4.0, 4.0]
    assert [r[0][1] for r in records_of(run(Nwa(k=3, delta=0), data).data)] == [3.0, 3.0, 3.0]


def test_everybody_at_one_place() -> None:
    made = run(Nwa(k=2, delta=0), Points.from_records([[(0, 0.1, 0.7), (5, 0.1, 0.7)]] * 200))
    assert records_of(made.data) == [[(0, 0.1, 0.7), (5, 0.1, 0.7)]] * 200
    assert made.facts["clusters"] == 100
    assert made.facts["restarts"] == 0
    assert made.facts["total translation (m)"] == 0


def test_attributes_owners_and_empty_trajectories_stay() -> None:
    data = Points.from_records([[], [(0, 0.0, 0.0)], [(0, 1.0, 0.0)], []], owner=[3, 1, 2, 1],
                               attributes={"car": ["a", "b", None, "a"]})  # fmt: skip
    made = run(Nwa(k=2, delta=0), data)
    assert [len(r) for r in records_of(made.data)] == [0, 1, 1, 0]
    assert made.data.owner.tolist() == [3, 1, 2, 1]
    assert isinstance(made.data.attributes["car"], Coded)
    assert made.data.attributes["car"].values() == ["a", "b", None, "a"]
    assert made.facts["trajectories in trash"] == 0
    assert made.facts["discernibility"] == 4


def test_what_cannot_be_published_is_refused() -> None:
    with pytest.raises(InputError, match="points of 0 people"):
        run(Nwa(delta=1), Points.from_records([]))
    for records, words in (
        ([[(0, 0.0, 0.0)], [(1, 0.0, 0.0)]], "No more than 1 people are on the way"),
        ([[(3, 0.0, 0.0), (10, 0.0, 0.0)], [(4, 0.0, 0.0), (12, 0.0, 0.0)]], "resample with period = 10 "),
        ([[(0, 0.0, 0.0), (4, 0.0, 0.0)], [(4, 0.0, 0.0), (8, 0.0, 0.0)]], "step window"),
    ):
        with pytest.raises(InputError, match=rf"2 trajectories fall into 2 classes.*{words}"):
            run(Nwa(k=2, delta=1, pi="none"), Points.from_records(records))
    with pytest.raises(InputError, match="0 trajectories fall into 0 classes"):
        run(Nwa(k=2, delta=1, pi="7"), Points.from_records([[(1, 0.0, 0.0), (7, 0.0, 0.0)]] * 2))
    with pytest.raises(InputError, match="no places in metres"):
        run(Nwa(k=2, delta=1), Points.from_records([[(0, 0.0, 2e15)]] * 2))
    apart = Points.from_records([[(0, 0.0, 0.0)], [(0, 100.0, 0.0)]])
    with pytest.raises(InputError, match="every trajectory is an outlier"):
        run(Nwa(k=2, delta=1, radius_max=1, trash_max=1), apart)
    for wrong, words in (({"radius_max": 0}, "radius_max must be larger than 0"),
                         ({"radius_growth": 1}, "radius_growth must be at least 1.01"),
                         ({"k": 1}, "k must be an integer >= 2"), ({"delta": -1}, "delta must be a number >= 0"),
                         ({"center": "median"}, "center must be one of mean, mec"),
                         ({"pi": "0"}, "pi must be a duration")):  # fmt: skip
        with pytest.raises(ParameterError, match=words):
            Nwa(**{"delta": 1, **wrong})


def test_nobody_owns_more_than_the_share_of_a_cluster() -> None:
    """Twenty trips of one person and one of another: with all of them published, 20 of 21 are one person's."""
    data = Points.from_records([[(0, 0.0, 0.0), (1, float(i), 0.0)] for i in range(21)], owner=[*[0] * 20, 1])
    for delta in (0.0, 5.0):
        made = run(Nwa(k=2, delta=delta, radius_max=50), data)
        kept = [i for i in range(21) if made.data.record(i)]
        assert len(kept) == 2
        assert kept[1] == 20
        assert made.facts["trash: more than the share of one person"] == 19
        assert check_kdelta(made.data, made.claim).holds
    made = run(Nwa(k=2, delta=0, row_share="0.9", radius_max=50), data)
    assert sum(1 for i in range(21) if made.data.record(i)) == 10
    assert made.claim == KDelta(k=2, delta=0, row_share=Fraction(9, 10), placement="random")


def test_a_smaller_share_takes_more_people() -> None:
    data = Points.from_records([[(0, float(i), 0.0)] for i in range(12)])
    made = run(Nwa(k=2, delta=0, row_share="1/4", trash_max=0), data)
    assert min(Counter(made.groups.tolist()).values()) >= 4


def test_a_place_at_random_says_nothing_about_the_member() -> None:
    """All members run along one curve, each at an offset of its own that stays the same along the whole way."""
    rng = np.random.default_rng(1)
    ways = np.round(rng.normal(0, 400, (30, 5, 2)), 3)
    data = Points.from_records([[(t, *way[t].tolist()) for t in range(5)] for way in ways])
    made = run(Nwa(k=30, delta=100, trash_max=0), data)
    x, y = made.data.x.reshape(30, 5), made.data.y.reshape(30, 5)
    centre = ways.mean(axis=0)
    off = np.stack([x, y], axis=2) - centre
    assert np.allclose(off, off[:, :1])
    assert np.hypot(*off[:, 0].T).max() <= 50 * (1 + 1e-12)
    assert np.hypot(*off[:, 0].T).max() > 40
    assert abs(np.corrcoef(off[:, 0, 0], (ways - centre).mean(axis=1)[:, 0])[0, 1]) < 0.5  # no leaning to where one was
    assert made.claim == KDelta(k=30, delta=100, placement="random")
    assert check_kdelta(made.data, made.claim).holds


def test_one_noisy_sighting_finds_no_member_more_often_than_chance() -> None:
    """Pairs of people 600 m apart, delta 500 m: with the nearest place a sighting is right almost always."""
    rng = np.random.default_rng(3)
    pairs = np.repeat(rng.uniform(0, 1e6, (400, 1, 2)), 2, axis=0) + rng.normal(0, 200, (800, 1, 2))
    ways = pairs + np.cumsum(rng.normal(0, 5, (800, 6, 2)), axis=1)
    data = Points.from_records([[(t, *way[t].tolist()) for t in range(6)] for way in ways])
    right = {}
    for placement in ("nearest", "random"):
        made = run(Nwa(k=2, delta=500, placement=placement, trash_max=0), data)
        published = np.stack([made.data.x, made.data.y], axis=1).reshape(800, 6, 2)
        seen = ways + rng.uniform(-100, 100, ways.shape)
        far = np.hypot(*(seen[:, None] - published[None]).transpose(3, 0, 1, 2)).sum(axis=2)
        right[placement] = float((far.argmin(axis=1) == np.arange(800)).mean())
    assert right["nearest"] > 0.9
    assert right["random"] < 0.56  # 1/2 and three standard deviations
