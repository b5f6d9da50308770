"""Matching of points: worked examples, the algorithms as written down, what is published and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.kernels.tga.cost_bounds import Sequences
from wayveil.methods.common.kd_parts import cut_large
from wayveil.methods.tga import tga
from wayveil.methods.tga.tga import Tga
from wayveil.model import Boxes, KAnonymity, MethodResult, Points
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity

GOLDEN = Path(__file__).parents[2] / "golden" / "tga"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def points(example: Any, **more: Any) -> Points:
    return Points.from_records(
        [[(t, float(x), float(y)) for x, y, t in r] for r in example["trajectories"].values()], **more
    )


class Ordered:
    """Stands for a generator: trajectories are taken in a given order."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order

    def permutation(self, n: int) -> Any:
        assert n == len(self.order)
        return np.array(self.order, np.int64)


def run(method: Tga, data: Points, order: Sequence[int] | None = None, workers: int = 1) -> MethodResult:
    rng: Any = np.random.default_rng(0) if order is None else Ordered(order)
    result = method.run(data, rng=rng, engine=LocalEngine(workers=workers))
    check(result.boxes or result.data, data, method.k)
    if result.data.n_rows:
        published: Any = result.data
        verdict = check_kanonymity(published, method.claim, original=data, boxes=result.boxes)
        assert verdict.holds, verdict.reason
    return result


def check(regions: Any, data: Points, k: int) -> None:
    """The definition: the same boxes for k owners, and in each a true point, a later one for each box."""
    people: dict[Any, set[int]] = {}
    for i in range(len(data)):
        boxes, left = regions.record(i), iter(data.record(i))
        assert all(any(inside(point, box) for point in left) for box in boxes)
        people.setdefault(tuple(boxes), set()).add(int(data.owner[i]))
    people.pop((), None)
    assert all(len(owners) >= k for owners in people.values())
    assert regions.owner.tolist() == data.owner.tolist()


def inside(point: tuple[int, float, float], box: tuple[int, int, float, float, float, float]) -> bool:
    return box[0] <= point[0] <= box[1] and box[2] <= point[1] <= box[3] and box[4] <= point[2] <= box[5]


def groups(published: Any) -> list[list[int]]:
    found: dict[Any, list[int]] = {}
    for i in range(len(published)):
        found.setdefault(tuple(published.record(i)), []).append(i + 1)
    found.pop((), None)
    return sorted(found.values())


def test_the_worked_pair() -> None:
    example = golden("pair")
    result = run(Tga(k=2), points(example))
    boxes = [(*t, *map(float, x), *map(float, y)) for x, y, t in example["boxes"]]
    assert result.data.record(0) == result.data.record(1) == boxes
    assert result.facts["total log cost"] == pytest.approx(math.log(2592), rel=1e-12) == example["cost"]
    assert result.facts["points suppressed"] == example["suppressed"] == 1
    assert result.facts["points suppressed, share"] == 1 / 5
    assert result.facts["log cost per point"] == pytest.approx(math.log(2592) / 5)
    assert result.facts["boxes around two different points, which are its corners"] == 2


@pytest.mark.parametrize("algorithm", ["fast", "multi"])
def test_five_trajectories(algorithm: str) -> None:
    example = golden("five")
    result = run(Tga(k=2, algorithm=algorithm), points(example), [i - 1 for i in example["order"]])
    assert groups(result.data) == [group["members"] for group in example["groups"]]
    for group in example["groups"]:
        boxes = [(*t, *map(float, x), *map(float, y)) for x, y, t in group["boxes"]]
        assert all(result.data.record(i - 1) == boxes for i in group["members"])
    assert result.facts["total log cost"] == pytest.approx(example["total"], rel=1e-12)
    assert round(float(result.facts["total log cost"]), 6) == 27.808800
    assert result.facts["groups"] == 2
    assert result.facts["trajectories added to a group at the end"] == 1
    assert (result.facts["people in the smallest group"], result.facts["people in the largest group"]) == (2, 3)
    assert (result.facts["boxes"], result.facts["points suppressed"]) == (4, 2)
    assert result.facts["boxes around two different points, which are its corners"] == 2


@pytest.mark.parametrize(("algorithm", "total"), [("multi", 36.288773), ("fast", 38.211867)])
def test_six_trajectories_where_the_algorithms_differ(algorithm: str, total: float) -> None:
    example = golden("six")
    result = run(Tga(k=3, algorithm=algorithm), points(example), [i - 1 for i in example["order"]])
    assert groups(result.data) == example[algorithm]["groups"]
    assert result.facts["total log cost"] == pytest.approx(example[algorithm]["total"], rel=1e-12)
    assert result.facts["total log cost"] == pytest.approx(total, abs=5e-7)


