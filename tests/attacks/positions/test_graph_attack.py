"""The attack by assignments against enumeration of all of them, on planted and on random graphs and data."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.positions import assignments, graph_attack
from wayveil.attacks.positions import fitting as search
from wayveil.attacks.positions.assignments import assign
from wayveil.attacks.positions.fitting import fitting
from wayveil.attacks.positions.graph_attack import GraphAttack
from wayveil.attacks.positions.narrow_graphs import count_narrow
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes, Frame, Points

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "attack_graph" / "graphs.json").read_text())
ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    return GraphAttack(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definition: all perfect matchings, one by one, and edges from every known row and every box.


def oracle_matchings(edges, n):
    """Return how many perfect matchings there are, and how many use each edge."""
    uses = Counter()
    total = 0
    for order in permutations(range(n)):
        if all((i, o) in edges for i, o in enumerate(order)):
            total += 1
            uses.update(enumerate(order))
    return total, uses


def oracle_components(edges, n):
    """Return the connected component of every person, as the lists of people and of trajectories in it."""
    found = {}
    for i in range(n):
        people, trajectories = {i}, set()
        while True:
            more = {o for p, o in edges if p in people}
            back = {p for p, o in edges if o in more} | people
            if (back, more) == (people, trajectories):
                break
            people, trajectories = back, more
        found[i] = (sorted(people), sorted(trajectories))
    return found


def oracle_edges(truth, target, slack=0.0):
    there = [i for i in range(len(target)) if target.record(i)]
    found = set()
    for a, i in enumerate(there):
        rows = truth.record(i)
        if truth.known is not None:
            known = truth.known[truth.offsets[i] : truth.offsets[i + 1]]
            rows = [row for row, is_known in zip(rows, known, strict=True) if is_known]
        for b, o in enumerate(there):
            boxes = target.record(o)
            if isinstance(target, Points):
                boxes = [(t, t, x, x, y, y) for t, x, y in boxes]
            if all(
                any(
                    w[0] <= t <= w[1] and w[2] - slack <= x <= w[3] + slack and w[4] - slack <= y <= w[5] + slack
                    for w in boxes
                )
                for t, x, y in rows
            ):
                found.add((a, b))
    return found


def arrays(edges):
    listed = sorted(edges)
    return np.array([i for i, _ in listed], np.int64), np.array([o for _, o in listed], np.int64)


def assigned(edges, n, samples=10, seed=1):
    return assign(*arrays(edges), n, samples=samples, rng=np.random.default_rng(seed))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 6))
    return {e for e in np.ndindex(n, n) if draw(st.booleans())}, n


@given(graphs())
@settings(deadline=None, max_examples=100)
def test_pruning_and_chances_are_those_of_all_perfect_matchings(graph):
    edges, n = graph
    found = assigned(edges, n)
    components = oracle_components(edges, n)
    degree = Counter(i for i, _ in edges)
    for e, (i, o) in enumerate(sorted(edges)):
        people, trajectories = components[i]
        total, uses = 0, Counter()
        if len(people) == len(trajectories):
            inside = {(people.index(a), trajectories.index(b)) for a, b in edges if a in people}
            total, uses = oracle_matchings(inside, len(people))
        assert found.judged[i] == (total > 0)
        if total:
            count = uses[people.index(i), trajectories.index(o)]
            assert found.is_possible[e] == (count > 0)
            assert found.chance[e] == pytest.approx(count / total, abs=1e-12)
        else:
            assert found.is_possible[e]
            assert found.chance[e] == 1 / degree[i]


@pytest.mark.parametrize("seed", range(12))
def test_seven_people_with_a_hidden_assignment(seed):
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(7) if seed % 2 else np.arange(7)
    edges = {(i, o) for i, o in np.ndindex(7, 7) if hidden[i] == o or rng.random() < 0.25}
    total, uses = oracle_matchings(edges, 7)
    found = assigned(edges, 7)
    assert found.judged.all()
    assert found.chance == pytest.approx([uses[e] / total for e in sorted(edges)], abs=1e-12)
    assert found.is_possible.tolist() == [uses[e] > 0 for e in sorted(edges)]
    assert found.sampled == 0


def test_several_components_of_one_size_are_counted_apart(monkeypatch):
    rng = np.random.default_rng(3)
    edges, expected = set(), {}
    for part in range(9):
        own = {(i, o) for i, o in np.ndindex(4, 4) if i == o or rng.random() < 0.5}
        total, uses = oracle_matchings(own, 4)
        for i, o in own:
            edges.add((i + 4 * part, o + 4 * part))
            expected[i + 4 * part, o + 4 * part] = uses[i, o] / total
    found = assigned(edges, 36)
    assert found.chance == pytest.approx([expected[e] for e in sorted(edges)], abs=1e-12)
    # In blocks of two components, as where memory is short.
    monkeypatch.setattr(assignments, "_COUNTED_AT_ONCE", 2 << 4)
    assert assigned(edges, 36).chance.tolist() == found.chance.tolist()


@pytest.fixture
def nothing_is_narrow(monkeypatch):
    monkeypatch.setattr(assignments, "_NARROW_STEPS", 0)


def band(n, reach):
    return {(i, o) for i, o in np.ndindex(n, n) if abs(i - o) <= reach}


@pytest.mark.parametrize("reach", [1, 2])
@pytest.mark.usefixtures("nothing_is_narrow")
def test_sampling_agrees_with_counting(reach, monkeypatch):
    """A band of 10 people: exact, and as if it were too large."""
    edges = band(10, reach)
    exact = assigned(edges, 10)
    assert (exact.exact, exact.sampled) == (1, 0)
    monkeypatch.setattr(assignments, "LARGEST_EXACT", 2)
    rough = assigned(edges, 10, samples=1500)
    assert (rough.exact, rough.sampled) == (0, 1)
    assert np.abs(rough.chance - exact.chance).max() < 0.05
    assert np.bincount(arrays(edges)[0], rough.chance) == pytest.approx(np.ones(10))
    assert (
        assigned(edges, 10, samples=50, seed=2).chance.tolist()
        == assigned(edges, 10, samples=50, seed=2).chance.tolist()
    )


@pytest.mark.parametrize("in_bits", [0, 1000])
@pytest.mark.usefixtures("nothing_is_narrow")
def test_sampling_of_a_long_band_against_fibonacci(in_bits, monkeypatch):
    """Neighbours in a row exchange or not: as many assignments as Fibonacci numbers say."""
    monkeypatch.setattr(assignments, "_MOST_IN_BITS", in_bits)
    n, ways = 30, [1, 1]
    while len(ways) <= n:
        ways.append(ways[-1] + ways[-2])
    # Two bands at once, the second one shorter.
    edges = band(n, 1) | {(i + n, o + n) for i, o in band(20, 1)}
    found = assigned(edges, n + 20, samples=600)
    assert (found.exact, found.sampled) == (0, 2)
    for (i, o), chance in zip(sorted(edges), found.chance, strict=True):
        start, length = (0, n) if i < n else (n, 20)
        a, b = sorted((i - start, o - start))
        assert chance == pytest.approx(ways[a] * ways[length - 1 - b] / ways[length], abs=0.08)


@pytest.mark.parametrize("n", [13, 50, 999])
def test_rings_are_counted_however_long_they_are(n):
    """A ring has two perfect matchings, which differ for everybody: a chain of samples stays in one of them."""
    edges = {(i, i) for i in range(n)} | {(i, (i + 1) % n) for i in range(n)}
    found = assigned(edges, n)
    assert (found.exact, found.sampled, found.sure.all()) == (1, 0, True)
    assert set(found.chance.tolist()) == {0.5}


@pytest.mark.parametrize("n", [14, 60])
def test_long_bands_are_counted(n):
    ways = [1, 1]
    while len(ways) <= n:
        ways.append(ways[-1] + ways[-2])
    edges = band(n, 1)
    found = assigned(edges, n)
    assert found.sampled == 0
    for (i, o), chance in zip(sorted(edges), found.chance, strict=True):
        assert chance == pytest.approx(ways[min(i, o)] * ways[n - 1 - max(i, o)] / ways[n], rel=1e-12)


@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(1, 4))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_narrow_counting_is_counting_of_all_perfect_matchings(seed, n, kinds):
    """Also where trajectories fit the same people, and are counted by their number."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, kinds, n)
    fits = rng.random((n, kinds)) < 0.5
    edges = {(i, o) for i, o in np.ndindex(n, n) if i == o or fits[i, kind[o]] or kind[i] == kind[o]}
    total, uses = oracle_matchings(edges, n)
    shares, _ = count_narrow(*arrays(edges), n, 10**6)
    assert shares == pytest.approx([uses[e] / total for e in sorted(edges)], abs=1e-12)


