"""Clustering-based anonymization, the earlier form: the paper's Figure 6, and what is promised."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.cba.cba import Cba
from wayveil.model import MethodResult, RoadNetwork, Routes, StrictK

GOLDEN = Path(__file__).parents[2] / "golden" / "cba"


def run(method: Cba, data: Routes, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))


def figure_6(case: dict[str, Any]) -> tuple[Routes, list[str]]:
    """Return the routes and the roads of the first one."""
    texts = [(text.split(), n) for text, n in case["routes"]]
    roads = list(pairwise(texts[0][0]))
    network = RoadNetwork.from_roads([(f"{a} {b}", a, b) for a, b in roads])
    records = [[f"{a} {b}" for a, b in pairwise(text)] for text, n in texts for _ in range(n)]
    return Routes.from_records(records, network=network), [f"{a} {b}" for a, b in roads]


def traffic(data: Routes) -> Counter[str]:
    return Counter(road for i in range(len(data)) for road in set(data.record(i)))


def error_rate(original: Counter[str], made: Counter[str], roads: list[str]) -> Fraction:
    return sum((Fraction(abs(made[r] - original[r]), original[r]) for r in roads), Fraction(0)) / len(roads)


def test_figure_6() -> None:
    case = json.loads((GOLDEN / "figure6.json").read_text())
    data, roads = figure_6(case)
    before = traffic(data)
    assert [before[r] for r in roads] == case["original"]
    untrimmed = Counter({r: case["people"] for r in roads})
    assert error_rate(before, untrimmed, roads) == Fraction(case["error_untrimmed"]) == Fraction(3625, 10000)
    made = run(Cba(k=case["k"]), data)
    nodes = case["published"].split()
    assert [made.data.record(i) for i in range(len(made.data))] == [[f"{a} {b}" for a, b in pairwise(nodes)]] * case[
        "people"
    ]
    assert error_rate(before, traffic(made.data), roads) == Fraction(case["error_trimmed"])
    assert made.claim == StrictK(k=10)


def test_the_error_of_figure_6_is_what_the_threshold_is_compared_with() -> None:
    case = json.loads((GOLDEN / "figure6.json").read_text())
    data, _ = figure_6(case)
    least = float(Fraction(case["error_untrimmed"]))
    # the second route comes last: it has fewest people, no more than k/2, and is left out where it cannot join
    for threshold, lengths in ((least - 1e-6, {5: 16}), (least + 1e-6, {4: 21})):
        made = run(Cba(k=10, threshold=threshold, pad="yes"), data)
        assert Counter(len(made.data.record(i)) for i in range(len(made.data))) == lengths


def test_who_shares_no_road_with_the_representative_is_left_out() -> None:
    """The cluster of ab has the road c because of abc; who drove c alone would be published as ab."""
    network = RoadNetwork.from_roads([("a", "0", "1"), ("b", "1", "2"), ("c", "2", "3")])
    made = run(Cba(k=2), Routes.from_records([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]], network=network))
    assert [made.data.record(i) for i in range(len(made.data))] == [["a", "b"]] * 3
    assert made.facts["parts left out"] == 1


def test_bad_input_is_refused() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")])
    for records in ([], [["ab"]]):
        with pytest.raises(InputError, match="cba: k is 2, but the data holds routes of"):
            run(Cba(k=2), Routes.from_records(records, network=network))
    with pytest.raises(ParameterError, match="cba: k must be an integer >= 2, got 1"):
        Cba(k=1)
    with pytest.raises(ParameterError, match="cba: threshold must be a number >= 0, got -1"):
        Cba(k=2, threshold=-1)


@st.composite
def inputs(draw: st.DrawFn) -> Routes:
    roads = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
    network = RoadNetwork.from_roads([(f"r{i}", f"n{a}", f"n{b}") for i, (a, b) in enumerate(roads)])
    pool = draw(st.lists(st.lists(st.sampled_from(network.roads), max_size=7), min_size=1, max_size=6))
    records = draw(st.lists(st.sampled_from(pool), min_size=2, max_size=24))
    owners = [draw(st.integers(0, 11)) for _ in records] if draw(st.booleans()) else list(range(len(records)))
    slices = [draw(st.sampled_from([(0, 5), (5, 9)])) for _ in records]
    return Routes.from_records(records, network=network, owner=owners, slices=slices)


@settings(deadline=None, max_examples=120)
@given(inputs(), st.integers(2, 4), st.sampled_from([0.2, 0.6, 3.0]), st.sampled_from(["no", "yes"]))
def test_the_promise_is_kept_whatever_the_index(data: Routes, k: int, threshold: float, pad: str) -> None:
    if len({int(data.owner[i]) for i in range(len(data)) if data.record(i)}) < k:
        return
    made = [
        run(Cba(k=k, threshold=threshold, rho_t="1/3", pad=pad, index=index), data, workers)
        for index, workers in (("inverted", 1), ("ctree", 1), ("none", 2))
    ]
    for other in made[1:]:
        assert other.data.offsets.tolist() == made[0].data.offsets.tolist()
        assert other.data.road.tolist() == made[0].data.road.tolist()
        assert other.facts == made[0].facts
    out = made[0].data
    groups: dict[Any, set[int]] = defaultdict(set)
    on: dict[Any, set[int]] = defaultdict(set)
    for i in range(len(out)):
        path = out.road[out.offsets[i] : out.offsets[i + 1]].tolist()
        assert path
        assert all(out.network.to_node[a] == out.network.from_node[b] for a, b in pairwise(path))
        groups[(out.t_start[i], *path)].add(int(out.owner[i]))
        for road in path:
            on[(out.t_start[i], road)].add(i)
    assert all(len(group) >= k for group in groups.values())
    for (slice_a, a), users in on.items():  # Definition 2, by published trajectories
        for (slice_b, b), others in on.items():
            if slice_a == slice_b and out.network.to_node[a] == out.network.from_node[b]:
                assert not 0 < len({out.owner[i] for i in users - others}) < k
                assert not 0 < len({out.owner[i] for i in others - users}) < k
    assert made[0].source is not None
    assert made[0].facts.get("dummies", 0) == (made[0].source < 0).sum()
    assert ("dummies" in made[0].facts) == (pad == "yes")