def test_the_corners_of_a_box_around_two_points_are_the_points() -> None:
    example = golden("corners")
    result = run(Tga(k=2), points(example))
    x, y, t = example["box"]
    assert result.data.record(0) == [(*t, *map(float, x), *map(float, y))]
    assert result.facts["boxes around two different points, which are its corners"] == 1
    third = Points.from_records([*(points(example).record(i) for i in range(2)), [(1, 2.0, 0.5)]])
    assert run(Tga(k=3), third).facts["boxes around two different points, which are its corners"] == 0
    twice = Points.from_records([points(example).record(0), points(example).record(0)])
    assert run(Tga(k=2), twice).facts["boxes around two different points, which are its corners"] == 0


Rows = list[tuple[int, float, float]]


def oracle(
    records: list[Rows], owner: list[int], k: int, order: list[int], weights: tuple[float, float], multi: bool
) -> Any:
    """The two algorithms as written down, with nothing left out and one after the other; k counts owners."""
    flat = [p for record in records for p in record]
    whole = tuple((min(p[d] for p in flat), max(p[d] for p in flat)) for d in range(3))

    def g(box: Any) -> float:
        t, x, y = (math.log(1 + high - low) for low, high in box)
        return weights[0] * (x + y) + weights[1] * t

    def align(one: Any, m: int, two: Any) -> Any:
        drop, cost = g(whole), {(0, 0): (0.0, ())}
        for i in range(len(one) + 1):
            for j in range(len(two) + 1):
                ways = []
                if i and j:
                    both = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one[i - 1], two[j - 1], strict=True))
                    ways.append((cost[i - 1, j - 1][0] + (m + 1) * g(both), (*cost[i - 1, j - 1][1], both)))
                if i:
                    ways.append((cost[i - 1, j][0] + m * drop, cost[i - 1, j][1]))
                if j:
                    ways.append((cost[i, j - 1][0] + drop, cost[i, j - 1][1]))
                if ways:
                    cost[i, j] = min(ways, key=lambda way: way[0])
        return cost[len(one), len(two)]

    single = [tuple(tuple((v, v) for v in p) for p in record) for record in records]
    left, found = [i for i in order if records[i]], []
    while len({owner[i] for i in left}) >= k:
        members, boxes = [left[0]], single[left[0]]
        first = boxes
        while len(members) < k:
            against, m = (boxes, len(members)) if multi else (first, 1)
            others = [i for i in left if owner[i] not in {owner[j] for j in members}]
            members.append(min(others, key=lambda i: (align(against, m, single[i])[0], i)))
            boxes = align(boxes, len(members) - 1, single[members[-1]])[1]
        left = [i for i in left if i not in members]
        found.append([members, boxes])
    again = True
    while again:  # a larger group has room for more trips of one person
        again = False
        for i in list(left):
            open_to_i = [group for group in found if 1 + sum(owner[j] == owner[i] for j in group[0])
                         <= Fraction(1, k) * (1 + len(group[0]))]  # fmt: skip
            if open_to_i:
                best = min(open_to_i, key=lambda group: align(group[1], len(group[0]), single[i])[0])
                best[1] = align(best[1], len(best[0]), single[i])[1]
                best[0].append(i)
                left.remove(i)
                again = True
    cost = sum(
        g(b) + (len(records[i]) - len(boxes)) / max(1, len(boxes)) * g(whole)
        for m, boxes in found
        for i in m
        for b in boxes
    )
    cost += sum(len(records[i]) for i in left) * g(whole)
    return {i: [tuple(v for side in box for v in side) for box in boxes] for m, boxes in found for i in m}, cost


@st.composite
def instances(draw: Any) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = int(rng.integers(3, 12))
    owner = rng.integers(0, n, n).tolist() if draw(st.booleans()) else list(range(n))
    records = []
    for _ in range(n):
        times = np.sort(rng.choice(30, int(rng.integers(0 if rng.random() < 0.2 else 1, 6)), replace=False)).tolist()
        records.append([(t, *(float(v) for v in rng.uniform(0, 20, 2))) for t in times])
    people = len({o for o, r in zip(owner, records, strict=True) if r})
    k = draw(st.integers(2, 4))
    weights = draw(st.sampled_from([(1.0, 1.0), (0.0, 1.0), (2.0, 0.5), (1.0, 0.0)]))
    return records, owner, k, rng.permutation([i for i in range(n) if records[i]]).tolist(), weights, people