def test_what_is_not_narrow_is_given_up():
    rng = np.random.default_rng(1)
    edges = {(i, o) for i, o in np.ndindex(60, 60) if i == o or rng.random() < 0.5}
    assert count_narrow(*arrays(edges), 60, 50_000)[0] is None
    found = assigned(edges, 60, samples=40)
    assert (found.sampled, found.sure.any(), found.chains.shape) == (1, False, (assignments.CHAINS, len(edges)))
    assert np.bincount(arrays(edges)[0], found.chance) == pytest.approx(np.ones(60))


@pytest.mark.usefixtures("nothing_is_narrow")
def test_chains_that_do_not_agree_are_told():
    """A ring of fifty, as if it could not be counted: each chain stays where it began, and the truth is one half."""
    n = 50
    truth = Points.from_records([cells((0, i, 0)) for i in range(n)])
    places = [[(0, 0, i, i, 0, 0), (0, 0, (i + 1) % n, (i + 1) % n, 0, 0)] for i in range(n)]
    target = Boxes.from_records([[tuple(map(float, box)) for box in boxes] for boxes in places])
    for seed in range(4):
        found = attack(truth, target, seed=seed).measured
        assert found["components_sampled"] == 1
        assert found["identity_max"] == 1  # all that is certain
        assert found["identity_mean_low"] <= 0.5 <= found["identity_mean_high"] or (
            found["identity_mean_low"] == found["identity_mean_high"]
        )


