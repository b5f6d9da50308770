"""Data cut anywhere and joined again are the same data, by the names of what they hold."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.model import Boxes, Coded, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits, concat

NETWORK = RoadNetwork.from_roads([(f"r{i}", str(i), str(i + 1)) for i in range(6)])
TREE = Taxonomy.from_parents(
    [("o", ""), ("b", "o"), ("a", "o"), ("b1", "b"), ("a1", "a"), ("a2", "a")], sensitive=["b"]
)
SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=8)


def made(kind: str, sizes: list[int], numbers: np.random.Generator) -> Any:
    """Return random data with trajectories of these sizes, owners with large codes, and an attribute with gaps."""
    times = [sorted(numbers.choice(50, n, replace=False).tolist()) for n in sizes]
    owner = (numbers.integers(0, 3, len(sizes)) + (7 << 32)).tolist()
    data: Any
    if kind == "visits":
        data = Visits.from_records([[(f"p{numbers.integers(5)}", t) for t in one] for one in times], owner=owner)
        data = replace(data, place_x=np.array([float(n[1:]) for n in data.locations]), place_y=np.ones(
            len(data.locations)))  # fmt: skip
    elif kind == "points":
        data = Points.from_records([[(t, *numbers.normal(size=2)) for t in one] for one in times], owner=owner)
        data = replace(data, known=numbers.random(data.n_rows) < 0.5)
    elif kind == "regions":
        boxes = [[(t, t + 1, 0.0, float(numbers.random()), 0.0, 1.0 + t) for t in one] for one in times]
        data = Boxes.from_records(boxes, owner=owner)
    elif kind == "routes":
        slices = [(10 * i, 10 * i + 10) for i in range(len(sizes))]
        ways = [[f"r{i}" for i in range(n)] for n in sizes]
        data = Routes.from_records(ways, network=NETWORK, slices=slices, owner=owner)
        data = replace(data, t=np.arange(data.n_rows))
    else:
        places = [[str(numbers.choice(["a1", "a2", "b1"])) for _ in one] for one in times]
        spans = [[(t, t + 3) for t in one] for one in times]
        data = Stops.from_records(places, taxonomy=TREE, times=spans, owner=owner)
    values = [None if code < 0 else "zyx"[code] for code in numbers.integers(-1, 3, len(sizes)).tolist()]
    return replace(data, attributes={"s": Coded.from_values(values)})


def told(data: Any) -> dict[str, Any]:
    """Return all that data say, without the codes in which they say it."""
    names = {
        Visits: ("t",),
        Points: ("t", "x", "y", "known"),
        Boxes: ("t_min", "t_max", "x_min", "x_max", "y_min", "y_max"),
        Routes: ("road", "t", "t_start", "t_end"),
        Stops: ("place", "t", "t_end"),
    }[type(data)]
    found = {name: getattr(data, name).tolist() for name in (*names, "offsets", "owner")}
    found["s"] = data.attributes["s"].values()
    found["owners"] = data.owners
    if isinstance(data, Visits):
        found["location"] = [data.locations[i] for i in data.location]
        found["at"] = [(data.place_x[i], data.place_y[i]) for i in data.location]
    return found


def cut(data: Any, borders: list[int]) -> list[Any]:
    """Return the data between these borders; places and values that a part lacks lose their codes there."""
    ends = [0, *sorted(min(border, len(data)) for border in borders), len(data)]
    parts = []
    for a, b in pairwise(ends):
        part = data.take(np.arange(a, b))
        part = replace(part, attributes={"s": Coded.from_values(part.attributes["s"].values())})
        if isinstance(part, Visits):
            used, code = np.unique(part.location, return_inverse=True)
            reverse = np.arange(len(used))[::-1]
            part = replace(
                part, location=reverse[code], locations=tuple(part.locations[i] for i in used[::-1]),
                place_x=part.place_x[used[::-1]], place_y=part.place_y[used[::-1]],
            )  # fmt: skip
        parts.append(part)
    return parts


@pytest.mark.parametrize("kind", ["visits", "points", "regions", "routes", "stops"])
@settings(deadline=None, max_examples=25)
@given(sizes=SIZES, borders=st.lists(st.integers(0, 8), max_size=3), seed=st.integers(0, 999))
def test_joined_parts_are_the_whole(kind: str, sizes: list[int], borders: list[int], seed: int) -> None:
    data = made(kind, sizes, np.random.default_rng(seed))
    assert told(concat(cut(data, borders))) == told(data)


def test_codes_do_not_depend_on_the_cut() -> None:
    data = made("visits", [3, 2, 4, 1], np.random.default_rng(1))
    one, two = (concat(cut(data, borders)) for borders in ([1], [2, 3]))
    assert one.location.tolist() == two.location.tolist()
    assert one.locations == two.locations == tuple(sorted(one.locations))
    assert one.attributes["s"].codes.tolist() == two.attributes["s"].codes.tolist()


def test_names_that_nobody_visits_are_not_kept() -> None:
    """A part may list places of all parts; what nobody published of them does not show in the result."""
    data = Visits.from_records([[("b", 1)], [("z", 2)], [("a", 3)]], attributes={"s": ["y", None, "x"]})
    both = concat([data.take(np.array([0])), data.take(np.array([2]))])
    assert both.locations == ("a", "b")
    assert [both.record(i) for i in range(2)] == [[("b", 1)], [("a", 3)]]
    located = replace(data, place_x=np.array([1.0, 2.0, 26.0]), place_y=np.array([-1.0, -2.0, -26.0]))
    both = concat([located.take(np.array([0])), located.take(np.array([2]))])
    assert (both.place_x.tolist(), both.place_y.tolist()) == ([1.0, 2.0], [-1.0, -2.0])


def test_points_of_which_all_or_none_say_what_is_known() -> None:
    data = made("points", [2, 1], np.random.default_rng(1))
    plain = replace(data, known=None)
    assert concat([plain, plain]).known is None
    assert concat([data, data]).known.tolist() == data.known.tolist() * 2


def test_what_all_parts_share_is_that_of_the_result() -> None:
    numbers = np.random.default_rng(1)
    routes, stops = made("routes", [2, 1], numbers), made("stops", [2, 1], numbers)
    assert concat([routes, routes]).network is NETWORK
    assert concat([stops, stops]).taxonomy is TREE


def test_times_of_another_format_are_refused() -> None:
    data = made("points", [2, 2], np.random.default_rng(1))
    with pytest.raises(InputError, match="written in another way"):
        concat([data, replace(data, time_format="epoch")])


def test_owners_from_elsewhere_are_refused() -> None:
    """Else the first part would say for all of them that every trajectory is a person."""
    data = made("visits", [2, 2], np.random.default_rng(1))
    for owners in ("declared", "hidden"):
        for parts in ([data, replace(data, owners=owners)], [replace(data, owners=owners), data]):
            with pytest.raises(InputError, match="come from elsewhere"):
                concat(parts)


def test_parts_on_networks_and_taxonomies_of_their_own() -> None:
    one = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    two = RoadNetwork.from_roads([("cd", "c", "d"), ("bc", "b", "c")])
    both = concat([
        Routes.from_records([["ab", "bc"]], network=one), Routes.from_records([["bc", "cd"], []], network=two),
    ])  # fmt: skip
    assert [both.record(i) for i in range(3)] == [["ab", "bc"], ["bc", "cd"], []]
    ends = {
        road: (both.network.nodes[a], both.network.nodes[b])
        for road, a, b in zip(both.network.roads, both.network.from_node, both.network.to_node, strict=True)
    }
    assert ends == {"ab": ("a", "b"), "bc": ("b", "c"), "cd": ("c", "d")}
    other = RoadNetwork.from_roads([("ab", "a", "c")])
    with pytest.raises(InputError, match="another node in one part"):
        concat([Routes.from_records([["ab"]], network=net) for net in (one, other)])
    more = Taxonomy.from_parents([("o", ""), ("z", "o"), ("a", "o"), ("a1", "a")])
    parts = [Stops.from_records([[name]], taxonomy=tree) for name, tree in (("z", more), ("a1", TREE), ("b1", TREE))]
    stops = concat(parts)
    assert [stops.record(i) for i in range(3)] == [["z"], ["a1"], ["b1"]]
    assert stops.sensitive.tolist() == [False, False, True]


def test_a_node_in_two_places_is_refused() -> None:
    """Else stops of one part would be taken for others: what is below a sensitive node would not be sensitive."""
    other = Taxonomy.from_parents([("o", ""), ("a", "o"), ("b", "o"), ("b1", "a")])
    for trees in ([TREE, other], [other, TREE]):
        with pytest.raises(InputError, match="is below another one in one part"):
            concat([Stops.from_records([["b1"]], taxonomy=tree) for tree in trees])


def test_taxonomies_joined_have_all_nodes_and_stops_keep_their_names() -> None:
    more = Taxonomy.from_parents([("o", ""), ("a", "o"), ("b", "o"), ("b1", "b"), ("a9", "a")], sensitive=["b"])
    tree = Taxonomy.union([more, TREE])
    above = {name: tree.nodes[i] if i >= 0 else "" for name, i in zip(tree.nodes, tree.parent.tolist(), strict=True)}
    assert above == {"o": "", "a": "o", "b": "o", "b1": "b", "a9": "a", "a1": "a", "a2": "a"}
    assert {tree.nodes[i] for i in np.flatnonzero(tree.sensitive)} == {"b", "b1"}
    for stops in (
        Stops.from_records([["a9", "b1"], ["b1"]], taxonomy=more),
        Stops.from_records([["a1"], ["b1", "a2"]], taxonomy=TREE),
    ):
        moved = stops.recode(tree)
        assert moved.taxonomy is tree
        assert [moved.record(i) for i in range(2)] == [stops.record(i) for i in range(2)]
        assert moved.sensitive.tolist() == stops.sensitive.tolist()