# Always the same examples: in about one of many thousands two ways to match points cost the same, and rounding decides.
@settings(deadline=None, max_examples=60)
@given(instances(), st.booleans(), st.sampled_from([1, 3]))
def test_output_is_that_of_the_algorithms(instance: Any, multi: bool, workers: int) -> None:
    records, owner, k, order, (space, time), people = instance
    data = Points.from_records(records, owner=owner)
    method = Tga(k=k, algorithm="multi" if multi else "fast", space_weight=space, time_weight=time)
    if people < k:
        with pytest.raises(InputError, match=f"points of {people} people"):
            run(method, data)
        return
    there = [i for i in range(len(records)) if records[i]]
    result = run(method, data, [there.index(i) for i in order], workers)
    expected, cost = oracle(records, owner, k, order, (space, time), multi)
    for i in range(len(records)):
        assert result.data.record(i) == expected.get(i, [])
    assert result.facts["total log cost"] == pytest.approx(cost, abs=1e-9)


def walkers(n: int, m: int = 8, seed: int = 0, **more: Any) -> Points:
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(n):
        start = int(rng.integers(0, 100))
        way = np.cumsum(rng.normal(0, 20, (m, 2)), axis=0) + rng.uniform(0, 1000, 2)
        records.append([(start + 60 * j, float(x), float(y)) for j, (x, y) in enumerate(way)])
    return Points.from_records(records, **more)


@pytest.mark.parametrize("algorithm", ["fast", "multi"])
def test_any_number_of_workers_gives_the_same(algorithm: str) -> None:
    data = walkers(150, owner=np.random.default_rng(1).integers(0, 60, 150).tolist())
    results = [run(Tga(k=4, algorithm=algorithm), data, workers=workers) for workers in (1, 2, 5)]
    for other in results[1:]:
        assert other.facts == results[0].facts
        assert [other.data.record(i) for i in range(150)] == [results[0].data.record(i) for i in range(150)]
    assert len(groups(results[0].data)) == results[0].facts["groups"]
    assert sum(map(len, groups(results[0].data))) == 150