@given(st.integers(0, 2**32))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_probabilities_are_those_of_all_assignments_over_trajectories_and_over_people(seed):
    """Every assignment written out: the share that gives somebody an own trajectory, or one that an own one is like."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    owner, place = rng.integers(0, 3, n).tolist(), rng.integers(0, 3, n)
    low, high = place - rng.integers(0, 2, n), place + rng.integers(0, 2, n)
    truth = Points.from_records([cells((0, x, 0)) for x in place.tolist()], owner=owner)
    boxes = [[(0, 0, float(a), float(b), 0.0, 0.0)] for a, b in zip(low, high, strict=True)]
    edges = {(i, o) for i, o in np.ndindex(n, n) if low[o] <= place[i] <= high[o]}
    total, uses = oracle_matchings(edges, n)
    column = [frozenset(i for i in range(n) if uses[i, o]) for o in range(n)]
    risk = dict.fromkeys(owner, 0.0)
    for i in range(n):
        trajectories = people = Fraction(0)
        for o in range(n):
            like = {owner[p] for p in range(n) if column[p] == column[o]}
            trajectories += Fraction(uses[i, o], total) * (owner[o] == owner[i])
            people += Fraction(uses[i, o], total) * (owner[i] in like) / len(like)
        risk[owner[i]] = max(risk[owner[i]], trajectories, people)
    found = attack(truth, Boxes.from_records(boxes, owner=owner)).measured
    assert found["identity_max"] == pytest.approx(float(max(risk.values())))
    assert found["identity_mean"] == pytest.approx(float(sum(risk.values()) / len(risk)))


@given(st.integers(0, 2**32))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_where_it_is_not_exact_the_largest_probability_is_never_too_low(seed):
    """Groups with the same boxes that overlap, and several trips per person; counted, and as if it were too large."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(1, 4)
    low = rng.integers(0, 3, groups)
    group = rng.integers(0, groups, int(rng.integers(3, 8)))
    place = low[group] + rng.integers(0, 3, len(group))
    owner = rng.integers(0, 4, len(group)).tolist()
    truth = Points.from_records([cells((0, x, 0)) for x in place.tolist()], owner=owner)
    boxes = [[(0, 0, float(low[g]), float(low[g] + 2), 0.0, 0.0)] for g in group.tolist()]
    target = Boxes.from_records(boxes, owner=owner)
    exact = attack(truth, target).measured
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignments, "_NARROW_STEPS", 0)
        patch.setattr(assignments, "LARGEST_EXACT", 1)
        rough = attack(truth, target, samples=10).measured
    shares = [
        max(Fraction(sum(o == one for g, o in zip(group.tolist(), owner, strict=True) if g == h), (group == h).sum())
            for one in owner)
        for h in set(group.tolist())
    ]  # fmt: skip
    people = [len({o for g, o in zip(group.tolist(), owner, strict=True) if g == h}) for h in set(group.tolist())]
    assert exact["identity_max"] <= rough["identity_max"] + 1e-12
    assert rough["identity_max"] <= float(max(*shares, Fraction(1, min(people)))) + 1e-12


