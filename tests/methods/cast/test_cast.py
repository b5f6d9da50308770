"""c-safety over a taxonomy: the paper's example, its repairs, and what is promised."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.cast.cast import Cast
from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model import CSafety, MethodResult, Stops, Taxonomy

GOLDEN = Path(__file__).parents[2] / "golden" / "cast"

Sequence = tuple[int, ...]


def paper(**numbers: Any) -> Cast:
    """The method of the paper: places below a node are equally likely, and nothing is asked of owners or of nodes."""
    return Cast(**{"weights": "uniform", "place_people": 1, "row_share": 1, **numbers})


def run(method: Cast, data: Stops, workers: int = 1) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))


def records(data: Stops) -> list[list[str]]:
    return [data.record(i) for i in range(len(data))]


def nodes_of(data: Stops) -> list[list[int]]:
    return [data.place[data.offsets[i] : data.offsets[i + 1]].tolist() for i in range(len(data))]


def golden(name: str) -> tuple[dict[str, Any], Stops]:
    case = json.loads((GOLDEN / f"{name}.json").read_text())
    tree = Taxonomy.from_parents([tuple(pair) for pair in case["parents"]], sensitive=case["sensitive"])
    return case, Stops.from_records(case["original"], taxonomy=tree)


# The definitions, as stated.


def above(tree: Taxonomy, node: int) -> list[int]:
    return [node] if tree.parent[node] < 0 else [node, *above(tree, int(tree.parent[node]))]


def leaves(tree: Taxonomy, node: int) -> list[int]:
    return [v for v in range(len(tree)) if v not in tree.parent and node in above(tree, v)]


def classes(data: Stops) -> dict[Sequence, list[int]]:
    """Trajectories with rows by their sequence of nodes that are not sensitive."""
    found: dict[Sequence, list[int]] = defaultdict(list)
    for i, nodes in enumerate(nodes_of(data)):
        if nodes:
            found[tuple(v for v in nodes if not data.taxonomy.sensitive[v])].append(i)
    return found


def probability(data: Stops, members: list[int], leaf: int) -> Fraction:
    tree, missed, rows = data.taxonomy, defaultdict(lambda: Fraction(1)), nodes_of(data)
    for i in members:
        missed[int(data.owner[i])] *= 1
        for node in rows[i]:
            if tree.sensitive[node] and node in above(tree, leaf):
                n = len(leaves(tree, node))
                missed[int(data.owner[i])] *= Fraction(n - 1, n)
    return sum((1 - q for q in missed.values()), Fraction(0)) / len(missed)


def unsafe(data: Stops, claim: CSafety) -> list[str]:
    """Return what is wrong with a publication."""
    tree, wrong, rows = data.taxonomy, [], nodes_of(data)
    hidden = [v for v in range(len(tree)) if tree.sensitive[v] and v not in tree.parent]
    for members in classes(data).values():
        if len({int(data.owner[i]) for i in members}) < claim.m:
            wrong.append("people")
        if any(probability(data, members, leaf) > claim.c for leaf in hidden):
            wrong.append("probability")
        shown = {v for i in members for v in rows[i] if tree.sensitive[v]}
        if any(a != b and a in above(tree, b) for a in shown for b in shown):
            wrong.append("one above the other")
    return wrong


def is_generalized(original: list[int], published: list[int], tree: Taxonomy) -> bool:
    """Whether stops were left out and the others replaced by nodes above them, of the same kind."""
    at = 0
    for node in published:
        while at < len(original) and not (
            node in above(tree, original[at]) and tree.sensitive[node] == tree.sensitive[original[at]]
        ):
            at += 1
        at += 1
    return at <= len(original)


def distances(data: Stops, made: Stops, weight: list[int]) -> list[Fraction]:
    """Definitions 11 and 12 over stops that are not sensitive; 1 where they are not equally many."""
    found, tree = [], data.taxonomy
    for original, published in zip(nodes_of(data), nodes_of(made), strict=True):
        a, b = ([v for v in nodes if not tree.sensitive[v]] for nodes in (original, published))
        if original:
            same = len(a) == len(b) and bool(published)
            loss = sum(weight[y] - weight[x] for x, y in zip(a, b, strict=True)) if same else 0
            found.append(Fraction(loss, weight[tree.root] * max(1, len(a))) if same else Fraction(1))
    return found


def weights(tree: Taxonomy) -> tuple[list[int], list[int]]:
    steps = [len(above(tree, v)) for v in range(len(tree))]
    return [max(steps) - s for s in steps], [len(leaves(tree, v)) for v in range(len(tree))]


# The paper's example and its repairs.


def test_the_example_of_the_paper() -> None:
    case, data = golden("example")
    for c, expected in case["published"].items():
        made = run(paper(c=c, m=case["m"]), data)
        assert records(made.data) == expected
        assert made.facts["cost by hops"] == pytest.approx(float(Fraction(case["cost_by_hops"])), abs=1e-15)
        assert made.facts["cost by leaves"] == pytest.approx(float(Fraction(case["cost_by_leaves"])), abs=1e-15)
        for leaf, value in case["probabilities"][c].items():
            number = data.taxonomy.nodes.index(leaf)
            assert probability(made.data, [0, 1, 2], number) == Fraction(value)
    hops, counts = weights(data.taxonomy)
    assert sum(distances(data, made.data, hops)) / 3 == Fraction(case["cost_by_hops"])
    assert sum(distances(data, made.data, counts)) / 3 == Fraction(case["cost_by_leaves"])


def test_the_facts_of_the_example() -> None:
    _, data = golden("example")
    assert run(paper(c=0.45, m=3), data).facts == {
        "groups": 1, "classes": 1, "trajectories that joined a group afterwards": 0, "trajectories published": 3,
        "trajectories cut": 0, "trajectories suppressed": 0, "stops published": 16, "stops cut off": 0,
        "stops of suppressed trajectories": 0, "sensitive stops suppressed": 0, "sensitive stops generalized": 4,
        "other stops generalized": 9, "share of published stops at the root": 3 / 16,
        "cost by hops": pytest.approx(17 / 36), "cost by leaves": pytest.approx(9 / 28),
    }  # fmt: skip
    assert run(paper(c=0.3, m=3), data).facts["sensitive stops suppressed"] == 4


def test_lengths_are_taken_from_the_longest_down() -> None:
    case, data = golden("loop_direction")
    made = run(paper(c=case["c"], m=case["m"]), data)
    assert sorted(np.diff(made.data.offsets).tolist()) == case["lengths"]
    assert made.facts["stops cut off"] == case["stops_cut"]
    assert made.facts["trajectories cut"] == 1
    assert made.facts["trajectories suppressed"] == 0


def test_the_root_does_not_hide_a_sensitive_place() -> None:
    case, data = golden("only_one_sensitive")
    assert records(run(paper(c=case["c"], m=case["m"]), data).data) == case["published"]


# Groups.

FLAT = Taxonomy.from_parents([("Place", ""), *((name, "Place") for name in "abcde"), ("s", "Place")], sensitive=["s"])


def flat(texts: list[str], **more: Any) -> Stops:
    return Stops.from_records([list(text) for text in texts], taxonomy=FLAT, **more)


def published(method: Cast, texts: list[str], **more: Any) -> list[str]:
    return ["".join(name[0] for name in record) for record in records(run(method, flat(texts, **more)).data)]


def test_who_is_left_over_joins_a_group_that_covers_it_anyway() -> None:
    assert published(paper(c=1, m=2), ["ab", "ab", "ab", "a", "a"]) == ["ab", "ab", "ab", "a", "a"]
    made = run(paper(c=1, m=2), flat(["ab", "ab", "ab", "a", "a"]))
    assert made.facts["trajectories that joined a group afterwards"] == 1
    # not covered: cut, and then covered by what is shorter
    assert published(paper(c=1, m=2), ["ab", "ab", "ac", "a", "a"]) == ["ab", "ab", "a", "a", "a"]


def test_who_is_needed_by_the_next_length_is_cut() -> None:
    assert published(paper(c=1, m=2), ["ab", "ab", "ab", "a"]) == ["ab", "ab", "a", "a"]
    assert published(paper(c=1, m=3), ["ab", "ab", "ab", "ab", "a"]) == ["ab"] * 4 + [""]  # would not be enough
    # with nothing but places that are not sensitive, nothing is left to share with "s"
    assert published(paper(c=1, m=2), ["a", "a", "a", "s"]) == ["a", "a", "a", ""]
    assert published(paper(c=1, m=2), ["a", "a", "as", "s"]) == ["a", "a", "s", "s"]


def test_what_is_left_at_the_shortest_length_is_suppressed() -> None:
    made = run(paper(c=1, m=3), flat(["abc", "abc", "abc", "de"]))
    assert records(made.data)[3] == []
    assert made.facts["trajectories suppressed"] == 1
    assert made.facts["stops of suppressed trajectories"] == 2
    # of "b" nothing would be left, so it makes no group with "s"
    made = run(paper(c=1, m=2), flat(["a", "a", "b", "s"]))
    assert records(made.data) == [["a"], ["a"], [], []]
    assert (made.facts["groups"], made.facts["trajectories suppressed"]) == (1, 2)


def test_one_person_counts_once() -> None:
    assert published(paper(c=1, m=2), ["ab", "ab", "c", "d"], owner=[0, 0, 1, 2]) == ["P", "P", "P", "P"]
    # three trips of one person, one of another: the trips that are covered join
    assert published(paper(c=1, m=2), ["ab", "ab", "ab", "ab"], owner=[0, 0, 0, 1]) == ["ab"] * 4
    # c counts people and trips: one of two was at s, in one or two of three trips
    assert published(paper(c=0.5, m=2), ["as", "as", "a"], owner=[0, 0, 1]) == ["a", "a", "a"]
    assert published(paper(c="2/3", m=2), ["as", "as", "a"], owner=[0, 0, 1]) == ["as", "as", "a"]
    assert published(paper(c=0.5, m=2), ["as", "a", "a"], owner=[0, 0, 1]) == ["as", "a", "a"]
    assert published(paper(c=0.5, m=2), ["as", "a", "as"], owner=[0, 0, 1]) == ["a", "a", "a"]


def test_many_trips_of_few_people() -> None:
    random = np.random.default_rng(5)
    texts = ["".join(random.choice(list("abcde"), 3)) for _ in range(3000)]
    owner = np.repeat(np.arange(6), [2500, 300, 100, 50, 30, 20]).tolist()
    data = flat(texts, owner=owner)
    made = run(paper(c=1, m=5), data)
    assert unsafe(made.data, made.claim) == []
    assert made.facts["trajectories suppressed"] == 0
    assert int(made.facts["groups"]) > 15
    # in the order of the taxonomy blocks are of one person: only when mixed anew are there groups
    alone = [["a", "a"]] * 1100 + [["b", "b"]] * 1100 + [["c", "c"]] * 1100
    split = Stops.from_records(alone, taxonomy=FLAT, owner=np.repeat([0, 1, 2], 1100).tolist())
    found = run(paper(c=1, m=3), split)
    assert found.facts["groups"] == 1100


def test_groups_are_made_as_long_as_there_are_people() -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        texts = ["".join(random.choice(list("abc"), 2)) for _ in range(9)]
        owner = random.integers(0, 5, 9).tolist()
        if len(set(owner)) > 1:
            made = run(paper(c=1, m=2), flat(texts, owner=owner)).data
            assert len({owner[i] for i, record in enumerate(records(made)) if not record}) < 2


def test_groups_with_the_same_nodes_are_one_class() -> None:
    # of two pairs "a", one has two of two people at s; together two of four
    assert published(paper(c=0.5, m=2), ["as", "as", "a", "a"]) == ["as", "as", "a", "a"]
    assert published(paper(c=0.4, m=2), ["as", "as", "a", "a"]) == ["a", "a", "a", "a"]
    assert run(paper(c=0.4, m=2), flat(["as", "as", "a", "a"])).facts["classes"] == 1


def test_trajectories_of_sensitive_places_only() -> None:
    tree = Taxonomy.from_parents(
        [("Place", ""), ("a", "Place"), ("H", "Place"), ("x", "H"), ("y", "H"), ("w", "H"), ("z", "Place")],
        sensitive=["H", "z"],
    )

    def made(c: float, m: int, sequences: list[list[str]]) -> list[list[str]]:
        return records(run(paper(c=c, m=m), Stops.from_records(sequences, taxonomy=tree)).data)

    assert made(0.5, 2, [["x"], ["y"], ["x"]]) == [["H"], ["H"], ["H"]]
    # without z two people are left, of five
    assert made(0.45, 2, [["x"], ["y"], ["z"], ["z"], ["z"]]) == [["H"], ["H"], [], [], []]
    # and here one, which is not enough
    both = [["x"], ["z"], ["z"], ["z"], ["a"], ["a"]]
    assert made(0.5, 2, both) == [[], [], [], [], ["a"], ["a"]]
    with pytest.raises(InputError, match=r"c = 0\.3, so nothing can be published"):
        made(0.3, 2, [["x"], ["y"], ["x"]])


def test_c_of_0_and_of_1() -> None:
    data = flat(["as", "as", "bs", "b"])
    assert records(run(paper(c=0, m=2), data).data) == [["a"], ["a"], ["b"], ["b"]]
    assert records(run(paper(c=1, m=2), data).data) == records(data)


def test_places_on_several_levels() -> None:
    tree = Taxonomy.from_parents(
        [("Place", ""), ("B", "Place"), ("b", "B"), ("C", "B"), ("c", "C"), ("d", "C"), ("e", "Place")]
    )
    pairs = [["c"], ["e"], ["d"], ["b"], ["b"], ["e"]]
    made = run(paper(c=1, m=2), Stops.from_records(pairs, taxonomy=tree))
    assert records(made.data) == [["C"], ["e"], ["C"], ["b"], ["b"], ["e"]]
    assert Preorder.of(tree).near(np.array([[5], [3], [6], [4], [2]])).tolist() == [4, 1, 3, 0, 2]


# What is promised, on anything.


@st.composite
def stops(draw: st.DrawFn) -> Stops:
    n = draw(st.integers(1, 9))
    parent = [-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))]
    labelled = [False, *(draw(st.booleans()) and draw(st.booleans()) for _ in range(1, n))]
    tree = Taxonomy(nodes=tuple(map(str, range(n))), parent=np.array(parent), sensitive=np.array(labelled))
    raw = draw(st.booleans())
    place = st.sampled_from([str(v) for v in range(n) if not raw or v not in parent])
    sequences = draw(st.lists(st.lists(place, max_size=4), min_size=1, max_size=12))
    owner = draw(st.none() | st.lists(st.integers(0, 5), min_size=len(sequences), max_size=len(sequences)))
    return Stops.from_records(sequences, taxonomy=tree, owner=owner)


@settings(deadline=None, max_examples=300)
@given(stops(), st.sampled_from(["0", "1/4", "1/3", "0.3", "1/2", "0.7", "1"]), st.integers(2, 4),
       st.sampled_from(["hops", "leaves"]))  # fmt: skip
def test_the_promise(data: Stops, c: str, m: int, distance: str) -> None:
    method = paper(c=c, m=m, distance=distance)
    held = np.diff(data.offsets) > 0
    if len(set(data.owner[held].tolist())) < m:
        with pytest.raises(InputError, match="the data holds stops of"):
            run(method, data)
        return
    try:
        made = run(method, data)
    except InputError:
        # nothing of it can be shared but sensitive places, or nothing at all
        assert any(all(data.taxonomy.sensitive[v] for v in nodes) for nodes in nodes_of(data) if nodes)
        return
    out, facts, tree = made.data, made.facts, data.taxonomy
    assert isinstance(out, Stops)
    assert unsafe(out, made.claim) == []
    assert all(is_generalized(a, b, tree) for a, b in zip(nodes_of(data), nodes_of(out), strict=True))
    assert out.owner.tolist() == data.owner.tolist()
    assert not out.t.any()
    assert not out.t_end.any()
    # everything is counted once
    left, known = np.diff(out.offsets) > 0, [[v for v in r if not tree.sensitive[v]] for r in nodes_of(data)]
    shown = [[v for v in r if not tree.sensitive[v]] for r in nodes_of(out)]
    cut = [bool(left[i]) and len(shown[i]) < len(known[i]) for i in range(len(data))]
    assert facts["trajectories published"] == left.sum()
    assert facts["trajectories cut"] == sum(cut)
    assert facts["trajectories suppressed"] == (held & ~left).sum()
    assert facts["stops published"] == out.n_rows
    assert facts["stops cut off"] == sum(len(known[i]) - len(shown[i]) for i in np.flatnonzero(left))
    lost = ("stops published", "stops cut off", "stops of suppressed trajectories", "sensitive stops suppressed")
    assert sum(int(facts[name]) for name in lost) == data.n_rows
    assert facts["classes"] == len(classes(out))
    for name, weight in zip(("cost by hops", "cost by leaves"), weights(tree), strict=True):
        if weight[tree.root]:
            found = distances(data, out, weight)
            assert facts[name] == pytest.approx(float(sum(found) / len(found)))
    # a group is only left out where no other was possible: a level never leaves m people behind
    assert len({int(data.owner[i]) for i in np.flatnonzero(held & ~left) if known[i]}) < m or any(
        not r for r, h in zip(known, held, strict=True) if h
    )


def test_generalized_to_the_lowest_common_ancestors() -> None:
    random = np.random.default_rng(8)
    for _ in range(20):
        parent = [-1, *(int(random.integers(max(0, i - 4), i)) for i in range(1, 25))]
        tree = Taxonomy(nodes=tuple(map(str, range(25))), parent=np.array(parent), sensitive=np.zeros(25, np.bool_))
        ends = [v for v in range(25) if v not in parent]
        rows = [[str(random.choice(ends)) for _ in range(3)] for _ in range(4)]
        made = nodes_of(run(paper(c=1, m=4), Stops.from_records(rows, taxonomy=tree)).data)
        for p in range(3):
            shared = set.intersection(*(set(above(tree, int(row[p]))) for row in rows))
            assert {nodes[p] for nodes in made} == {max(shared, key=lambda v: len(above(tree, v)))}


# Contract and mistakes.


def test_the_number_of_workers_does_not_matter_and_the_input_stays() -> None:
    random = np.random.default_rng(2)
    data = flat(["".join(random.choice(list("abcdes"), int(random.integers(1, 4)))) for _ in range(4000)])
    before = data.place.copy()
    one, two = (run(paper(c=0.05, m=3), data, workers) for workers in (1, 2))
    assert one.data.place.tolist() == two.data.place.tolist()
    assert one.facts == two.facts
    assert data.place.tolist() == before.tolist()
    assert one.claim == CSafety(c="0.05", m=3, weights="uniform", place_people=1, row_share=1, grouping="blind")


def test_times_are_not_published_but_their_format_stays() -> None:
    times = [[(5, 9)], [(7, 8)]]
    data = Stops.from_records([["a"], ["b"]], taxonomy=FLAT, times=times, time_format="integer")
    made = run(paper(c=1, m=2), data).data
    assert isinstance(made, Stops)
    assert (made.t.tolist(), made.t_end.tolist(), made.time_format) == ([0, 0], [0, 0], data.time_format)


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["ab"], ["ab", "", ""]])
def test_fewer_people_than_m(texts: list[str]) -> None:
    with pytest.raises(InputError, match=r"cast: m is 2, but the data holds stops of [01] people"):
        run(paper(c=0.5, m=2), flat(texts))


def test_nothing_that_could_be_shared() -> None:
    with pytest.raises(InputError, match=r"cast: no 2 people could share .* Take a smaller m"):
        run(paper(c=0.5, m=2), flat(["ab", "s"]))


def test_trajectories_without_stops_stay_so() -> None:
    made = run(paper(c=0.5, m=2), flat(["", "a", "", "a"]))
    assert records(made.data) == [[], ["a"], [], ["a"]]
    assert made.facts["trajectories suppressed"] == 0


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"c": 1.5, "m": 2}, "cast: c must be a number from 0 to 1"),
        ({"c": 0.5, "m": 1}, "cast: m must be an integer >= 2"),
        ({"c": 0.5, "m": 2, "distance": "miles"}, "cast: distance must be one of hops, leaves"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        paper(**wrong)


def test_a_c_with_a_very_long_denominator() -> None:
    ten = ["as"] * 3 + ["a"] * 7
    assert Counter(published(paper(c=0.1 + 0.2, m=2), ten)) == {"as": 3, "a": 7}
    assert Counter(published(paper(c="0.29999999999999999999999999", m=2), ten)) == {"a": 10}


def test_aligned_members_keep_what_they_share_and_leave_out_the_rest() -> None:
    """Two people go to S1 and then to P1, one of them by way of S2: by position both become Shop, Place."""
    tree = Taxonomy.from_parents(
        [("Place", ""), ("Shop", "Place"), ("S1", "Shop"), ("S2", "Shop"), ("Park", "Place"), ("P1", "Park"),
         ("Clinic", "Place"), ("C1", "Clinic")], sensitive=["Clinic"])  # fmt: skip
    data = Stops.from_records([["S1", "P1", "C1"], ["S2", "S1", "P1"]], taxonomy=tree)
    made = Cast(c="1/2", m=2, place_people=1).run(data, rng=np.random.default_rng(0), engine=LocalEngine()).data
    assert [made.record(i) for i in range(2)] == [["Shop", "Place", "C1"], ["Shop", "Place"]]
    method = Cast(c="1/2", m=2, place_people=1, alignment="order")
    made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine()).data
    assert [made.record(i) for i in range(2)] == [["S1", "P1", "C1"], ["S1", "P1"]]
    with pytest.raises(ParameterError, match="goes with grouping = blind only"):
        Cast(c="1/2", m=2, grouping="apart", alignment="order")