@pytest.mark.parametrize("algorithm", ["fast", "multi"])
def test_many_trajectories_are_grouped_part_by_part(monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    owner = np.random.default_rng(1).integers(0, 60, 150)
    data = walkers(150, owner=owner.tolist())
    method = Tga(k=4, algorithm=algorithm)
    monkeypatch.setattr(tga, "_MOST", 40)
    results = [run(method, data, workers=workers) for workers in (1, 2, 5)]
    assert check_kanonymity(results[0].data, method.claim, original=data).holds
    for other in results[1:]:
        assert other.facts == results[0].facts
        assert [other.data.record(i) for i in range(150)] == [results[0].data.record(i) for i in range(150)]
    # Each part by itself, its trajectories in the order in which they come up in that of all: the same groups.
    tracks = tga._Tracks.of(data, method)
    place = np.argsort(np.random.default_rng(0).permutation(150))
    parts = cut_large(np.arange(150), tracks.ends(), owner, 4, 40)
    assert len(parts) == 4
    alone = []
    for part in parts:
        made, _ = method._groups_of(tracks.part(part), np.argsort(place[part]), LocalEngine(workers=2))
        alone += [sorted(part[group.members].tolist()) for group in made]
    assert sorted(alone) == sorted(sorted(i - 1 for i in group) for group in groups(results[0].data))


def test_parts_are_cut_by_what_costs_something() -> None:
    data = walkers(10)
    first, last = data.offsets[:-1], data.offsets[1:] - 1
    seconds = data.t - data.t.min()
    ends = [column[rows] for rows in (first, last) for column in (data.x, data.y, seconds)]
    assert np.array_equal(tga._Tracks.of(data, Tga(k=2)).ends(), np.stack(ends, axis=1))
    only_space = tga._Tracks.of(data, Tga(k=2, time_weight=0)).ends()
    assert np.array_equal(only_space, np.stack([ends[i] for i in (0, 1, 3, 4)], axis=1))
    only_time = tga._Tracks.of(data, Tga(k=2, space_weight=0)).ends()
    assert np.array_equal(only_time, np.stack([ends[2], ends[5]], axis=1))


def test_multi_is_tighter_than_fast() -> None:
    data = walkers(200)
    cost = {a: run(Tga(k=6, algorithm=a), data).facts["total log cost"] for a in ("fast", "multi")}
    assert float(cost["multi"]) < float(cost["fast"])


def test_most_alignments_are_never_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = walkers(40)
    expected = run(Tga(k=4), data)
    seen: list[int] = []
    real = tga.nearest

    def watched(*given: Any) -> Any:
        seen.append(len(given[3].which))
        return real(*given)

    monkeypatch.setattr(tga, "nearest", watched)
    assert groups(run(Tga(k=4), data).data) == groups(expected.data)
    assert min(seen) < 40 // 2  # what is taken is not looked at any more


def test_k_counts_owners() -> None:
    near = [[(0, float(i), 0.0), (9, float(i), 5.0)] for i in range(4)]
    far = [[(0, 500.0, 500.0), (9, 500.0, 505.0)]]
    data = Points.from_records([*near, *far], owner=[7, 7, 7, 7, 8])
    result = run(Tga(k=2), data)
    assert [len(group) for group in groups(result.data)] == [2]
    assert result.facts["trajectories left out: more than the share of one person"] == 3
    assert result.facts["trajectories added to a group at the end"] == 0
    result = run(Tga(k=2, row_share=1), data)
    assert groups(result.data) == [[1, 2, 3, 4, 5]]
    assert result.facts["people in the largest group"] == result.facts["people in the smallest group"] == 2
    assert result.facts["trajectories added to a group at the end"] == 3


def test_what_is_left_joins_one_after_the_other() -> None:
    # Once the first joined the left group, that one is dearer, and the second goes right.
    ways = [[(0, x, 0.0)] for x in (0.0, 1.0, 40.0, 41.0, 20.4, 20.5)]
    data = Points.from_records(ways, owner=[0, 1, 2, 3, 0, 0])
    result = run(Tga(k=2, row_share=1), data, [0, 2, 1, 3, 4, 5])
    assert groups(result.data) == [[1, 2, 5], [3, 4, 6]]


def test_what_is_left_meets_groups_as_they_have_become() -> None:
    # At 30 joins 0-1, which becomes 0-30; at -5 then costs 4 ln 36 there and 3 ln 116 with 100-110, which is less.
    ways = [[(0, x, 0.0)] for x in (0.0, 1.0, 100.0, 110.0, 500.0, 501.0, 30.0, -5.0)]
    data = Points.from_records(ways, owner=[0, 1, 2, 3, 4, 5, 0, 0])
    result = run(Tga(k=2, row_share=1), data, [0, 2, 4, 1, 3, 5, 6, 7])
    assert groups(result.data) == [[1, 2, 7], [3, 4, 8], [5, 6]]


@pytest.mark.parametrize("algorithm", ["fast", "multi"])
def test_nobody_owns_more_than_the_share_of_a_group(algorithm: str) -> None:
    """Twenty trips of one person and one of another: with all of them published, 20 of 21 are one person's."""
    data = Points.from_records([[(0, float(i), 0.0), (9, float(i), 5.0)] for i in range(21)], owner=[*[0] * 20, 1])
    result = run(Tga(k=2, algorithm=algorithm), data)
    kept = [i for i in range(21) if result.data.record(i)]
    assert len(kept) == 2
    assert 20 in kept
    assert check_kanonymity(result.data, result.claim, original=data).holds
    loose = run(Tga(k=2, algorithm=algorithm, row_share="0.9"), data)
    assert sum(1 for i in range(21) if loose.data.record(i)) == 10
    assert loose.claim.owner_share == Fraction(9, 10)
    many = run(Tga(k=2, row_share="1/4"), Points.from_records([[(0, float(i), 0.0)] for i in range(12)]))
    assert many.facts["people in the smallest group"] == 4


def test_a_group_that_grew_has_room_for_more_trips_of_one_person() -> None:
    """The second trip of person 3 would be two of five; once person 4 has joined, it is two of six."""
    ways = [[(0, x, 0.0), (100, x, 500.0)] for x in (0.0, 1.0, 2.0, 10.0, 11.0, 12.0)]
    data = Points.from_records(ways, owner=[0, 1, 2, 3, 3, 4])
    result = run(Tga(k=3), data, list(range(6)))
    assert groups(result.data) == [[1, 2, 3, 4, 5, 6]]
    assert result.facts["trajectories added to a group at the end"] == 3


def test_time_is_in_seconds() -> None:
    data = walkers(60)
    epoch = replace(data, time_format="epoch")
    dates = replace(data, t=data.t * 1_000_000, time_format="utc")
    plain, seconds, micro = (run(Tga(k=3), one) for one in (data, epoch, dates))
    assert groups(plain.data) == groups(seconds.data) == groups(micro.data)
    assert micro.facts["total log cost"] == pytest.approx(plain.facts["total log cost"], rel=1e-9)
    assert (micro.data.t_max == plain.data.t_max * 1_000_000).all()
    assert micro.data.time_format == "utc"


def test_weights_decide_what_is_near() -> None:
    # 1 and 2 are at the same place, 1 and 3 there at the same time.
    data = Points.from_records([[(0, 0.0, 0.0)], [(90, 0.0, 0.0)], [(0, 90.0, 0.0)], [(90, 90.0, 0.0)]])
    assert groups(run(Tga(k=2, time_weight=0.1), data).data) == [[1, 2], [3, 4]]
    assert groups(run(Tga(k=2, space_weight=0.1), data).data) == [[1, 3], [2, 4]]
    assert groups(run(Tga(k=2, space_weight=0), data).data) == [[1, 3], [2, 4]]
    assert run(Tga(k=2, space_weight=0), data).facts["total log cost"] == 0


def test_points_are_drawn_from_the_boxes() -> None:
    data = walkers(60, seed=3)
    boxes = run(Tga(k=5), data)
    drawn = run(Tga(k=5, publish="points"), data)
    assert isinstance(drawn.data, Points)
    assert isinstance(drawn.boxes, Boxes)
    assert drawn.data.offsets.tolist() == drawn.boxes.offsets.tolist()
    assert drawn.facts == boxes.facts
    for i in range(60):
        assert drawn.boxes.record(i) == boxes.data.record(i)
        assert all(inside(p, b) for p, b in zip(drawn.data.record(i), drawn.boxes.record(i), strict=True))
    assert not set(drawn.data.x.tolist()) & set(data.x.tolist())
    again = Tga(k=5, publish="points").run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    assert again.data.record(5) == drawn.data.record(5)
    other = Tga(k=5, publish="points").run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    assert other.data.record(5) != drawn.data.record(5)


def test_draws_fill_the_boxes() -> None:
    n = 400
    corners = [[(0, 0.0, 0.0), (200, 0.0, 0.0)], [(100, 10.0, 10.0), (300, 10.0, 10.0)]]
    data = Points.from_records(corners * (n // 2))
    drawn = run(Tga(k=n, publish="points"), data).data
    first, second = drawn.offsets[:-1], drawn.offsets[:-1] + 1
    for values, low, high in (
        (drawn.x, 0, 10), (drawn.y, 0, 10), (drawn.t[first] / 10, 0, 10), (drawn.t[second] / 10, 20, 30),
    ):  # fmt: skip
        assert low <= values.min() < low + 0.5
        assert high - 0.5 < values.max() <= high
        assert low + 4 < values.mean() < high - 4


def test_times_that_leave_no_choice_still_increase() -> None:
    # Boxes of the times 0-3, 1-4, 2-5, 3-6 at the same place: each draw narrows those that follow.
    data = Points.from_records([[(t + late, 0.0, 0.0) for t in range(4)] for late in (0, 3)] * 30)
    drawn = run(Tga(k=60, time_weight=0, publish="points"), data).data
    rows = drawn.t.reshape(60, -1)
    assert (np.diff(rows) > 0).all()
    assert rows.shape[1] == 4


def test_what_the_instance_publishes() -> None:
    assert Tga.publishes is Boxes
    assert Tga(k=2).publishes is Boxes
    assert Tga(k=2, publish="points").publishes is Points
    assert Tga(k=2, publish="points") != Tga(k=2)
    assert Tga(k=3).claim == KAnonymity(k=3)


def test_trajectories_without_rows_stay_so() -> None:
    near, far = [(0, 1.0, 0.0), (5, 2.0, 0.0)], [(0, 1.0, 5.0), (5, 2.0, 5.0)]
    data = Points.from_records([[], near, [], far, []], owner=[0, 1, 2, 3, 4], attributes={"a": list("vwxyz")})
    result = run(Tga(k=2, publish="points"), data)
    assert np.diff(result.data.offsets).tolist() == [0, 2, 0, 2, 0]
    for made in (result.data, result.boxes):
        assert made is not None
        assert made.attributes["a"].values() == list("vwxyz")
        assert (made.owner.tolist(), made.owners, made.frame) == ([0, 1, 2, 3, 4], "given", data.frame)


def test_groups_that_keep_no_box_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tga._Tracks.of

    def free_to_drop(data: Points, method: Tga) -> Any:
        tracks = real(data, method)
        return replace(tracks, rule=tracks.rule._replace(drop=math.log(20.0)))  # the last two are farther apart

    monkeypatch.setattr(tga._Tracks, "of", free_to_drop)
    data = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)], [(0, 500.0, 0.0)], [(0, 900.0, 0.0)]])
    result = run(Tga(k=2), data, [0, 1, 2, 3])
    assert np.diff(result.data.offsets).tolist() == [1, 1, 0, 0]
    assert result.facts["trajectories without a box"] == 2
    assert result.facts["points suppressed"] == 2
    none = run(Tga(k=2, publish="points"), data.take(np.array([2, 3])))
    assert none.data.n_rows == 0
    assert none.facts["boxes"] == none.facts["boxes around two different points, which are its corners"] == 0