@pytest.mark.usefixtures("nothing_is_narrow")
def test_sampling_reaches_what_exchanges_of_two_do_not():
    """A ring: two perfect matchings that differ for all 15 people."""
    edges = {(i, i) for i in range(15)} | {(i, (i + 1) % 15) for i in range(15)}
    found = assigned(edges, 15, samples=1500)
    assert found.sampled == 1
    assert np.abs(found.chance - 0.5).max() < 0.3


@pytest.mark.usefixtures("nothing_is_narrow")
def test_sampling_of_a_component_of_thirteen_against_exact_counts():
    """Counting works for 13 people as well; it is only slower."""
    rng = np.random.default_rng(11)
    edges = {(i, o) for i, o in np.ndindex(13, 13) if i == o or abs(i - o) == 1 or rng.random() < 0.2}
    i, o = arrays(edges)
    exact = assignments._counted(np.zeros(len(i), np.int64), i, o, 1, 13)
    found = assigned(edges, 13, samples=1500)
    assert found.sampled == 1
    assert np.abs(found.chance - exact).max() < 0.05


@pytest.mark.usefixtures("nothing_is_narrow")
def test_the_work_of_sampling_is_bounded(monkeypatch):
    edges = band(14, 1)
    full = assigned(edges, 14, samples=500)
    monkeypatch.setattr(assignments, "_SAMPLING_WORK", 1)
    assert assigned(edges, 14, samples=500).chance.tolist() == assigned(edges, 14, samples=10).chance.tolist()
    assert full.chance.tolist() != assigned(edges, 14, samples=10).chance.tolist()


def test_where_everybody_fits_all_nothing_is_sampled():
    found = assigned({(i, o) for i, o in np.ndindex(40, 40)}, 40)
    assert (found.exact, found.sampled) == (1, 0)
    assert set(found.chance.tolist()) == {1 / 40}


# The worked examples.


@pytest.mark.parametrize("name", GOLDEN)
def test_worked_example(name):
    example = GOLDEN[name]
    edges = {(int(i) - 1, o - 1) for i, listed in example["graph"].items() for o in listed}
    n = len(example["graph"])
    found = assigned(edges, n)
    kept = {e for e, keep in zip(sorted(edges), found.is_possible, strict=True) if keep}
    assert kept == {(int(i) - 1, o - 1) for i, listed in example["after_pruning"].items() for o in listed}
    chance = dict(zip(sorted(edges), found.chance, strict=True))
    for i, listed in example["posterior"].items():
        for o, (part, whole) in listed.items():
            assert chance[int(i) - 1, int(o) - 1] == pytest.approx(part / whole, abs=1e-12)


# From data: the graph, then what is told of it.


def cells(*places):
    return [(t, float(x), float(y)) for t, x, y in places]


