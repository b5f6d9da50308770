"""Improved clustering-based anonymization: the paper's examples, the definition, and what is promised."""

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

from printed_methods import PrintedIcba
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.icba.icba import Icba
from wayveil.model import Coded, MethodResult, RoadNetwork, Routes, StrictK

GOLDEN = Path(__file__).parents[2] / "golden" / "icba"

Route = tuple[str, ...]


def run(method: Icba, data: Routes, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))


def on_nodes(texts: list[str], **more: Any) -> Routes:
    """Routes given by the letters of their nodes."""
    roads = sorted({a + b for text in texts for a, b in pairwise(text)})
    network = RoadNetwork.from_roads([(name, name[0], name[1]) for name in roads])
    return Routes.from_records([[a + b for a, b in pairwise(text)] for text in texts], network=network, **more)


def on_loops(counts: dict[str, int], **more: Any) -> Routes:
    """Routes given by the letters of their roads, which all begin and end at one node."""
    names = sorted(set("".join(counts)))
    network = RoadNetwork.from_roads([(name, "o", "o") for name in names])
    return Routes.from_records([list(text) for text, n in counts.items() for _ in range(n)], network=network, **more)


def texts(made: MethodResult) -> dict[str, int]:
    return dict(Counter("".join(made.data.record(i)) for i in range(len(made.data))))


def is_strict(data: Routes, k: int, *, dummies: bool = False, share: Fraction | None = None) -> bool:
    """Definition 4, counted both ways: every published route is that of k people, and nobody has more than a share."""
    groups: dict[Any, list[int]] = defaultdict(list)
    share = Fraction(1, k) if share is None else share
    for i in range(len(data)):
        path = data.road[data.offsets[i] : data.offsets[i + 1]].tolist()
        network = data.network
        if not path or any(network.to_node[a] != network.from_node[b] for a, b in pairwise(path)):
            return False
        groups[(data.t_start[i], data.t_end[i], *path)].append(int(data.owner[i]))
    for group in groups.values():
        people = {who for who in group if who >= 0}
        if len(people) < len(set(group)) and not (dummies and 2 * len(people) > k):
            return False
        if len(set(group)) < k or any(Fraction(group.count(who), len(group)) > share for who in people):
            return False
    return True


