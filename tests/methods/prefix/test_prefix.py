"""The prefix-tree baseline: worked examples, what is promised, and what is not."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.prefix.prefix import Prefix
from wayveil.model import MethodResult, RoadNetwork, Routes, SubsequenceK


def run(method: Prefix, data: Routes, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))


def on_loops(counts: dict[str, int], **more: Any) -> Routes:
    """Routes given by the letters of their roads, which all begin and end at one node."""
    network = RoadNetwork.from_roads([(name, "o", "o") for name in sorted(set("".join(counts)))])
    return Routes.from_records([list(text) for text, n in counts.items() for _ in range(n)], network=network, **more)


def texts(made: MethodResult) -> dict[str, int]:
    return dict(Counter("".join(made.data.record(i)) for i in range(len(made.data))))


def test_the_worked_example() -> None:
    data = on_loops({"ABCD": 2, "ABE": 1, "ACD": 1, "CD": 2, "FG": 1})
    made = run(Prefix(k=2), data)
    assert texts(made) == {"ABCD": 3, "AB": 1, "CD": 2}
    assert made.source is not None
    assert made.source.tolist() == [0, 1, 2, 3, 4, 5]
    assert made.claim == SubsequenceK(k=2)
    assert made.facts == {
        "slices": 1, "rare roads taken out": 3, "rows on rare roads": 3, "parts": 6, "parts left out": 0,
        "parts changed": 1, "parts shortened of people with too many": 0,
    }  # fmt: skip
    cut = run(Prefix(k=2, reattach="prefix"), data)
    assert texts(cut) == {"ABCD": 2, "AB": 1, "A": 1, "CD": 2}
    assert cut.facts["parts changed"] == 1


def test_what_has_nothing_in_common_is_left_out() -> None:
    data = on_loops({"A": 3, "BC": 1, "CB": 1, "CBC": 1})
    made = run(Prefix(k=3), data)
    assert texts(made) == {"A": 3}
    assert made.facts["parts left out"] == 3


def test_whole_routes_can_be_unique_and_leave_an_inference_route() -> None:
    # Figure 1: AB stays unique where three others go on to BC
    network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("BD", "B", "D")])
    data = Routes.from_records([["AB", "BC"]] * 3 + [["AB", "BD"]], network=network)
    made = run(Prefix(k=3), data)
    assert [made.data.record(i) for i in range(4)] == [["AB", "BC"]] * 3 + [["AB"]]


def test_k_counts_people_in_each_slice() -> None:
    data = on_loops({"AB": 4, "A": 1}, owner=[0, 0, 1, 2, 3], slices=[(0, 1), (0, 1), (0, 1), (1, 2), (1, 2)])
    assert texts(run(Prefix(k=2), data, workers=2)) == {"AB": 2, "A": 2}
    assert texts(run(Prefix(k=2, row_share="2/3"), data)) == {"AB": 3, "A": 2}
    assert texts(run(Prefix(k=3), data)) == {}


def test_bad_input_is_refused() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")])
    for records in ([], [["ab"]]):
        with pytest.raises(InputError, match="prefix: k is 2, but the data holds routes of"):
            run(Prefix(k=2), Routes.from_records(records, network=network))
    with pytest.raises(ParameterError, match="prefix: k must be an integer >= 2, got 1"):
        Prefix(k=1)
    with pytest.raises(ParameterError, match="prefix: reattach must be one of lcs, prefix; got 'no'"):
        Prefix(k=2, reattach="no")


@st.composite
def inputs(draw: st.DrawFn) -> Routes:
    roads = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6))
    network = RoadNetwork.from_roads([(f"r{i}", f"n{a}", f"n{b}") for i, (a, b) in enumerate(roads)])
    pool = draw(st.lists(st.lists(st.sampled_from(network.roads), max_size=6), min_size=1, max_size=6))
    records = draw(st.lists(st.sampled_from(pool), min_size=2, max_size=20))
    owners = [draw(st.integers(0, 9)) for _ in records] if draw(st.booleans()) else list(range(len(records)))
    slices = [draw(st.sampled_from([(0, 5), (5, 9)])) for _ in records]
    return Routes.from_records(records, network=network, owner=owners, slices=slices)


@settings(deadline=None, max_examples=120)
@given(inputs(), st.integers(2, 4), st.sampled_from(["lcs", "prefix"]))
def test_every_subsequence_is_that_of_k_people(data: Routes, k: int, reattach: str) -> None:
    if len({int(data.owner[i]) for i in range(len(data)) if data.record(i)}) < k:
        return
    made = run(Prefix(k=k, reattach=reattach), data)
    out = made.data
    having: dict[Any, list[int]] = defaultdict(list)
    for i in range(len(out)):
        path = out.road[out.offsets[i] : out.offsets[i + 1]].tolist()
        assert path
        assert all(out.network.to_node[a] == out.network.from_node[b] for a, b in pairwise(path))
        for part in {part for n in range(1, len(path) + 1) for part in combinations(path, n)}:
            having[(out.t_start[i], out.t_end[i], *part)].append(int(out.owner[i]))
    for people in having.values():
        assert len(set(people)) >= k
        assert max(Counter(people).values()) * k <= len(people)
    assert made.source is not None
    for i, source in enumerate(made.source.tolist()):
        assert set(out.record(i)) & set(data.record(source))
    assert out.owner.tolist() == data.owner[made.source].tolist()
    assert out.t_start.tolist() == data.t_start[made.source].tolist()
    assert made.source.tolist() == sorted(made.source.tolist())