def example2():
    """Three objects of the survey's example, of which t1, t2 and t2 are known, and its naive publication."""
    records = [cells((1, 1, 2), (2, 6, 1)), cells((1, 2, 3), (2, 2, 6)), cells((1, 6, 6), (2, 3, 7))]
    truth = replace(Points.from_records(records), known=np.array([1, 0, 0, 1, 0, 1], bool))
    first, second = (1, 1, 1.0, 2.0, 2.0, 3.0), (2, 2, 2.0, 3.0, 6.0, 7.0)
    boxes = [[first, (2, 2, 6.0, 6.0, 1.0, 1.0)], [first, second], [(1, 1, 6.0, 6.0, 6.0, 6.0), second]]
    return truth, boxes


def test_the_naive_publication_of_the_survey_is_breached():
    truth, boxes = example2()
    target = Boxes.from_records(boxes)
    assert set(zip(*(c.tolist() for c in fitting(truth, target, np.arange(3))), strict=True)) == {
        (0, 0), (0, 1), (1, 1), (1, 2), (2, 1), (2, 2),
    }  # fmt: skip
    found = attack(truth, target, threshold="1/2").measured
    assert (found["min_candidate_people"], found["mean_candidate_people"]) == (1, 5 / 3)
    assert (found["identity_max"], found["identity_mean"]) == (1, 2 / 3)
    assert found["identity_share_above"] == 1 / 3
    assert found["edges_ruled_out_share"] == pytest.approx(1 / 6)
    assert found["edges_symmetric_share"] == pytest.approx(5 / 6)
    assert (found["components_exact"], found["components_sampled"]) == (2, 0)


def test_extreme_union_of_the_survey_leaves_two_candidates_but_is_not_symmetric():
    truth, boxes = example2()
    wide = (2, 2, 2.0, 6.0, 1.0, 7.0)
    found = attack(truth, Boxes.from_records([[box[0], wide] for box in boxes]), threshold="1/2").measured
    assert (found["min_candidate_people"], found["identity_max"], found["identity_share_above"]) == (2, 0.5, 0)
    assert found["identity_mean"] == pytest.approx((0.5 + 0.25 + 0.5) / 3)
    assert found["edges_symmetric_share"] == pytest.approx(7 / 8)
    assert found["edges_ruled_out_share"] == 0
    first = (1, 1, 1.0, 6.0, 2.0, 6.0)
    found = attack(truth, Boxes.from_records([[first, wide]] * 3), threshold="1/3").measured
    assert (found["min_candidate_people"], found["edges_symmetric_share"]) == (3, 1)
    assert (found["identity_max"], found["identity_share_above"]) == (1 / 3, 0)


def test_raw_data_give_everybody_one_candidate():
    rng = np.random.default_rng(5)
    data = Points.from_records([[(t, *rng.uniform(0, 1e4, 2)) for t in range(6)] for _ in range(40)])
    result = attack(data, data)
    found = result.measured
    assert (result.victims, result.sampled) == (40, False)
    assert found["min_candidate_people"] == found["mean_candidate_people"] == 1
    assert found["identity_mean"] == found["identity_max"] == found["likeliest_probability_mean"] == 1
    assert found["identity_share_above"] == found["judged_by_assignments_share"] == 1


@st.composite
def data_and_boxes(draw):
    """Small integer places and times, so that edges, gaps, overlaps and identical boxes are frequent."""
    n = draw(st.integers(1, 6))
    place = st.integers(0, 3).map(float)
    records, boxes, known = [], [], []
    for _ in range(n):
        times = sorted(draw(st.sets(st.integers(0, 4), max_size=4)))
        records.append([(t, draw(place), draw(place)) for t in times])
        known += draw(st.lists(st.booleans(), min_size=len(times), max_size=len(times)))
        starts = sorted(draw(st.lists(st.integers(0, 4), max_size=4)))
        ends = sorted(draw(st.lists(st.integers(0, 6), min_size=len(starts), max_size=len(starts))))
        row = []
        for low, high in zip(starts, ends, strict=True):
            x, y = sorted([draw(place), draw(place)]), sorted([draw(place), draw(place)])
            row.append((low, max(low, high), *x, *y))
        boxes.append(row)
    truth = Points.from_records(records)
    if draw(st.booleans()):
        truth = replace(truth, known=np.array(known, bool))
    target = Boxes.from_records(boxes)
    if draw(st.booleans()):
        target = Points.from_records([[(t, draw(place), draw(place)) for t, _, _ in record] for record in records])
    return truth, target