def inference_routes(data: Routes, k: int) -> list[str]:
    """Definition 2: the intersections where fewer than k people go another way than the others, in any slice.

    The sets are of published trajectories, which nobody can link to each other; their size is that of people.
    """
    ids: dict[Any, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for i in range(len(data)):
        for road in data.road[data.offsets[i] : data.offsets[i + 1]].tolist():
            ids[(data.t_start[i], data.t_end[i])][road].add(i)

    def size(group: set[int]) -> int:
        return len({int(data.owner[i]) for i in group})

    found = set()
    for on in ids.values():
        for a in on:
            for b in on:
                node = data.network.to_node[a]
                frequent = node == data.network.from_node[b] and size(on[a]) >= k and size(on[b]) >= k
                if frequent and (0 < size(on[a] - on[b]) < k or 0 < size(on[b] - on[a]) < k):
                    found.add(data.network.nodes[node])
    return sorted(found)


def traffic(data: Routes) -> Counter[str]:
    seen = {(data.owner[i], road) for i in range(len(data)) for road in data.record(i)}
    return Counter(road for _, road in seen)


def error_rate(original: Counter[str], made: Counter[str], roads: list[str]) -> Fraction:
    return sum((Fraction(abs(made[r] - original[r]), original[r]) for r in roads), Fraction(0)) / len(roads)


def test_figure_1() -> None:
    case = json.loads((GOLDEN / "figure1.json").read_text())
    data = on_nodes(list(case["routes"].values()))
    made = run(Icba(k=case["k"]), data)
    records = ["".join([*(name[0] for name in made.data.record(i)), made.data.record(i)[-1][1]]) for i in range(4)]
    assert records == list(case["published"].values())
    assert made.data.n_rows == case["published_rows"]
    assert made.source is not None
    assert made.source.tolist() == [0, 1, 2, 3]
    before, after = traffic(data), traffic(made.data)
    assert sorted(after) == case["frequent_roads"]
    assert error_rate(before, after, case["frequent_roads"]) == Fraction(case["error_over_frequent_roads"])
    assert error_rate(before, after, sorted(before)) == Fraction(case["error_over_all_roads"])
    assert inference_routes(made.data, 3) == case["inference_routes_of_published"]
    parts = on_nodes([text for listed in case["parts"].values() for text in listed])
    assert inference_routes(parts, 3) == case["inference_routes_of_parts"]
    assert made.facts == {
        "slices": 1, "rare roads taken out": 4, "rows on rare roads": 4, "parts": 4, "parts left out": 0,
        "clusters": 1, "parts moved to another cluster": 0, "parts left out of people with too many": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("method", "least"), [(PrintedIcba, 0.5), (Icba, 1)])
def test_the_error_of_figure_1_against_rho_c(method: type[Icba], least: float) -> None:
    data = on_nodes(["ABC"] * 3 + ["ABD"])
    for rho_c, rows in ((least, 6), (least + 0.01, 8), ("auto", 8)):
        assert run(method(k=3, rho_c=rho_c, pad="yes"), data).data.n_rows == rows


def test_the_literal_mean_prefers_clusters_with_many_roads() -> None:
    case = json.loads((GOLDEN / "literal.json").read_text())
    for error, kind in (("literal", PrintedIcba), ("repaired", Icba)):
        method = kind(k=case["k"], rho_t=case["rho_t"])
        # every road of the third route has k people on it, by others who drive there alone
        alone = {name: case["k"] for name in "efgh"}
        made = texts(run(method, on_loops({**case["routes"], **alone})))
        assert {text: n for text, n in made.items() if len(text) > 1} == case[error]


def test_small_clusters_are_padded_or_left_out() -> None:
    data = on_loops({"ab": 2, "cd": 3, "a": 4, "b": 4, "c": 4, "d": 4})
    made = run(Icba(k=4, pad="yes", rho_t=1), data)
    assert texts(made) == {"cd": 4, "a": 4, "b": 4, "c": 4, "d": 4}
    assert made.source is not None
    assert made.source.tolist()[-2:] == [20, -1]
    assert made.data.owner[-1] == -1
    assert (made.facts["dummies"], made.facts["parts left out"], made.facts["clusters"]) == (1, 2, 5)
    assert made.claim == StrictK(k=4, pad="yes")
    without = run(Icba(k=4, rho_t=1), data)
    assert texts(without) == {"a": 4, "b": 4, "c": 4, "d": 4}
    assert without.facts["parts left out"] == 5


def test_dummies_have_the_attributes_of_others_in_turn() -> None:
    data = on_loops({"ab": 3, "a": 5, "b": 5})
    data = Routes(**{**vars(data), "attributes": {"kind": Coded.from_values(list("xyzuuuuuvvvvv"))}})
    made = run(Icba(k=5, pad="yes", rho_t=1), data)
    assert texts(made) == {"ab": 5, "a": 5, "b": 5}
    assert made.data.attributes["kind"].values()[-2:] == ["x", "y"]
    assert made.data.owner.tolist()[-2:] == [-1, -2]


def test_people_of_clusters_with_the_same_representative_count_together() -> None:
    # abc gathers five people, too many for the two on c, and becomes ab as well
    counts = {"ab": 1, "abc": 1, "abcd": 1, "abd": 1, "adb": 1, "bad": 1}
    for pad in ("no", "yes"):
        made = run(Icba(k=2, pad=pad, rho_t="0.7", rho_c=100), on_loops(counts))
        assert texts(made) == {"ab": 6}
    assert made.facts["clusters"] == 2


def test_routes_of_small_clusters_look_at_later_clusters_too() -> None:
    counts = {"abe": 2, "abc": 1, "abcd": 1, "abcde": 1, "d": 3}
    made = run(Icba(k=3, rho_t="0.7", rho_c=3), on_loops(counts))
    assert texts(made) == {"abc": 5, "d": 3}
    assert made.facts["parts moved to another cluster"] == 2


def test_routes_of_small_clusters_look_for_a_larger_one() -> None:
    # ab (2 people) comes before abx (1, 1, 1 by other routes) and so cannot find it at first
    data = on_loops({"abc": 2, "abd": 5, "a": 5, "b": 5, "c": 5, "d": 5})
    made = run(Icba(k=5, rho_c=0), data)
    assert texts(made) == {"abd": 7, "a": 5, "b": 5, "c": 5, "d": 5}
    assert made.facts["parts moved to another cluster"] == 2
    far = run(Icba(k=5, rho_c=0), on_loops({"abcxy": 2, "abd": 5, "a": 5, "b": 5, "c": 5, "x": 5, "y": 5, "d": 5}))
    assert texts(far) == {"abd": 5, "a": 5, "b": 5, "c": 5, "x": 5, "y": 5, "d": 5}
    assert far.facts["parts left out"] == 2


def test_k_counts_people() -> None:
    data = on_loops({"ab": 4}, owner=[0, 0, 1, 2])
    assert run(Icba(k=3), data).data.owner.tolist() == [0, 1, 2]
    assert len(run(Icba(k=3, row_share="1/2"), data).data) == 4
    assert len(run(Icba(k=4), on_loops({"ab": 5, "c": 1}, owner=[0, 0, 1, 2, 2, 3])).data) == 0


def test_a_slice_is_anonymized_by_itself() -> None:
    data = on_nodes(["ABC"] * 4, slices=[(0, 9), (9, 18), (0, 9), (9, 18)])
    made = run(Icba(k=2), data, workers=2)
    assert len(made.data) == 4
    assert made.data.t_start.tolist() == [0, 9, 0, 9]
    assert len(run(Icba(k=3), data).data) == 0


def test_nothing_frequent_is_an_empty_publication() -> None:
    made = run(Icba(k=2), on_nodes(["AB", "CD", "DC"]))
    assert (len(made.data), made.data.n_rows, made.facts["rare roads taken out"]) == (0, 0, 3)


def test_bad_input_is_refused() -> None:
    for data in (on_nodes([]), on_nodes(["AB"])):
        with pytest.raises(InputError, match="icba: k is 2, but the data holds routes of"):
            run(Icba(k=2), data)
    with pytest.raises(ParameterError, match="icba: k must be an integer >= 2, got 1"):
        Icba(k=1)
    with pytest.raises(ParameterError, match="icba: rho_c must be a number >= 0 or 'auto', got -1"):
        Icba(k=2, rho_c=-1)
    with pytest.raises(ParameterError, match="icba: rho_t must be a number from 0 to 1, got 2"):
        Icba(k=2, rho_t=2)


# the whole method once more, from its description, in plain Python


def parts_by_definition(data: Routes, k: int) -> list[tuple[int, Route]]:
    """Return (trajectory, part) in the order of owners; all trajectories are of one slice."""
    on: dict[str, set[int]] = defaultdict(set)
    for i in range(len(data)):
        for road in data.record(i):
            on[road].add(int(data.owner[i]))
    ends = {name: (data.network.from_node[r], data.network.to_node[r]) for r, name in enumerate(data.network.roads)}
    found: list[tuple[int, Route]] = []
    for i in sorted(range(len(data)), key=lambda i: int(data.owner[i])):
        part: list[str] = []
        for road in [*data.record(i), None]:
            if part and (road is None or len(on[road]) < k or ends[part[-1]][1] != ends[road][0]):
                found.append((i, tuple(part)))
                part = []
            if road is not None and len(on[road]) >= k:
                part.append(road)
    return found


def cluster_by_definition(
    routes: list[Route], people: dict[Route, set[int]], on: Counter[str], method: Icba, given: dict[Route, int],
    bound: float,
) -> list[dict[str, Any]]:  # fmt: skip
    clusters: list[dict[str, Any]] = []
    for route in routes:
        support, mine, best = len(people[route]), given.get(route, -1), (float("inf"), -1, False)
        for i, c in enumerate(clusters):
            if Fraction(len(set(route) & c["roads"]), len(set(route))) > method.rho_t:
                differ = sum(abs(route.count(r) - c["rep"].count(r)) for r in {*route, *c["rep"]})
                if isinstance(method, PrintedIcba):
                    size = len({*route} | c["roads"])
                    fits = support**2 * differ < bound * size
                else:
                    size = (len(route) + len(c["rep"]) + differ) // 2
                    fits = differ < len(route) if bound < 0 else support**2 * differ < bound
                best = min(best, (differ / size, i, fits))
        if mine < 0 and (given or support < method.k) and best[2]:
            mine = best[1]
        if mine < 0 and not given:
            mine = len(clusters)
        if mine == len(clusters):
            clusters.append({"first": route, "people": set(), "roads": set(), "members": []})
        if mine >= 0:
            c = clusters[mine]
            c["people"] |= people[route]
            c["roads"] |= set(route)
            c["members"].append(route)
            rep, again = c["first"], True
            while len(rep) > 1 and again:
                again = False
                if 2 * on[rep[0]] < len(c["people"]):
                    rep, again = rep[1:], True
                if len(rep) > 1 and 2 * on[rep[-1]] < len(c["people"]):
                    rep, again = rep[:-1], True
            c["rep"] = rep
    return clusters


def bounds_by_definition(data: Routes, method: Icba) -> list[float]:
    """Return the bounds of the local error of which `auto` takes the best: (k/2)^2, and two that fit longer trips."""
    if method.rho_c != "auto":
        return [float(method.rho_c)]
    printed = method.k * method.k / 4
    if isinstance(method, PrintedIcba):
        return [printed]
    lengths = [len(route) for _, route in parts_by_definition(data, method.k)]
    mean = sum(lengths) / max(len(lengths), 1)
    return [printed, *(max(printed, 25.0, factor * mean) for factor in (0.0, 1.25, 2.0))]


def publish_by_definition(data: Routes, method: Icba, rho_c: float) -> Counter[tuple[int, Route]]:
    """Return how often (input trajectory or -1, published route) occurs."""
    parts, k = parts_by_definition(data, method.k), method.k
    people: dict[Route, set[int]] = defaultdict(set)
    for i, route in parts:
        people[route].add(int(data.owner[i]))
    on = traffic(data)
    routes = sorted(people, key=lambda route: -len(people[route]))
    clusters = cluster_by_definition(routes, people, on, method, {}, rho_c)
    made: Counter[tuple[int, Route]] = Counter()
    if method.pad == "yes":
        rep = {route: c["rep"] for c in clusters for route in c["members"]}
    else:
        enough = [c for c in clusters if len(c["people"]) >= k]
        stays = {route: number for number, c in enumerate(enough) for route in c["members"]}
        if len(enough) < len(clusters):
            order = [r for r in routes if r in stays] + [r for r in routes if r not in stays]
            bound = rho_c if isinstance(method, PrintedIcba) else -1.0
            clusters = cluster_by_definition(order, people, on, method, stays or {("nowhere",): 0}, bound)
        rep = {route: c["rep"] for c in clusters for route in c["members"]}
    rep = {route: of for route, of in rep.items() if set(route) & set(of)}  # nobody is where they never drove
    for of in set(rep.values()):
        rows = [i for i, route in parts if rep.get(route) == of]
        behind = Counter(int(data.owner[i]) for i in rows)
        if 2 * len(behind) > k if method.pad == "yes" else len(behind) >= k:
            dummies = max(0, k - len(behind))
            most = max(behind.values())
            while most * k > dummies + sum(min(n, most) for n in behind.values()):
                most -= 1
            kept: Counter[int] = Counter()
            for i in rows:
                kept[int(data.owner[i])] += 1
                made[(i, of)] += kept[int(data.owner[i])] <= most
            made[(-1, of)] += dummies
    return +made


@st.composite
def inputs(draw: st.DrawFn) -> Routes:
    roads = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
    network = RoadNetwork.from_roads([(f"r{i}", f"n{a}", f"n{b}") for i, (a, b) in enumerate(roads)])
    pool = draw(st.lists(st.lists(st.sampled_from(network.roads), max_size=7), min_size=1, max_size=6))
    records = draw(st.lists(st.sampled_from(pool), min_size=2, max_size=24))
    owners = [draw(st.integers(0, 11)) for _ in records] if draw(st.booleans()) else list(range(len(records)))
    return Routes.from_records(records, network=network, owner=owners)


@settings(deadline=None, max_examples=200)
@given(inputs(), st.integers(2, 5), st.data())
def test_the_method_is_its_description_and_keeps_its_promise(data: Routes, k: int, draw: st.DataObject) -> None:
    method = draw.draw(st.sampled_from([Icba, PrintedIcba]))(
        k=k,
        rho_c=draw.draw(st.sampled_from(["auto", 1, 6])),
        rho_t=draw.draw(st.sampled_from(["0", "1/3", "0.6"])),
        pad=draw.draw(st.sampled_from(["no", "yes"])),
        index=draw.draw(st.sampled_from(["inverted", "ctree", "none"])),
    )
    if len({int(data.owner[i]) for i in range(len(data)) if data.record(i)}) < k:
        with pytest.raises(InputError):
            run(method, data)
        return
    made = run(method, data)
    assert made.source is not None
    sources = made.source.tolist()
    found = Counter((i, tuple(made.data.record(at))) for at, i in enumerate(sources))
    assert found in [publish_by_definition(data, method, bound) for bound in bounds_by_definition(data, method)]
    assert is_strict(made.data, k, dummies=method.pad == "yes")
    assert inference_routes(made.data, k) == []
    dummies = sources.count(-1)
    assert sources == sorted(i for i in sources if i >= 0) + [-1] * dummies
    assert made.data.owner.tolist() == [
        *(int(data.owner[i]) for i in sources if i >= 0), *(-1 - i for i in range(dummies)),
    ]  # fmt: skip
    assert made.facts["parts"] - made.facts["parts left out"] == len(sources) - dummies


def test_auto_takes_a_larger_bound_where_that_changes_the_traffic_less() -> None:
    """Two who drive a loop once and two who drive it twice: with (k/2)^2 all are left out, with 25 all share one."""
    network = RoadNetwork.from_roads([("r0", "n0", "n0")])
    data = Routes.from_records([["r0"], ["r0"], ["r0", "r0"], ["r0", "r0"]], network=network, owner=range(4))
    assert publish_by_definition(data, Icba(k=3), 9 / 4) == Counter()
    made = run(Icba(k=3), data)
    assert [made.data.record(i) for i in range(4)] == [["r0"]] * 4


def test_any_number_of_workers_gives_the_same() -> None:
    rng = np.random.default_rng(3)
    records = ["".join(rng.choice(list("ABCD"), rng.integers(2, 7))) for _ in range(300)]
    slices = [(int(s), int(s) + 1) for s in rng.integers(0, 5, 300)]
    data = on_nodes(records, slices=slices)
    one, two = run(Icba(k=3), data, workers=1), run(Icba(k=3), data, workers=3)
    assert one.data.road.tolist() == two.data.road.tolist()
    assert one.data.offsets.tolist() == two.data.offsets.tolist()
    assert one.facts == two.facts
    assert is_strict(one.data, 3)
    assert inference_routes(one.data, 3) == []
    assert len(one.data) > 100


@st.composite
def crowded_routes(draw: st.DrawFn) -> Routes:
    """Long routes that hardly two people share, and some that many do."""
    n = draw(st.integers(4, 14))
    names = "abcdefghij"
    network = RoadNetwork.from_roads([(name, "o", "o") for name in names])
    routes = [draw(st.lists(st.sampled_from(names), min_size=1, max_size=9)) for _ in range(n)]
    return Routes.from_records([routes[draw(st.integers(0, n - 1))] for _ in range(2 * n)], network=network)


@settings(deadline=None, max_examples=60)
@given(data=crowded_routes(), k=st.integers(2, 4))
def test_auto_takes_the_bound_that_changes_the_traffic_least(data: Routes, k: int) -> None:
    people = Counter((int(data.owner[i]), road) for i in range(len(data)) for road in data.record(i))
    frequent = {road for road, n in Counter(road for _, road in people).items() if n >= k}

    def change(made: MethodResult) -> int:
        old = Counter(road for i in range(len(data)) for road in data.record(i) if road in frequent)
        new = Counter(road for i in range(len(made.data)) for road in made.data.record(i))
        return sum(abs(old[road] - new[road]) for road in frequent)

    parts: list[list[str]] = []
    for i in range(len(data)):
        parts.append([])
        for road in data.record(i):
            if road in frequent:
                parts[-1].append(road)
            else:
                parts.append([])
    lengths = [len(part) for part in parts if part]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    bounds = {k * k / 4, *(max(k * k / 4, 25.0, factor * mean) for factor in (0.0, 1.25, 2.0))}
    auto = run(Icba(k=k), data)
    assert change(auto) == min(change(run(Icba(k=k, rho_c=bound), data)) for bound in bounds)


def test_auto_keeps_long_trips_that_the_printed_bound_leaves_out() -> None:
    # the long ones differ in two roads of ten, which is above (2 / 2)^2, and so everybody is alone
    data = on_loops({"abcdefghx": 1, "abcdefghy": 1, "xp": 1, "yp": 1})
    assert not run(Icba(k=2, rho_c=1), data).data.n_rows
    made = run(Icba(k=2), data)
    assert texts(made) == {"abcdefghx": 2}
    assert is_strict(made.data, 2)