def test_all_points_equal() -> None:
    data = Points.from_records([[(3, 1.0, 1.0)]] * 5)
    for publish in ("boxes", "points"):
        result = run(Tga(k=2, publish=publish), data)
        assert result.facts["total log cost"] == 0
        assert result.facts["points suppressed"] == 0
        assert result.data.n_rows == 5
    assert result.data.record(4) == [(3, 1.0, 1.0)]


def test_huge_numbers() -> None:
    low, high = -(2**63), 2**63 - 1
    data = Points.from_records([[(low, 1e12, -1e12), (high - 1, 0.0, 0.0)], [(low + 1, -1e12, 1e12), (high, 0.0, 0.0)]])
    result = run(Tga(k=2, publish="points"), data)
    assert result.data.n_rows == 4
    assert math.isfinite(float(result.facts["total log cost"]))
    farther = replace(data, x=data.x * 1e90)
    with pytest.raises(InputError, match=r"at most 1e\+100 m"):
        run(Tga(k=2), farther)


def test_what_is_refused() -> None:
    for name in ("space_weight", "time_weight"):
        with pytest.raises(ParameterError, match=f"tga: {name} must be a number >= 0"):
            Tga(k=2, **{name: -1})
    for weights in ((0, 0), (1e101, 1)):
        with pytest.raises(ParameterError, match="must not both be 0"):
            Tga(k=2, space_weight=weights[0], time_weight=weights[1])
    with pytest.raises(ParameterError, match="k must be an integer >= 2"):
        Tga(k=1)
    for records in ([], [[]], [[(0, 0.0, 0.0)]]):
        people = sum(map(bool, records))
        with pytest.raises(InputError, match=f"tga: k is 2, but the data holds points of {people} people"):
            run(Tga(k=2), Points.from_records(records))