@given(data_and_boxes())
@settings(deadline=None, max_examples=120)
def test_edges_are_those_of_the_definition(both):
    truth, target = both
    n = int((np.diff(target.offsets) > 0).sum())
    i, o = fitting(truth, target, np.arange(n))
    assert list(zip(i.tolist(), o.tolist(), strict=True)) == sorted(oracle_edges(truth, target))
    some = np.arange(0, n, 2)
    i, o = fitting(truth, target, some, whatever=True)
    assert list(zip(i.tolist(), o.tolist(), strict=True)) == sorted(
        e for e in oracle_edges(truth, target) if e[0] % 2 == 0
    )
    attack(truth, target)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_edges_of_larger_data_in_chunks(chunk, monkeypatch):
    monkeypatch.setattr(search, "_CHUNK", chunk)
    rng = np.random.default_rng(chunk)
    n, t = 60, 12
    x, y = rng.uniform(0, 60, (2, n, t))
    truth = Points.from_records([[(j, x[i, j], y[i, j]) for j in range(t)] for i in range(n)])
    truth = replace(truth, known=rng.random(n * t) < 0.3)
    wide = rng.choice([0.0, 1.0, 8.0, 30.0], (n, t))
    boxes = []
    for i in range(n):
        group = i - i % 3  # three share their boxes, each around the first's place
        cx, cy, w = x[group], y[group], wide[group]
        boxes.append([(j, j + j % 2, cx[j] - w[j], cx[j] + w[j], cy[j] - w[j], cy[j] + w[j]) for j in range(t)])
    target = Boxes.from_records(boxes)
    i, o = fitting(truth, target, np.arange(n))
    assert list(zip(i.tolist(), o.tolist(), strict=True)) == sorted(oracle_edges(truth, target))


def test_degrees_have_a_micrometre_of_room_and_metres_none():
    frame = Frame.for_degrees(np.array([10.0, 10.2]), np.array([50.0, 50.2]))
    for frame_, found in ((frame, 2), (Frame(), 1)):
        truth = Points.from_records([[(0, 5.0, 5.0)], [(0, 7.0, 5.0)]], frame=frame_)
        edge = [(0, 0, 5.0 + 9e-7, 8.0, 0.0, 5.0 - 9e-7)]
        boxes = Boxes.from_records([[(0, 0, 5.0, 5.0, 5.0, 5.0)], edge], frame=frame_)
        i, _ = fitting(truth, boxes, np.arange(2))
        assert (i == 0).sum() == found


def test_trips_of_one_person_are_one_candidate():
    """Four equal trajectories, three of one person: two candidates, and the person of three is likelier."""
    data = Points.from_records([cells((0, 0, 0))] * 4, owner=[7, 7, 3, 7])
    result = attack(data, data)
    found = result.measured
    assert (result.victims, found["min_candidate_people"], found["mean_candidate_people"]) == (2, 2, 2)
    # Of four trajectories three are one person's; of two people one is the other.
    assert (found["identity_max"], found["identity_mean"]) == (0.75, (0.75 + 0.5) / 2)
    assert found["likeliest_probability_max"] == found["likeliest_probability_mean"] == 0.75


def test_a_person_counts_with_the_trajectory_that_tells_most():
    data = Points.from_records([cells((0, 0, 0)), cells((0, 0, 0)), cells((0, 9, 9))], owner=[0, 1, 0])
    found = attack(data, data).measured
    assert (found["identity_max"], found["identity_mean"]) == (1, 0.75)
    assert (found["min_candidate_people"], found["mean_candidate_people"]) == (1, 1.5)


def test_who_was_not_published_is_not_found():
    truth = Points.from_records([cells((0, 0, 0)), cells((0, 0, 0)), cells((0, 5, 5))])
    target = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)], [(0, 0, 0.0, 1.0, 0.0, 1.0)], []])
    result = attack(truth, target)
    found = result.measured
    assert (result.victims, found["victims_published_share"]) == (3, pytest.approx(2 / 3))
    assert found["identity_mean"] == pytest.approx(1 / 3)
    assert (found["identity_mean_if_published"], found["min_candidate_people"]) == (0.5, 2)


