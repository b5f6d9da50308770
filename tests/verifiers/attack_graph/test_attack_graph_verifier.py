"""The verifier of attack graphs against the definition: all perfect matchings, one by one; and planted violations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import AttackGraph, Boxes, Frame, Points
from wayveil.verifiers.attack_graph import attack_graph_verifier, boxes_at, candidates, dense_graph, matchings
from wayveil.verifiers.attack_graph.attack_graph_verifier import check_attack_graph
from wayveil.verifiers.attack_graph.candidates import Candidates
from wayveil.verifiers.common import index_ranges, step_budget
from wayveil.verifiers.common.step_budget import StepBudget

# ---------------------------------------------------------------------------------------------------- the definition


def oracle_edges(boxes, truth, top_speed="none", *, nodes=None):
    """{(i, o)} for published i and o, from the definition."""
    nodes = nodes or [i for i in range(len(boxes)) if boxes.record(i)]
    known = [True] * truth.n_rows if truth.known is None else truth.known.tolist()
    rows = {i: [r for r, k in zip(truth.record(i), known[truth.offsets[i] : truth.offsets[i + 1]], strict=True) if k]
            for i in nodes}  # fmt: skip

    def contains(o, t, x, y):
        return any(a <= t <= b and w <= x <= e and s <= y <= n for a, b, w, e, s, n in boxes.record(o))

    def reaches(o, t, x, y):
        if top_speed == "none":
            return True
        for a, b, w, e, s, n in boxes.record(o):
            reach = top_speed / 2**0.5 * (a - t if t < a else t - b if b < t else 0)
            if x < w - reach or x > e + reach or y < s - reach or y > n + reach:
                return False
        return True

    return nodes, {
        (i, o) for i in nodes for o in nodes if all(contains(o, *row) and reaches(o, *row) for row in rows[i])
    }


def oracle_prune(nodes, edges):
    """The edges that are in some perfect matching, by going through all of them."""
    found = set()
    for order in permutations(nodes):
        matching = set(zip(nodes, order, strict=True))
        if matching <= edges:
            found |= matching
    return found


def oracle_untrue(boxes, truth):
    return sum(
        not any(a <= t <= b and w <= x <= e and s <= y <= n for t, x, y in truth.record(i))
        for i in range(len(boxes))
        for a, b, w, e, s, n in boxes.record(i)
    )


def oracle_fast(boxes, truth, top_speed):
    """How many published trajectories have a step along an axis that is too long."""
    if top_speed == "none":
        return None
    fast = 0
    for i in range(len(boxes)):
        way = truth.record(i) if boxes.record(i) else []
        steps = [(abs(q[0] - p[0]), abs(q[1] - p[1]), abs(q[2] - p[2])) for p, q in pairwise(way)]
        fast += any(max(x, y) > top_speed / 2**0.5 * t for t, x, y in steps)
    return fast


def oracle_share(sets):
    """The largest share of one owner in lists of owners, exactly; nothing left is all of it."""
    return max((max((Fraction(s.count(p), len(s)) for p in s), default=Fraction(1)) for s in sets), default=Fraction(1))


def oracle_declared(boxes, truth, owner):
    """How many people have each box that is marked as declared, and how many boxes at known times are not marked."""
    if boxes.declared is None:
        return [], 0
    marks = boxes.declared.tolist()
    rows = [(i, box) for i in range(len(boxes)) for box in boxes.record(i)]
    crowds = {}
    for (i, box), marked in zip(rows, marks, strict=True):
        if marked:
            crowds.setdefault(box, set()).add(owner[i])
    known = [True] * truth.n_rows if truth.known is None else truth.known.tolist()
    moments = [(i, t) for i in range(len(truth)) for t, _, _ in truth.record(i)]
    moments = [moment for moment, declared in zip(moments, known, strict=True) if declared]
    unmarked = [
        box for (i, box), marked in zip(rows, marks, strict=True)
        if not marked and any(i == j and box[0] <= t <= box[1] for j, t in moments)
    ]  # fmt: skip
    return [len(people) for people in crowds.values()], len(unmarked)


def assert_agrees(boxes, truth, k, *, searches=True, **more):
    claim = AttackGraph(k=k, **more)
    verdict = check_attack_graph(boxes, claim, original=truth)
    nodes, edges = oracle_edges(boxes, truth, claim.top_speed)
    if not nodes or not truth.n_rows:
        assert not verdict.holds
        return verdict
    fast = oracle_fast(boxes, truth, claim.top_speed)
    owner = list(range(len(boxes)))
    for data in (boxes, truth):
        owner = data.owner.tolist() if data.owners == "given" else owner
    shared, unmarked = oracle_declared(boxes, truth, owner)
    # Who looks at the marks is left with less: where all that is known is in marked boxes of its own.
    looks = boxes if boxes.declared is None or unmarked else boxes.where(boxes.declared)
    left = oracle_prune(nodes, edges & oracle_edges(looks, truth, nodes=nodes)[1])
    owned = [[owner[o] for i, o in left if i == node] for node in nodes]
    owning = [[owner[i] for i, o in left if o == node] for node in nodes]
    candidates = [len(set(list_)) for list_ in owned]
    people = [len(set(list_)) for list_ in owning]
    share = oracle_share(owned + owning)
    for some in (oracle_edges(looks, truth, nodes=nodes)[1], edges, oracle_edges(boxes, truth)[1]):  # or uses less
        wide = oracle_prune(nodes, some)
        sets = [[owner[o] for i, o in wide if i == node] for node in nodes]
        share = max(share, oracle_share([*sets, *([owner[i] for i, o in wide if o == node] for node in nodes)]))
    outside = [i for i in nodes if (i, i) not in edges]
    untrue = oracle_untrue(boxes, truth)
    known = searches or not outside  # what is left cannot be told without a matching
    assert verdict.measured == {
        "min_candidates": min(candidates) if known else None,
        "min_people": min(people) if known else None,
        "edges": len(edges),
        "edges_left": len(left) if known else None,
        "symmetric": "yes" if edges == {(o, i) for i, o in edges} else "no",
        "not_contained": len(outside),
        "boxes_untrue": untrue,
        "max_owner_share": pytest.approx(float(share)) if known else None,
        "too_fast": fast,
        "min_declared": None if boxes.declared is None else min(shared, default=None),
        "not_declared": None if boxes.declared is None else unmarked,
        "trajectories": len(nodes),
        "boxes": boxes.n_rows,
    }
    enough = min(candidates) >= k and min(people) >= k and share <= claim.owner_share
    enough = enough and min(shared, default=k) >= k and not unmarked
    assert verdict.holds == (enough and not outside and not untrue and not fast)
    assert verdict.claim is claim
    assert (verdict.witness is None) == verdict.holds
    if verdict.witness:
        rows = [list(row) for i in nodes for row in boxes.record(i)]
        ends = {"containment": outside, "truth": []}
        ends["candidates"] = [i for i, few in zip(nodes, candidates, strict=True) if few == min(candidates)]
        ends["people"] = [i for i, few in zip(nodes, people, strict=True) if few == min(people)]
        breaks = verdict.witness["breaks"]
        first = "share" if share > claim.owner_share else "declared"
        first = "candidates" if min(candidates) < k else "people" if min(people) < k else first
        assert breaks == ("containment" if outside else "truth" if untrue else "speed" if fast else first)
        if breaks in ("truth", "declared"):
            assert verdict.witness["box"] in rows
        elif breaks not in ("speed", "share"):
            shown = [(list(boxes.record(i)[0]), list(boxes.record(i)[-1]), len(boxes.record(i))) for i in ends[breaks]]
            assert (verdict.witness["start"], verdict.witness["end"], verdict.witness["rows"]) in shown
        assert verdict.witness.get("candidates", min(candidates)) == min(candidates)
        assert verdict.witness.get("people", min(people)) == min(people)
    return verdict


# ------------------------------------------------------------------------------------------------------- any graph

HERE, THERE = (0.0, 0.0), (5.0, 5.0)


def of_graph(lists, owner=None, shared=()):
    """Publish this graph: person i is known at time i, to have been at HERE; so are those in `shared`, at time 0.

    At time t, trajectory o has a box around HERE if it is a candidate of person t, else one around THERE; what is not
    known of o is wherever its box is.
    """
    n = len(lists)
    boxes, truth, known = [], [], []
    for o in range(n):
        spots = [HERE if o in lists[t] else THERE for t in range(n)]
        boxes.append([(t, t, x - 1, x + 1, y - 1, y + 1) for t, (x, y) in enumerate(spots)])
        mine = 0 if o in shared else o
        truth.append([(t, *(HERE if t == mine else spot)) for t, spot in enumerate(spots)])
        known.append([t == mine for t in range(n)])
    owner = list(range(n)) if owner is None else owner
    points = replace(Points.from_records(truth, owner=owner), known=np.array(known).ravel())
    return Boxes.from_records(boxes, owner=owner), points


@st.composite
def graphs(draw, most=6, diagonal=None):
    n = draw(st.integers(1, most))
    mine = draw(st.booleans()) if diagonal is None else diagonal
    dense = draw(st.sampled_from([1, 3, 5]))
    cell = st.integers(0, 5).map(lambda number: number < dense)
    return [{o for o in range(n) if (mine and o == i) or draw(cell)} for i in range(n)]


@given(graphs(), st.integers(2, 3))
@settings(deadline=None, max_examples=200)
def test_pruning_is_what_all_matchings_have_in_common(lists, k):
    assert_agrees(*of_graph(lists), k)


@given(graphs(most=7, diagonal=True))
@settings(deadline=None, max_examples=25)
def test_pruning_of_seven_and_seven(lists):
    assert_agrees(*of_graph(lists), 2)


@given(graphs(), st.integers(2, 3), st.data())
@settings(deadline=None, max_examples=100)
def test_people_are_counted_by_owner(lists, k, data):
    owner = data.draw(st.lists(st.integers(0, 3), min_size=len(lists), max_size=len(lists)))
    shared = data.draw(st.sets(st.integers(0, len(lists) - 1)))  # of one kind: all of them have the candidates of 0
    lists = [lists[0] | {0} | shared if i in shared | {0} else list_ for i, list_ in enumerate(lists)]
    assert_agrees(*of_graph(lists, owner, shared), k)


@given(graphs(), st.integers(2, 3), st.data())
@settings(deadline=None, max_examples=100)
def test_a_graph_in_bits_is_the_same(lists, k, data):
    """Also with shapes of many trajectories and of few, and in small parts."""
    owner = data.draw(st.lists(st.integers(0, 3), min_size=len(lists), max_size=len(lists)) | st.none())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attack_graph_verifier, "MOST_EDGES", -1)
        patch.setattr(dense_graph, "_SPOTS_AT_ONCE", data.draw(st.sampled_from([1, 3, 1000])))
        patch.setattr(index_ranges, "CHUNK_ROWS", data.draw(st.sampled_from([1, 1000])))
        patch.setattr(dense_graph, "_LARGE", data.draw(st.sampled_from([1, 64])))
        assert_agrees(*of_graph(lists, owner), k, searches=False)


@pytest.mark.parametrize("n", [63, 64, 65, 200])
@pytest.mark.parametrize("step", [None, 8, 64])
def test_many_bits_are_pruned_as_lists_are(monkeypatch, n, step):
    """Random graphs of some size, against the listed form; one with a chain of components."""
    if step:
        monkeypatch.setattr(dense_graph, "_ROWS_AT_ONCE", step)
    rng = np.random.default_rng(n)
    for share in (0.5 / n, 1 / n, 2 / n, 0.3, "chain"):
        table = np.triu(np.ones((n, n), bool)) if share == "chain" else rng.random((n, n)) < share
        table |= np.eye(n, dtype=bool)
        owner = rng.integers(0, n // 3, n)
        bits = dense_graph.DenseGraph.of_lists([np.flatnonzero(row).tolist() for row in table])
        offsets = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
        lists = Candidates(kind=np.arange(n), offsets=offsets, candidate=np.nonzero(table)[1])
        assert bits.edges == table.sum()
        assert bits.is_symmetric == matchings.is_symmetric(lists) == np.array_equal(table, table.T)
        for people in (owner, np.arange(n)):
            one, other = bits.prune(people), matchings.prune(lists, people)
            assert (one.edges, one.least) == (other.edges, other.least)
            assert one.people.tolist() == other.people.tolist()
            assert one.rarest.tolist() == other.rarest.tolist()
            for side in ("of_person", "of_trajectory"):
                for name in ("people", "most", "whole"):
                    assert getattr(getattr(one, side), name).tolist() == getattr(getattr(other, side), name).tolist()


# -------------------------------------------------------------------------------------------------------- random data


@st.composite
def publications(draw):
    """Boxes of any times, several at a time or none, around the truth or not; and what is known of it."""
    n = draw(st.integers(1, 5))
    coordinate, times = st.integers(0, 2).map(float), st.lists(st.integers(0, 3), max_size=4, unique=True).map(sorted)
    truth = [[(t, draw(coordinate), draw(coordinate)) for t in draw(times)] for _ in range(n)]
    side = st.tuples(st.integers(0, 2), st.integers(0, 2)).map(sorted)
    boxes = []
    for _ in range(n):
        size = draw(st.integers(0, 4))
        since = sorted(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
        until = np.maximum.accumulate([t + draw(st.integers(0, 2)) for t in since] or [0]).tolist()
        rows = [(a, b, *draw(side), *draw(side)) for a, b in zip(since, until, strict=False)]
        boxes.append([(a, b, float(w), float(e), float(s), float(n)) for a, b, w, e, s, n in rows])
    owner = [draw(st.integers(0, 3)) for _ in range(n)]
    data, points = Boxes.from_records(boxes, owner=owner), Points.from_records(truth, owner=owner)
    known = [draw(st.booleans()) for _ in range(points.n_rows)]
    points = replace(points, known=np.array(known, bool) if draw(st.booleans()) else None)
    data = replace(data, owners=draw(st.sampled_from(["given", "declared", "hidden"])))
    if draw(st.booleans()):
        data = replace(data, declared=np.array([draw(st.booleans()) for _ in range(data.n_rows)], bool))
    return data, replace(points, owners=draw(st.sampled_from(["given", "declared"])))


@given(publications(), st.integers(2, 3))
@settings(deadline=None, max_examples=250)
def test_verdict_is_the_definition(made, k):
    assert_agrees(*made, k)


@given(
    publications() | graphs().map(of_graph),
    st.integers(2, 3),
    st.sampled_from([0.3, 1.1, 2.9, 9.1]),
    st.sampled_from(["1/k", "1/2", "1/4", 1]),
)
@settings(deadline=None, max_examples=250, derandomize=True)
def test_verdict_with_a_top_speed_is_the_definition(made, k, top_speed, row_share):
    assert_agrees(*made, k, top_speed=top_speed, row_share=row_share)


@given(publications() | graphs().map(of_graph), st.sampled_from(["chunks", "search", "bits", "rarest"]))
@settings(deadline=None, max_examples=120)
def test_how_it_is_computed_does_not_matter(made, way):
    with pytest.MonkeyPatch.context() as patch:
        if way == "chunks":
            patch.setattr(index_ranges, "CHUNK_ROWS", 2)
        elif way == "search":
            patch.setattr(boxes_at, "_TABLE_ROWS", 0)
        elif way == "rarest":  # boxes around positions are too many to be held
            patch.setattr(candidates, "_all_hits", lambda *_: None)
            patch.setattr(boxes_at, "_GRID_CELLS", 9)
        else:
            patch.setattr(attack_graph_verifier, "MOST_EDGES", -1)
        assert_agrees(*made, 2, searches=way != "bits")


@given(publications() | graphs().map(of_graph), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_order_and_names_of_owners_do_not_matter(made, random):
    order = list(range(len(made[0])))
    random.shuffle(order)
    moved = [replace(data.take(np.array(order)), owner=data.owner[order] * 5 + 2**40) for data in made]
    one = check_attack_graph(made[0], AttackGraph(k=2), original=made[1])
    other = check_attack_graph(moved[0], AttackGraph(k=2), original=moved[1])
    assert (one.holds, one.measured, one.witness, one.reason) == (
        other.holds, other.measured, other.witness, other.reason,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ worked examples

CELLS = [[(1, 2), (6, 1)], [(2, 3), (2, 6)], [(6, 6), (3, 7)]]
KNOWN = [[True, False], [False, True], [False, True]]
NAIVE = [[(1, 2, 2, 3), (6, 1, 6, 1)], [(1, 2, 2, 3), (2, 6, 3, 7)], [(6, 6, 6, 6), (2, 6, 3, 7)]]
UNION = [[(1, 2, 2, 3), (2, 1, 6, 7)], [(1, 2, 2, 3), (2, 1, 6, 7)], [(6, 6, 6, 6), (2, 1, 6, 7)]]
SYMMETRIC = [[(1, 2, 6, 6), (2, 1, 6, 7)]] * 3


def survey(published):
    truth = Points.from_records([[(t, float(x), float(y)) for t, (x, y) in enumerate(cells)] for cells in CELLS])
    boxes = [[(t, t, float(w), float(e), float(s), float(n)) for t, (w, s, e, n) in enumerate(b)] for b in published]
    return Boxes.from_records(boxes), replace(truth, known=np.array(KNOWN).ravel())


def test_the_naive_publication_of_the_survey_is_a_breach():
    verdict = assert_agrees(*survey(NAIVE), 2)
    assert verdict.measured["edges"] == 6
    assert verdict.measured["edges_left"] == 5
    assert verdict.measured["min_candidates"] == verdict.measured["min_people"] == 1
    assert verdict.witness == {
        "start": [0, 0, 1.0, 2.0, 2.0, 3.0], "end": [1, 1, 6.0, 6.0, 1.0, 1.0], "rows": 2, "candidates": 1,
        "breaks": "candidates",
    }  # fmt: skip
    assert verdict.reason == (
        "Somebody is left with trajectories of only 1 trajectory, fewer than k = 2, once edges in no perfect matching "
        "are taken away."
    )


def test_extreme_union_and_its_symmetric_form():
    verdict = assert_agrees(*survey(UNION), 2)
    assert verdict.holds
    assert verdict.measured["symmetric"] == "no"
    assert verdict.measured["edges"] == verdict.measured["edges_left"] == 8
    assert verdict.not_judged == ()
    assert verdict.reason == (
        "Everybody is left with trajectories of 2 trajectories or more, and each of the 3 trajectories with 2 or more "
        "(k = 2)."
    )
    verdict = assert_agrees(*survey(SYMMETRIC), 3)
    assert verdict.holds
    assert verdict.measured["symmetric"] == "yes"
    assert not assert_agrees(*survey(SYMMETRIC), 4).holds  # k is larger than the data


def test_enough_edges_are_not_enough():
    """Everybody and every trajectory has two edges or more, and pruning leaves the last person with one."""
    lists = [{0, 1}, {0, 1, 4}, {2, 3}, {2, 3}, {3, 4}]
    verdict = assert_agrees(*of_graph(lists), 2)
    assert not verdict.holds
    assert (verdict.measured["edges"], verdict.measured["edges_left"]) == (11, 9)
    assert verdict.measured["min_candidates"] == 1


def test_candidates_of_people_and_people_of_trajectories_are_both_counted():
    """Owner 7 has two trajectories: all three people are left with two owners, but one trajectory only with owner 7."""
    lists = [{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {2, 3}]
    verdict = assert_agrees(*of_graph([{0, 1}, {0, 1}, {2, 3}, {2, 3}], owner=[7, 7, 8, 9]), 2)
    assert verdict.witness["breaks"] == "candidates"
    assert "only 1 person, fewer than k = 2" in verdict.reason
    verdict = assert_agrees(*of_graph([{0, 1, 2}, {0, 1, 2}, {1, 2}], owner=[7, 7, 8]), 2)
    assert verdict.witness["breaks"] == "people"
    assert verdict.witness["people"] == 1
    assert verdict.reason.startswith("A trajectory is left with only 1 person, fewer than k = 2")
    assert not assert_agrees(*of_graph(lists), 3).holds


def test_symmetry_is_that_of_people_not_of_kinds():
    """Two people of one kind have the third as a candidate, who has only one of them."""
    assert assert_agrees(*of_graph([{0, 1, 2}, {0, 1, 2}, {0, 2}], shared={0, 1}), 2).measured["symmetric"] == "no"
    whole = of_graph([{0, 1, 2}, {0, 1, 2}, {0, 1, 2}], shared={0, 1})
    assert assert_agrees(*whole, 2).measured["symmetric"] == "yes"


def test_nothing_known_fits_everybody():
    boxes, truth = of_graph([{0}, {1}, {2}])
    nothing = replace(truth, known=np.zeros(truth.n_rows, bool))
    assert assert_agrees(boxes, nothing, 3).holds
    one = replace(truth, known=truth.known & (np.arange(truth.n_rows) < 3))  # something is known of the first only
    assert assert_agrees(boxes, one, 2).measured["min_candidates"] == 1


def test_without_a_declaration_everything_is_known():
    boxes, truth = of_graph([{0, 1}, {0, 1}])
    assert assert_agrees(boxes, truth, 2).holds
    assert assert_agrees(boxes, replace(truth, known=None), 2).holds
    boxes, truth = survey(UNION)
    assert not assert_agrees(boxes, replace(truth, known=None), 2).holds


def test_no_perfect_matching_leaves_nothing():
    verdict = assert_agrees(*of_graph([{0}, {0}, {0, 1, 2}]), 2)
    assert verdict.measured["edges_left"] == verdict.measured["min_people"] == 0
    assert verdict.witness["breaks"] == "containment"


def test_another_perfect_matching_than_the_true_one():
    """The trajectories of two people are exchanged: everything matches, and nothing is true."""
    verdict = assert_agrees(*of_graph([{1}, {0}]), 2)
    assert verdict.measured["edges_left"] == 2
    assert verdict.measured["not_contained"] == 2
    assert verdict.reason == "A trajectory does not contain what is known of its own person; 2 of them do not."


# ------------------------------------------------------------------------------------------------- planted violations

K, GROUPS, TIMES = 4, 120, 6
CLAIM = AttackGraph(k=K)


def groups():
    """120 groups of exactly k = 4 people, each with the box of the group at every time; three of six are known."""
    rng = np.random.default_rng(11)
    x, y = rng.uniform(0, 1e5, (2, GROUPS, 1, TIMES)) + rng.uniform(0, 50, (2, GROUPS, K, TIMES))
    n = GROUPS * K
    t = np.tile(np.arange(TIMES) * 60, n)
    common = {"offsets": np.arange(n + 1) * TIMES, "owner": np.arange(n), "owners": "given"}
    sides = {
        f"{name}_{end}": np.repeat(function(values, axis=1), K, axis=0).ravel()
        for name, values in (("x", x), ("y", y))
        for end, function in (("min", np.min), ("max", np.max))
    }
    known = rng.permuted(np.tile(np.arange(TIMES) < 3, (n, 1)), axis=1).ravel()
    return Boxes(t_min=t, t_max=t, **sides, **common), Points(t=t, x=x.ravel(), y=y.ravel(), known=known, **common)


def changed(data, column, row, value):
    values = getattr(data, column).copy()
    values[row] = value
    return replace(data, **{column: values})


def test_a_publication_without_violation_holds():
    boxes, truth = groups()
    verdict = check_attack_graph(boxes, CLAIM, original=truth)
    assert verdict.holds
    assert verdict.counted == "owners"
    assert verdict.measured == {
        "min_candidates": K, "min_people": K, "edges": GROUPS * K * K, "edges_left": GROUPS * K * K, "symmetric": "yes",
        "not_contained": 0, "boxes_untrue": 0, "max_owner_share": 1 / K, "too_fast": None, "min_declared": None,
        "not_declared": None,
        "trajectories": GROUPS * K, "boxes": GROUPS * K * TIMES,
    }  # fmt: skip


@pytest.mark.parametrize(("axis", "side"), [("x", "max"), ("x", "min"), ("y", "max"), ("y", "min")])
def test_one_centimetre_beyond_the_box_is_found(axis, side):
    """A known position of one of the group is at the border; the box of another one does not reach it."""
    boxes, truth = groups()
    border = getattr(boxes, f"{axis}_{side}")
    at = np.flatnonzero(truth.known & (getattr(truth, axis) == border))[5]
    other = at - TIMES if (at // TIMES) % K else at + TIMES  # the same time of the person beside
    inwards = 0.01 if side == "min" else -0.01
    verdict = check_attack_graph(
        changed(boxes, f"{axis}_{side}", other, border[other] + inwards), CLAIM, original=truth
    )
    assert not verdict.holds
    assert verdict.measured["edges"] == GROUPS * K * K - 1
    assert verdict.measured["min_candidates"] == verdict.measured["min_people"] == K - 1
    assert verdict.witness["breaks"] == "candidates"
    tiny = changed(boxes, f"{axis}_{side}", other, np.nextafter(border[other], np.inf if side == "min" else -np.inf))
    assert not check_attack_graph(tiny, CLAIM, original=truth).holds


def test_a_known_position_beyond_its_own_box_is_found():
    boxes, truth = groups()
    at = int(np.flatnonzero(truth.known)[77])
    for axis in ("x", "y"):
        moved = changed(truth, axis, at, getattr(boxes, f"{axis}_max")[at] + 0.01)
        verdict = check_attack_graph(boxes, CLAIM, original=moved)
        assert not verdict.holds
        assert verdict.measured["not_contained"] == 1
        assert verdict.measured["boxes_untrue"] == 1
        assert verdict.witness["breaks"] == "containment"
        assert verdict.witness["start"] == list(boxes.record(at // TIMES)[0])


def test_an_unknown_position_beyond_its_own_box_is_found():
    boxes, truth = groups()
    at = int(np.flatnonzero(~truth.known)[77])
    verdict = check_attack_graph(boxes, CLAIM, original=changed(truth, "y", at, boxes.y_min[at] - 0.01))
    assert not verdict.holds
    assert verdict.measured["not_contained"] == 0
    assert verdict.witness == {"box": list(boxes.record(at // TIMES)[at % TIMES]), "breaks": "truth"}
    assert verdict.reason == "A box contains no position of its person in its time; of 2,880 boxes, 1 do not."
    later = changed(changed(boxes, "t_max", TIMES - 1, 999), "t_min", TIMES - 1, 999)  # a time of no record
    assert check_attack_graph(later, CLAIM, original=truth).measured["boxes_untrue"] == 1


def test_one_missing_box_is_found():
    """At a known time of another one; a trajectory without a box at that time is no candidate."""
    boxes, truth = groups()
    at = int(np.flatnonzero(truth.known[:TIMES])[0])
    keep = np.ones(boxes.n_rows, bool)
    keep[TIMES + at] = False
    verdict = check_attack_graph(boxes.where(keep), CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.measured["min_people"] < K


def test_an_owner_who_is_there_twice_counts_once():
    boxes, truth = groups()
    boxes, truth = (changed(data, "owner", 5, 6) for data in (boxes, truth))
    verdict = check_attack_graph(boxes, CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.measured["min_candidates"] == verdict.measured["min_people"] == K - 1
    assert "only 3 people" in verdict.reason
    assumed = [replace(data, owners="declared") for data in (boxes, truth)]
    assert check_attack_graph(assumed[0], CLAIM, original=assumed[1]).holds
    assert not check_attack_graph(replace(boxes, owners="hidden"), CLAIM, original=truth).holds
    assert not check_attack_graph(boxes, CLAIM, original=assumed[1]).holds  # the published data say it


def test_who_is_not_published_is_nobody():
    boxes, truth = groups()
    keep = np.ones(boxes.n_rows, bool)
    keep[:TIMES] = False
    verdict = check_attack_graph(boxes.where(keep), CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.measured["trajectories"] == GROUPS * K - 1
    assert verdict.measured["min_candidates"] == K - 1
    keep[: K * TIMES] = False
    assert check_attack_graph(boxes.where(keep), CLAIM, original=truth).holds


def test_another_order_of_trajectories_is_found():
    boxes, truth = groups()
    order = np.arange(len(boxes))
    order[[1, K]] = order[[K, 1]]
    verdict = check_attack_graph(boxes, CLAIM, original=truth.take(order))
    assert not verdict.holds
    assert "other owners" in verdict.reason
    verdict = check_attack_graph(
        replace(boxes, owners="declared"), CLAIM, original=replace(truth.take(order), owners="declared")
    )
    assert not verdict.holds
    assert verdict.measured["not_contained"] == 2


# ------------------------------------------------------------------------------------- top speed, and who dominates


def runners(reach, owner=None):
    """Two people at (0, 0) and (10, 0), known at time 1 in a box of both; and cells `reach` around them at 0 and 2."""
    box = (1, 1, 0.0, 10.0, 0.0, 0.0)
    boxes = [[(0, 0, x - reach, x + reach, 0.0, 0.0), box, (2, 2, x - 1.0, x + 1.0, 0.0, 0.0)] for x in (0.0, 10.0)]
    truth = Points.from_records([[(t, x, 0.0) for t in range(3)] for x in (0.0, 10.0)])
    return Boxes.from_records(boxes), replace(truth, known=truth.t == 1)


def test_a_cell_out_of_reach_is_found():
    """A known position is 9 m from the cells of the other one a second later: 9 m/s along the axis are needed."""
    boxes, truth = runners(reach=1.0)
    assert assert_agrees(boxes, truth, 2).holds
    assert assert_agrees(boxes, truth, 2, top_speed=9.01 * 2**0.5).holds
    verdict = assert_agrees(boxes, truth, 2, top_speed=8.99 * 2**0.5)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "candidates"
    # one side is enough: before is wide, after is not
    assert not assert_agrees(*runners(reach=10.0), 2, top_speed=8.99 * 2**0.5).holds


def test_who_is_too_fast_is_found():
    boxes, truth = runners(reach=1.0)
    moved = changed(truth, "y", 0, 0.0)
    moved = changed(changed(moved, "x", 0, -1.0), "x", 1, 8.5)
    verdict = check_attack_graph(boxes, AttackGraph(k=2, top_speed=13), original=moved)
    assert not verdict.holds
    assert verdict.measured["too_fast"] == 1
    assert verdict.witness["breaks"] == "speed"
    assert "faster than the top speed of 13 m/s" in verdict.reason


def test_a_top_speed_must_be_a_number():
    boxes, truth = runners(reach=1.0)
    verdict = check_attack_graph(boxes, AttackGraph(k=2, top_speed="auto"), original=truth)
    assert not verdict.holds
    assert "does not say the top speed" in verdict.reason


def test_seconds_are_those_of_the_clock():
    boxes, truth = runners(reach=1.0)
    micro = 1_000_000
    truth = replace(truth, t=truth.t * micro, time_format="utc")
    boxes = replace(boxes, t_min=boxes.t_min * micro, t_max=boxes.t_max * micro, time_format="utc")
    for top_speed, holds in ((12.8, True), (12.6, False)):  # 9 times the square root of 2 is 12.73
        assert check_attack_graph(boxes, AttackGraph(k=2, top_speed=top_speed), original=truth).holds == holds


def test_one_person_with_many_trips_dominates():
    """Twenty trips of one and one of another, all alike: two people, but one has 20/21 of the trajectories."""
    truth = Points.from_records([[(0, 0.0, 0.0)]] * 21, owner=[0] * 20 + [1])
    boxes = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)]] * 21, owner=[0] * 20 + [1])
    verdict = check_attack_graph(boxes, CLAIM2, original=truth)
    assert not verdict.holds
    assert verdict.measured["max_owner_share"] == pytest.approx(20 / 21)
    assert verdict.witness["breaks"] == "share"
    assert "95.24 %, more than 1/2" in verdict.reason
    assert check_attack_graph(boxes, AttackGraph(k=2, row_share="20/21"), original=truth).holds
    some = np.array([0, 20])
    assert check_attack_graph(boxes.take(some), CLAIM2, original=truth.take(some)).holds


CLAIM2 = AttackGraph(k=2)


# ------------------------------------------------------------------------------------------- what cannot be judged


def test_without_the_original_and_declared_times_nothing_is_judged():
    boxes, _ = groups()
    verdict = check_attack_graph(boxes, CLAIM)
    assert verdict.holds  # as far as it can be judged, which is not at all
    assert verdict.reason == "The files do not say which times are declared, so they show nothing."
    assert "where people really were" in verdict.not_judged[0]
    assert verdict.measured["min_candidates"] is None


def marked():
    """The same with the boxes of declared times marked: those at which somebody of the group is known."""
    boxes, truth = groups()
    declared = np.repeat(truth.known.reshape(GROUPS, K, TIMES).any(axis=1, keepdims=True), K, axis=1).ravel()
    return replace(boxes, declared=declared), truth


def test_declared_times_can_be_judged_from_the_files():
    boxes, truth = marked()
    for data in (boxes, replace(boxes, owners="hidden")):
        verdict = check_attack_graph(data, CLAIM)
        assert verdict.holds
        assert verdict.measured["min_declared"] == K
        assert len(verdict.not_judged) == (1 if data.owners == "given" else 2)
    assert check_attack_graph(boxes, CLAIM, original=truth).holds
    assert not check_attack_graph(boxes, AttackGraph(k=K + 1)).holds


def test_a_declared_box_that_is_not_shared_is_found():
    boxes, truth = marked()
    at = int(np.flatnonzero(boxes.declared)[33])
    for column, value in (("x_min", boxes.x_min[at] - 1), ("t_max", boxes.t_max[at] + 1)):
        wider = changed(boxes, column, at, value)
        verdict = check_attack_graph(wider, CLAIM)
        assert not verdict.holds
        assert verdict.measured["min_declared"] == 1
        assert verdict.witness == {"box": list(wider.record(at // TIMES)[at % TIMES]), "breaks": "declared"}
        assert verdict.reason == "A box of a declared time is that of only 1 person, fewer than k = 4."
    assert not check_attack_graph(changed(boxes, "x_min", at, boxes.x_min[at] - 1), CLAIM, original=truth).holds
    same = changed(boxes, "owner", at // TIMES, boxes.owner[at // TIMES + (1 if (at // TIMES) % K == 0 else -1)])
    assert not check_attack_graph(same, CLAIM).holds


def test_a_known_time_that_is_not_declared_is_found():
    boxes, truth = marked()
    at = int(np.flatnonzero(truth.known)[50])
    hidden = replace(boxes, declared=boxes.declared & (np.arange(boxes.n_rows) != at))
    verdict = check_attack_graph(hidden, CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.measured["not_declared"] == 1
    assert verdict.witness["breaks"] == "declared"
    nothing = replace(boxes, declared=np.zeros(boxes.n_rows, bool))
    assert "No box is said to be of a declared time" in check_attack_graph(nothing, CLAIM).reason
    assert not check_attack_graph(nothing, CLAIM).holds


def test_hidden_owners_are_not_counted():
    boxes, truth = (replace(data, owners="hidden") for data in groups())
    verdict = check_attack_graph(boxes, CLAIM, original=truth)
    assert verdict.holds
    assert verdict.counted == "trajectories"
    assert "not whether they belong to 4 different people" in verdict.not_judged[0]


@pytest.mark.parametrize("boxes", [Boxes.from_records([]), Boxes.from_records([[], []])])
def test_nothing_published_never_holds(boxes):
    truth = Points.from_records([[(0, 0.0, 0.0)]] * len(boxes))
    verdict = check_attack_graph(boxes, AttackGraph(k=2), original=truth)
    assert not verdict.holds
    assert verdict.reason == "There is no published position, so there is nothing to judge."


def broken(data, **columns):
    made = replace(data)
    for name, values in columns.items():
        object.__setattr__(made, name, values)
    return made


def test_an_original_of_others_is_refused():
    boxes, truth = of_graph([{0, 1}, {0, 1}])
    for wrong, word in (
        (truth.take(np.array([0])), "one trajectory per published one"),
        (replace(truth, frame=Frame(crs="EPSG:2100")), "another frame"),
        (replace(truth, time_format="epoch"), "format of times"),
        (truth.where(np.zeros(truth.n_rows, bool)), "The original cannot be used. It has no position."),
        (broken(truth, x=np.full(truth.n_rows, np.nan)), "The original cannot be used. A coordinate is not a number"),
        (broken(truth, known=np.ones(3, bool)), "whether it is known"),
    ):
        verdict = check_attack_graph(boxes, AttackGraph(k=2), original=wrong)
        assert not verdict.holds
        assert verdict.witness is None
        assert word in verdict.reason
    wrong = broken(boxes, x_min=np.full(boxes.n_rows, np.nan))
    assert "not a number" in check_attack_graph(wrong, AttackGraph(k=2), original=truth).reason


@pytest.mark.parametrize(
    ("module", "limit", "value"),
    [
        (attack_graph_verifier, "STEP_LIMIT", GROUPS * K * TIMES - 1),  # boxes at known times
        (attack_graph_verifier, "STEP_LIMIT", 4_200),  # positions between two sides of a box
        (attack_graph_verifier, "STEP_LIMIT", 6_077),  # trajectories with the rarest spot
        (attack_graph_verifier, "STEP_LIMIT", 9_589),  # and with the other spots
        (attack_graph_verifier, "MOST_EDGES", 1_755),
        (boxes_at, "MOST_ENTRIES", GROUPS * K * TIMES - 1),
    ],
)
def test_what_takes_too_long_does_not_hold(monkeypatch, module, limit, value):
    boxes, truth = groups()
    assert check_attack_graph(boxes, CLAIM, original=truth).holds
    monkeypatch.setattr(module, limit, value)
    monkeypatch.setattr(attack_graph_verifier, "MOST_PEOPLE", GROUPS * K - 1)
    verdict = check_attack_graph(boxes, CLAIM, original=truth)
    assert not verdict.holds
    assert "cannot be certified within the limits" in verdict.reason
    assert verdict.measured["min_people"] is None


def test_what_is_too_much_to_list_is_put_into_bits(monkeypatch):
    boxes, truth = groups()
    listed = check_attack_graph(boxes, CLAIM, original=truth)
    monkeypatch.setattr(attack_graph_verifier, "MOST_EDGES", 1_755)
    monkeypatch.setattr(attack_graph_verifier, "MOST_PEOPLE", GROUPS * K)
    assert check_attack_graph(boxes, CLAIM, original=truth).measured == listed.measured
    monkeypatch.setattr(attack_graph_verifier, "STEP_LIMIT", 4_400)  # the spots, without what shares boxes
    assert "cannot be certified" in check_attack_graph(boxes, CLAIM, original=truth).reason


def test_boxes_around_many_positions_are_limited(monkeypatch):
    truth = Points.from_records([[(0, float(i), 0.0)] for i in range(10)])
    boxes = Boxes.from_records([[(0, 0, -float(i), 9.0 + i, -1.0, 1.0)] for i in range(10)])
    for limit, holds in ((100, True), (99, False)):
        monkeypatch.setattr(boxes_at, "MOST_ENTRIES", limit)
        assert check_attack_graph(boxes, AttackGraph(k=10), original=truth).holds == holds


def test_more_boxes_around_positions_than_can_be_held_are_looked_for_from_the_rarest(monkeypatch):
    boxes, truth = groups()
    held = check_attack_graph(boxes, CLAIM, original=truth)
    pairs = GROUPS * K * 3  # three positions of each are known, and at least the own box is around each
    monkeypatch.setattr(candidates, "hits", limited_hits(pairs))
    monkeypatch.setattr(index_ranges, "CHUNK_ROWS", 100)
    assert check_attack_graph(boxes, CLAIM, original=truth) == held
    monkeypatch.setattr(attack_graph_verifier, "STEP_LIMIT", GROUPS * K * TIMES + 1)
    assert "cannot be certified" in check_attack_graph(boxes, CLAIM, original=truth).reason


def limited_hits(most):
    def hits(spots, shapes, steps):
        if len(spots) >= most:
            raise step_budget.BudgetExceeded
        return boxes_at.hits(spots, shapes, steps)

    return hits


@given(publications())
@settings(deadline=None, max_examples=80)
def test_no_spot_is_in_more_boxes_than_the_bound_says(made):
    boxes, truth = made
    for cells in (1, 50, 4_000_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(boxes_at, "_GRID_CELLS", cells)
            spots, _ = boxes_at.Spots.of(truth, np.arange(truth.n_rows))
            shapes = boxes_at.Shapes.of(boxes, np.arange(len(boxes)), spots.times, len(boxes), StepBudget(10**6))
            starts, shape = boxes_at.hits(spots, shapes, StepBudget(10**6))
            bounds = boxes_at.crowd_bounds(spots, shapes)
        for spot, bound in enumerate(bounds.tolist()):
            assert np.diff(shapes.starts)[shape[starts[spot] : starts[spot + 1]]].sum() <= bound


def test_a_matching_is_not_searched_for_in_a_large_graph(monkeypatch):
    boxes, truth = of_graph([{0, 1}, {0}])
    for limit, left in ((3, 2), (2, None)):
        monkeypatch.setattr(matchings, "MOST_EDGES", limit)
        verdict = check_attack_graph(boxes, AttackGraph(k=2), original=truth)
        assert not verdict.holds
        assert verdict.witness["breaks"] == "containment"
        assert verdict.measured["edges"] == 3
        assert verdict.measured["edges_left"] == left
        assert (verdict.measured["min_people"] is None) == (left is None)


def test_a_large_crowd_in_one_box_is_one_kind():
    """900 million edges are not listed."""
    n = 30_000
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 100, (2, n))
    owner = np.arange(n) // 3
    truth = Points(offsets=np.arange(n + 1), t=np.zeros(n), x=x, y=y, owner=owner, owners="given")
    sides = {"x_min": np.zeros(n), "x_max": np.full(n, 100.0), "y_min": np.zeros(n), "y_max": np.full(n, 100.0)}
    boxes = Boxes(offsets=truth.offsets, t_min=truth.t, t_max=truth.t, **sides, owner=owner, owners="given")
    verdict = check_attack_graph(boxes, AttackGraph(k=n // 3), original=truth)
    assert verdict.holds
    assert verdict.measured["edges_left"] == n * n
    assert verdict.measured["min_people"] == verdict.measured["min_candidates"] == n // 3
    assert not check_attack_graph(boxes, AttackGraph(k=n // 3 + 1), original=truth).holds


def test_degrees_read_back_still_contain_what_they_contained():
    rng = np.random.default_rng(2)
    lon, lat = rng.uniform(23, 24, 400), rng.uniform(37, 38, 400)
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    x, y = x + rng.uniform(0, 1e-3, 400), y + rng.uniform(0, 1e-3, 400)  # not what a file with degrees can hold
    truth = Points(offsets=np.arange(401), t=np.zeros(400), x=x, y=y, owner=np.arange(400), frame=frame)
    west, south = frame.to_metres(*frame.to_file(*(np.repeat(v.reshape(-1, 2).min(1), 2) for v in (x, y))))
    east, north = frame.to_metres(*frame.to_file(*(np.repeat(v.reshape(-1, 2).max(1), 2) for v in (x, y))))
    boxes = Boxes(
        offsets=np.arange(401), t_min=truth.t, t_max=truth.t, x_min=west, x_max=east, y_min=south, y_max=north,
        owner=np.arange(400), frame=frame,
    )  # fmt: skip
    assert check_attack_graph(boxes, AttackGraph(k=2), original=truth).holds
    verdict = check_attack_graph(boxes, AttackGraph(k=2), original=replace(truth, x=x + 1e-4))
    assert not verdict.holds
    assert 23 <= verdict.witness["start"][2] <= verdict.witness["start"][3] <= 24
    assert 37 <= verdict.witness["start"][4] <= verdict.witness["start"][5] <= 38