def test_progress_is_told() -> None:
    steps: list[tuple[str, int]] = []

    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        steps.append((step, done))

    Tga(k=2).run(walkers(40), rng=np.random.default_rng(0), engine=LocalEngine(workers=1, progress=progress))
    names = list(dict.fromkeys(step for step, _ in steps))
    assert names == ["preparing trajectories", "grouping trajectories", "adding what is left", "drawing boxes"]
    done = [n for step, n in steps if step == "grouping trajectories"]
    assert done == sorted(done)
    assert done[0] == 0 < done[-1]


def test_coarse_boxes_hold_the_points() -> None:
    data = walkers(5, m=37)
    short = Points.from_records([*(data.record(i) for i in range(5)), [(0, 1.0, 2.0)], [(0, 1.0, 2.0), (1, 5.0, 3.0)]])
    tracks = tga._Tracks.of(short, Tga(k=2))
    assert isinstance(tracks.sequences, Sequences)
    assert tracks.coarse.count.sum(axis=0).tolist() == [37.0] * 5 + [1.0, 2.0]
    for i in range(len(short)):
        rows = np.arange(short.offsets[i], short.offsets[i + 1])
        cuts = np.arange(17) * len(rows) // 16
        for p in range(16):
            part = rows[cuts[p] : max(cuts[p] + 1, cuts[p + 1])]
            for d, column in enumerate((short.x, short.y, short.t - short.t.min())):
                assert tracks.coarse.low[d, p, i] == column[part].min()
                assert tracks.coarse.high[d, p, i] == column[part].max()