def test_publications_that_moved_people_away_are_told():
    """Nobody fits anything: there is nothing to assign, and the nearest is taken, which is right."""
    truth = Points.from_records([cells((0, 0, 0)), cells((0, 5, 5))])
    away = Points.from_records([cells((0, 1, 1)), cells((0, 6, 6))])
    result = attack(truth, away)
    found = result.measured
    assert result.adversary.endswith("finds nothing that fits any of them, and takes the nearest trajectory instead")
    assert found["identity_max"] == found["identity_mean"] == found["unmatched_share"] == 1
    assert found["min_candidate_people"] is found["likeliest_probability_max"] is None
    assert found["judged_by_assignments_share"] == 0
    # Moved to the other one's place, the nearest is wrong; moved to one place, it is a guess.
    assert attack(truth, Points.from_records([cells((0, 4, 4)), cells((0, 1, 1))])).measured["identity_max"] == 0
    assert attack(truth, Points.from_records([cells((0, 2, 2))] * 2)).measured["identity_max"] == 0.5
    # Both were here, and only one is: the attacker takes what fits.
    truth = Points.from_records([cells((0, 1, 1)), cells((0, 1, 1)), cells((0, 7, 7))])
    found = attack(truth, Points.from_records([cells((0, 1, 1)), cells((0, 6, 6)), cells((0, 7, 7))])).measured
    assert found["judged_by_assignments_share"] == pytest.approx(1 / 3)
    assert (found["identity_mean"], found["components_exact"]) == (pytest.approx(2 / 3), 1)


def test_one_lucky_guess_of_many_is_no_certainty():
    """Three trips of one person, for which the nearest published one is right once, and one trip of another."""
    truth = Points.from_records([cells((0, x, 0)) for x in (0, 10, 20, 90)], owner=[1, 1, 1, 2])
    moved = Points.from_records([cells((0, x, 1)) for x in (0, 60, 70, 15)], owner=[1, 1, 1, 2])
    found = attack(truth, moved).measured
    assert found["identity_max"] == pytest.approx(1 / 3)
    assert found["identity_mean"] == pytest.approx((1 / 3 + 0) / 2)


def test_of_many_whom_nothing_fits_some_are_attacked():
    truth = Points.from_records([cells((0, 10 * i, 0), (1, 10 * i, 5)) for i in range(30)])
    moved = replace(truth, x=truth.x + 1.0)
    result = attack(truth, moved, victims=7)
    assert (result.victims, result.sampled, result.measured["identity_mean"]) == (7, True, 1)
    nobody = replace(truth, known=np.arange(60) < 2)
    assert attack(nobody, moved).measured["unmatched_share"] == 1 / 30


def test_equal_boxes_give_the_largest_share_of_one_owner():
    """Twenty trips of one person and one of another, and a group beside it that is mixed."""
    owner = [7] * 20 + [8] + [1, 2, 3, 1]
    boxes = [[(0, 0, 0.0, 1.0, 0.0, 1.0)]] * 21 + [[(0, 0, 9.0, 10.0, 0.0, 1.0)]] * 4
    truth = Points.from_records([cells((0, 0, 0))] * 21 + [cells((0, 9, 0))] * 4, owner=owner)
    found = attack(truth, Boxes.from_records(boxes, owner=owner)).measured
    assert found["identity_max"] == pytest.approx(20 / 21)
    assert found["identity_mean"] == pytest.approx((20 / 21 + 1 / 2 + 1 / 2 + 1 / 3 + 1 / 3) / 5)


def test_nothing_known_of_anybody_is_everybody():
    data = Points.from_records([cells((0, i, i)) for i in range(30)])
    found = attack(replace(data, known=np.zeros(30, bool)), data).measured
    assert (found["min_candidate_people"], found["identity_max"]) == (30, 1 / 30)


@pytest.mark.parametrize(("limit", "value"), [("_MOST_PAIRS", 449), ("_MOST_PAIRS", 224), ("MOST_EDGES", 449)])
def test_too_many_edges_are_told_and_a_sample_is_attacked(limit, value, monkeypatch):
    def limited(most):
        monkeypatch.setattr(search, limit, most)
        if limit == "MOST_EDGES":
            monkeypatch.setattr(graph_attack, limit, most)

    data = Points.from_records([cells((0, i % 2, 0)) for i in range(30)])
    full = attack(data, data)
    limited(value)
    result = attack(data, data, victims=7)
    assert full.victims == 30
    assert (result.victims, result.sampled) == (7, True)
    assert result.measured["identity_mean"] == result.measured["identity_max"] == 1 / 15
    assert result.measured["components_exact"] is result.measured["edges_symmetric_share"] is None
    assert "too many fit" in result.adversary
    assert list(full.measured) == list(result.measured)
    assert attack(data, data, victims=7) == result
    limited(450)
    assert attack(data, data).measured == full.measured


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_nobody_to_attack(records):
    nobody = Points.from_records(records)
    result = attack(nobody, nobody)
    assert (result.victims, result.sampled) == (0, False)
    assert result.measured["identity_mean"] is result.measured["min_candidate_people"] is None


@pytest.mark.parametrize("kind", [Points, Boxes])
def test_nothing_published(kind):
    truth = Points.from_records([cells((0, 0, 0)), cells((0, 5, 0))])
    result = attack(truth, kind.from_records([[], []]))
    assert (result.victims, result.measured["identity_mean"], result.measured["victims_published_share"]) == (2, 0, 0)


def test_huge_coordinates_and_times_up_to_the_end_of_numbers():
    end = 2**63 - 1
    truth = Points.from_records([cells((-end, 1e12, 1e12)), cells((end, -1e12, 1e12))])
    assert attack(truth, truth).measured["identity_mean"] == 1
    box = [(-end, end, -1e12, 1e12, 1e12, 1e12)]
    assert attack(truth, Boxes.from_records([box, box])).measured["identity_mean"] == 0.5


@pytest.mark.usefixtures("nothing_is_narrow")
def test_same_seed_same_result_on_one_core_or_more():
    truth, target = crowd()
    one, again, other = (
        attack(truth, target, seed=seed, engine=LocalEngine(workers=workers))
        for seed, workers in ((5, 1), (5, 3), (6, 1))
    )
    assert one == again
    assert one != other
    assert (one.sampled, one.measured["components_sampled"]) == (True, 1)


def crowd():
    """Forty people in a row, each in a box that reaches to the neighbours."""
    truth = Points.from_records([cells((0, i, 0)) for i in range(40)])
    return truth, Boxes.from_records([[(0, 0, i - 1.0, i + 1.0, 0.0, 0.0)] for i in range(40)])


def test_what_is_told():
    truth, target = crowd()
    raw, published = attack(truth, truth), attack(truth, target)
    assert list(raw.measured) == list(published.measured)
    assert [chart.labels for chart in raw.charts] == [chart.labels for chart in published.charts]
    assert raw.adversary == published.adversary
    assert raw.adversary.startswith("knows all positions of everybody")
    declared = replace(truth, known=np.ones(40, bool))
    assert attack(declared, target).adversary.startswith("knows the declared positions of everybody")
    candidates, chances = published.charts
    assert dict(zip(candidates.labels, candidates.series[0].values, strict=True))["2"] == 2 / 40
    assert dict(zip(candidates.labels, candidates.series[0].values, strict=True))["3"] == 38 / 40
    assert sum(chances.series[0].values) == pytest.approx(1)
    assert dict(zip(raw.charts[0].labels, raw.charts[0].series[0].values, strict=True))["1"] == 1


def test_bad_parameters_and_data_are_refused():
    data = Points.from_records([cells((0, 0, 0))])
    with pytest.raises(ParameterError, match="attack_graph: samples must be an integer from 10 to 100000, got 1"):
        GraphAttack(samples=1)
    with pytest.raises(InputError, match="attack_graph: the attacked data must have one trajectory for each"):
        attack(data, Points.from_records([]))
