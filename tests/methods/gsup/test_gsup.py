"""Suppression against adversaries: the worked example, the claim by brute force, and the exact counting attack."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dealt_trajectories import keeps_breach_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.projections import Counting
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.gsup.gsup import Gsup
from wayveil.model import BreachBound, MethodResult, Visits
from wayveil.verifiers.breach_bound.breach_bound_verifier import check_breach_bound

GOLDEN = Path(__file__).parents[2] / "golden" / "gsup"
HALF = Fraction(1, 2)
MODES = ("class", "global")

Record = tuple[Any, ...]


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


def visits(records: Any, owner: Any = None) -> Visits:
    return Visits.from_records([[(place, 10 * t) for t, place in enumerate(r)] for r in records], owner=owner)


def run(data: Visits, **settings: Any) -> MethodResult:
    return Gsup(**settings).run(data, rng=np.random.default_rng(0), engine=LocalEngine())


def names(data: Visits) -> list[Record]:
    return [tuple(place for place, _ in data.record(i)) for i in range(len(data))]


# The definitions, from the docstring of the claim: no code is shared with the method.


def shown(record: Record, own: set[str], keep: bool) -> Record:
    return tuple(visit if keep else visit[0] for visit in record if visit[0] in own)


def unsafe(records: list[Record], owner: list[int], adversaries: Any, p: Fraction, keep: bool = False) -> list[Any]:
    """All (adversary, class, place, people of the class) with too large a share of owners or of trajectories."""
    found = []
    for adversary, places in sorted(adversaries.items()):
        classes: dict[Record, list[int]] = {}
        for i, record in enumerate(records):
            if record:
                classes.setdefault(shown(record, set(places), keep), []).append(i)
        for seen, members in sorted(classes.items()):
            people = {owner[i] for i in members}
            for place in sorted({visit[0] for i in members for visit in records[i]} - set(places)):
                having = [i for i in members if place in {visit[0] for visit in records[i]}]
                share = max(Fraction(len({owner[i] for i in having}), len(people)), Fraction(len(having), len(members)))
                if share > p:
                    found.append((adversary, seen, place, members, len(people), share))
    return found


def literal_greedy(records: list[Record], owner: list[int], adversaries: Any, p: Fraction) -> list[Record]:
    """The greedy algorithm with everything tried again after every step; for the order of visits only."""
    while found := unsafe(records, owner, adversaries, p):
        base, best = sum(f[4] for f in found), None
        for _, seen, place, members, _, _ in found:
            chosen = few_enough(records, owner, members, place, p)
            for what, whom in [*((x, members) for x in sorted(set(seen))), (place, chosen)]:
                after = without(records, what, whom)
                lost = sum(map(len, records)) - sum(map(len, after))
                gain = base - sum(f[4] for f in unsafe(after, owner, adversaries, p))
                key = (-Fraction(gain, lost), lost, what, sorted(whom))
                if best is None or key < best[0]:
                    best = (key, after, gain)
        assert best is not None
        records = best[1] if best[2] > 0 else without(records, found[0][2], found[0][3])
    return records


def few_enough(records: list[Record], owner: list[int], members: list[int], place: str, p: Fraction) -> list[int]:
    having = [i for i in members if place in {visit[0] for visit in records[i]}]
    having.sort(key=lambda i: ({visit[0] for visit in records[i]} == {place}, i))
    for n in range(1, len(having) + 1):
        after = without(records, place, having[:n])
        there = [i for i in members if after[i]]
        left = [i for i in having[n:] if after[i]]
        if Fraction(len(left), max(1, len(there))) <= p and (
            Fraction(len({owner[i] for i in left}), max(1, len({owner[i] for i in there}))) <= p
        ):
            return having[:n]
    return having


def without(records: list[Record], place: str, whom: Any) -> list[Record]:
    return [tuple(v for v in r if not (v[0] == place and i in whom)) for i, r in enumerate(records)]


def surest_by_counting(truth: list[Record], published: list[Record], own: set[str], keep: bool) -> Fraction:
    """The largest probability of a place over all ways to hand out the published trajectories: by enumeration."""

    def fits(part: Record, whole: Record) -> bool:
        rest = iter(whole)
        return all(visit in rest for visit in part)

    people = [shown(r, own, keep) for r in truth if r]
    looks = [shown(r, own, keep) for i, r in enumerate(published) if truth[i]]
    places = [{v[0] for v in r} - own for i, r in enumerate(published) if truth[i]]
    ways = [
        way for way in permutations(range(len(people))) if all(fits(looks[j], people[i]) for i, j in enumerate(way))
    ]
    surest = Fraction(0)
    for i, known in enumerate(people):
        for place in set().union(*places) if known else ():
            surest = max(surest, Fraction(sum(place in places[way[i]] for way in ways), len(ways)))
    return surest


@st.composite
def instances(draw: Any, most: int = 9, adversaries: int = 3) -> Any:
    n_adversaries = draw(st.integers(1, adversaries))
    owned = {f"A{k}": [f"{'abc'[k]}{i}" for i in range(draw(st.integers(1, 3)))] for k in range(n_adversaries)}
    places = sorted(sum(owned.values(), ["z1", "z2"]))
    records = draw(st.lists(st.lists(st.sampled_from(places), max_size=5), min_size=1, max_size=most))
    owner = draw(st.lists(st.integers(0, most // 2), min_size=len(records), max_size=len(records)))
    if draw(st.booleans()):
        owner = list(range(len(records)))
    used = {place for record in records for place in record}
    owned = {name: sorted(used & set(listed)) for name, listed in owned.items() if used & set(listed)}
    if not owned:
        records, owned = [*records, ["a0"]], {"A0": ["a0"]}
        owner = [*owner, most]
    times = [sorted(draw(st.sets(st.integers(0, 6), min_size=len(r), max_size=len(r)))) for r in records]
    data = Visits.from_records([list(zip(r, t, strict=True)) for r, t in zip(records, times, strict=True)], owner=owner)
    p = draw(st.sampled_from([Fraction(0), Fraction(1, 3), HALF, Fraction(2, 3), Fraction(1)]))
    return data, owner, owned, p


def test_the_worked_example_exactly() -> None:
    example = golden("table2")
    data = visits(example["truth"])
    records = [tuple(data.record(i)) for i in range(len(data))]
    found = unsafe(records, list(range(8)), example["adversaries"], HALF)
    assert [{"adversary": a, "projection": list(q), "place": x, "share": f"{s.numerator}/{s.denominator}"}
            for a, q, x, _, _, s in found] == example["unsafe"]  # fmt: skip
    result = run(data, p=example["p"], adversaries=example["adversaries"])
    assert [list(r) for r in names(result.data)] == example["published"]
    assert result.facts["visits suppressed"] == example["visits_suppressed"]
    assert result.facts["unsafe inferences"] == len(example["unsafe"])
    assert result.facts["unsafe classes"] == 6
    assert result.facts["trajectories without visits"] == 0
    assert result.claim == BreachBound(p=HALF, adversaries=example["adversaries"])


def test_the_counting_flaw_is_seen_and_repaired() -> None:
    flaw = golden("counting_flaw")
    data = visits(flaw["published"])
    truth = [tuple((place, 0) for place in r) for r in flaw["truth"]]
    published = [tuple(data.record(i)) for i in range(len(data))]
    own = set(flaw["adversaries"]["A"])
    assert surest_by_counting(truth, published, own, keep=False) == 1
    result = run(data, p=flaw["p"], adversaries=flaw["adversaries"])
    assert result.facts["unsafe inferences"] == 1
    again = [tuple(result.data.record(i)) for i in range(len(data))]
    assert surest_by_counting(truth, again, own, keep=False) <= HALF


@settings(deadline=None, max_examples=150)
@given(instances(), st.sampled_from(["class", "global"]), st.sampled_from(["order", "keep"]))
def test_the_claim_holds_and_only_visits_are_taken(instance: Any, mode: str, times: str) -> None:
    data, owner, owned, p = instance
    result = run(data, p=p, adversaries=owned, mode=mode, times=times)
    published = [tuple(result.data.record(i)) for i in range(len(data))]
    assert unsafe(published, owner, owned, p, times == "keep") == []
    assert not result.data.n_visits or check_breach_bound(result.data, result.claim).holds
    for i, record in enumerate(published):
        true = data.record(i)
        rest = iter(true if times == "keep" else [place for place, _ in true])
        assert all(visit in rest for visit in (record if times == "keep" else [place for place, _ in record]))
        if times == "order":
            assert [t for _, t in record] == list(range(1, len(record) + 1))
    assert result.facts["visits suppressed"] == data.n_visits - result.data.n_visits if data.n_visits else True
    if mode == "global":
        kept = {place for record in published for place, _ in record}
        for i, record in enumerate(published):
            for place in kept if record else ():  # a trajectory may be left out as a whole
                assert sum(place == x for x, _ in data.record(i)) == sum(place == x for x, _ in record)


def test_a_place_visited_again_still_counts_when_the_first_visit_is_gone() -> None:
    records = [
        [("a2", 0), ("b2", 2), ("b2", 3), ("a2", 4)],
        [("b2", 0), ("b1", 1), ("c", 2), ("a2", 3)],
        [("a2", 4)],
        [("a2", 4)],
        [("b2", 0), ("a2", 1), ("a1", 2), ("b2", 3), ("b2", 4)],
        [("b1", 0), ("a2", 1), ("b2", 2), ("c", 3), ("b2", 4)],
    ]
    owned = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
    result = run(Visits.from_records(records), adversaries=owned, times="keep")
    assert unsafe([tuple(result.data.record(i)) for i in range(6)], list(range(6)), owned, HALF, keep=True) == []


@settings(deadline=None, max_examples=80)
@given(instances(most=6, adversaries=2), st.sampled_from(["class", "global"]), st.sampled_from(["order", "keep"]))
def test_the_output_survives_the_exact_counting_attack(instance: Any, mode: str, times: str) -> None:
    data, _, owned, p = instance
    result = run(data, p=p, adversaries=owned, mode=mode, times=times)
    truth, published = ([tuple(d.record(i)) for i in range(len(data))] for d in (data, result.data))
    for places in owned.values():
        assert surest_by_counting(truth, published, set(places), times == "keep") <= p


def suppress_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody's trips be left out."""
    monkeypatch.setattr("wayveil.methods.gsup.gsup.leave_out", lambda state, *_: np.zeros(len(state.offsets) - 1, bool))


def test_the_loss_is_close_to_that_of_trying_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    suppress_only(monkeypatch)
    rng, ours, literal, same = np.random.default_rng(5), 0, 0, 0
    owned = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2", "b3"]}
    places = np.array([*owned["A"], *owned["B"], "z"])
    for case in range(40):
        records = [tuple(places[rng.integers(0, 7, rng.integers(1, 6))]) for _ in range(10)]
        records += [("a1", "a2", "a3", "b1", "b2", "b3")]
        owner = list(range(11)) if case % 2 else rng.integers(0, 5, 11).tolist()
        data = visits(records, owner)
        order = sorted(range(11), key=lambda i: (owner.index(owner[i]), i))
        made = names(run(data, adversaries=owned).data)
        expected = literal_greedy([tuple(data.record(i)) for i in order], [owner[i] for i in order], owned, HALF)
        ours += data.n_visits - sum(map(len, made))
        literal += data.n_visits - sum(map(len, expected))
        same += [made[i] for i in order] == [tuple(place for place, _ in r) for r in expected]
    assert same >= 10
    assert abs(ours - literal) <= 0.05 * literal, (ours, literal, same)


# ------------------------------------------------------------------------------------------------- several trips each

ANN_AND_BOB = visits([["a1", "clinic"], ["a1", "clinic"], ["a1", "park"], ["a1", "park"]], owner=[0, 0, 0, 1])


def test_who_counts_does_not_find_ann_at_the_clinic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ann owns three of four trips, and two were at the clinic: whoever hands them out gives her one of these."""
    left = set()
    for seed in range(40):
        method = Gsup(adversaries={"A": ["a1"]})
        result = method.run(ANN_AND_BOB, rng=np.random.default_rng(seed), engine=LocalEngine())
        published = [result.data.record(i) for i in range(4)]
        assert keeps_breach_bound(published, [0, 0, 0, 1], {"A": ["a1"]}, HALF, "order")
        assert attack(ANN_AND_BOB, result) <= 0.5
        left.add(tuple(bool(record) for record in published))
    # One of hers is left, whichever: it is drawn.
    assert left == {(True, False, False, True), (False, True, False, True), (False, False, True, True)}
    assert Gsup.hides_by_chance
    suppress_only(monkeypatch)
    before = run(ANN_AND_BOB, adversaries={"A": ["a1"]})
    assert attack(ANN_AND_BOB, before) == 1.0
    assert not check_breach_bound(before.data, before.claim).holds


def test_one_trip_each_is_published_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn, nothing left out, and the bytes are those of suppression alone."""
    rng = np.random.default_rng(8)
    places = np.array(["a0", "a1", "b0", "b1", "z0", "z1"])
    data = visits([tuple(places[rng.integers(0, 6, rng.integers(1, 6))]) for _ in range(60)])
    owned = {"A": ["a0", "a1"], "B": ["b0", "b1"]}
    nothing: Any = None
    now = [Gsup(adversaries=owned, mode=mode).run(data, rng=nothing, engine=LocalEngine()) for mode in MODES]
    suppress_only(monkeypatch)
    before = [run(data, adversaries=owned, mode=mode) for mode in MODES]
    for one, other in zip(now, before, strict=True):
        assert one.facts == other.facts
        assert one.facts["trajectories left out"] == 0
        for column in ("offsets", "location", "t", "owner"):
            assert getattr(one.data, column).tobytes() == getattr(other.data, column).tobytes()


def attack(truth: Visits, result: MethodResult) -> float:
    claim = result.claim
    assert isinstance(claim, BreachBound)
    counting = Counting(adversaries=claim.adversaries, times=claim.times)
    found = counting.run(truth, result.data, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine())
    surest = found.measured["inference_max"]
    assert found.measured["exact_share"] in (1.0, None)
    return float(surest or 0.0)


def campaign(seed: int, cases: int) -> int:
    """Publish random trips of people with one to six each; return how often trips were left out."""
    rng = np.random.default_rng(seed)
    left_out = 0
    for _ in range(cases):
        n_places = int(rng.integers(3, 7))
        places = np.array([f"p{i}" for i in range(n_places)])
        n_trips = rng.integers(1, 7, rng.integers(1, 7))
        owner = np.repeat(np.arange(len(n_trips)), n_trips)
        records = [tuple(places[rng.integers(0, n_places, rng.integers(1, 4))]) for _ in owner]
        used = sorted({place for record in records for place in record})
        cut = int(rng.integers(1, len(used) + 1))
        owned = {"A": used[:cut], **({"B": used[cut:]} if cut < len(used) and rng.integers(2) else {})}
        p = (Fraction(1, 3), HALF, Fraction(2, 3), Fraction(9, 10))[rng.integers(4)]
        times = ("order", "keep")[rng.integers(2)]
        data = visits(records, rng.permutation(owner).tolist())
        method = Gsup(p=p, adversaries=owned, mode=MODES[rng.integers(2)], times=times)
        result = method.run(data, rng=rng, engine=LocalEngine())
        left_out += result.facts["trajectories left out"] > 0
        if not result.data.n_visits:
            continue
        verdict = check_breach_bound(result.data, result.claim)
        assert verdict.holds, verdict.reason
        assert attack(data, result) <= p + Fraction(1, 10**9)
        if len(data) <= 6:
            published = [result.data.record(i) for i in range(len(data))]
            assert keeps_breach_bound(published, data.owner.tolist(), owned, p, times)
    return left_out


def test_no_adversary_infers_more_than_p_over_all_trips_of_a_person() -> None:
    assert campaign(seed=1, cases=80) > 12


@pytest.mark.slow
def test_no_adversary_infers_more_than_p_over_all_trips_of_a_person_at_length() -> None:
    assert campaign(seed=2, cases=3000) > 450


def test_everybody_keeps_a_trip_that_is_not_empty_for_other_reasons() -> None:
    """One person with 40 trips, 20 with one each: of the 40 as many stay as p allows, and nobody else loses any."""
    records = [["a", f"z{i % 10}"] for i in range(60)]
    owner = [0] * 40 + list(range(1, 21))
    result = run(visits(records, owner), adversaries={"A": ["a"]})
    there = np.diff(result.data.offsets) > 0
    assert there[40:].all()
    assert 1 < there[:40].sum() < 10
    assert result.facts["trajectories left out"] == 40 - there[:40].sum()
    assert check_breach_bound(result.data, result.claim).holds


def test_class_mode_loses_less_than_global() -> None:
    example = golden("table2")
    data = visits(example["truth"])
    lost = {
        mode: run(data, adversaries=example["adversaries"], mode=mode).facts["visits suppressed"]
        for mode in ("class", "global")
    }
    assert lost["class"] < lost["global"]


def test_with_coordinates_what_deviates_less_is_taken() -> None:
    # Either a2 or a3 of the first trajectory must go to make it look like others; a3 is on the way, a2 far off.
    records = [["a1", "a2", "a3", "a4", "b1"], *[["a1", "a2", "a4"]] * 2, *[["a1", "a3", "a4"]] * 2]
    data = visits(records)
    where = {"a1": (0.0, 0.0), "a2": (10.0, 900.0), "a3": (20.0, 0.0), "a4": (30.0, 0.0), "b1": (40.0, 0.0)}
    adversaries = {"A": ["a1", "a2", "a3", "a4"]}
    assert names(run(data, adversaries=adversaries).data)[0] == ("a1", "a3", "a4", "b1")
    x, y = (np.array([where[name][i] for name in data.locations]) for i in range(2))
    assert names(run(replace(data, place_x=x, place_y=y), adversaries=adversaries).data)[0] == ("a1", "a2", "a4", "b1")
    nowhere = replace(data, place_x=np.zeros(5), place_y=np.zeros(5))
    assert names(run(nowhere, adversaries=adversaries).data)[0] == ("a1", "a3", "a4", "b1")
    far = replace(data, place_x=1e12 * x, place_y=1e12 * y)
    assert names(run(far, adversaries=adversaries).data)[0] == ("a1", "a2", "a4", "b1")


def test_owners_count_and_not_trajectories_alone() -> None:
    # Half of the trajectories have b, but all of the people: a second one of each has not.
    data = visits([["a", "b"], ["a"], ["a", "b"], ["a"]], owner=[0, 0, 1, 1])
    assert run(data, adversaries={"A": ["a"]}).facts["visits suppressed"] == 1
    # Half of the people have b, but three of four trajectories: who hands out trajectories finds 3/4.
    data = visits([["a", "b"], ["a", "b"], ["a", "b"], ["a"]], owner=[0, 0, 0, 1])
    result = run(data, adversaries={"A": ["a"]})
    assert (result.facts["trajectories left out"], result.facts["visits suppressed"]) == (2, 4)


def test_the_empty_class_counts() -> None:
    # Nobody is known to A, but what A knows of the first, which lost its visit to a place of A, is the same as nothing.
    data = visits([["a", "b"], ["b"], ["c"]])
    result = run(data, p=HALF, adversaries={"A": ["a"]})
    published = [tuple(result.data.record(i)) for i in range(3)]
    assert unsafe(published, [0, 1, 2], {"A": ["a"]}, HALF) == []
    assert run(visits([["b"], ["b"], ["a"]]), p=HALF, adversaries={"A": ["a"]}).facts["visits suppressed"] == 2


def test_who_has_other_visits_gives_the_place_up_first() -> None:
    # In the order of the input three visits would go: a trajectory that is left with nothing makes the class smaller.
    result = run(visits([["b"], ["b"], ["b", "c"], ["b", "d"], ["a"]]), adversaries={"A": ["a"]})
    assert names(result.data) == [("b",), ("b",), ("c",), ("d",), ("a",)]


def test_large_classes_are_made_safe_too() -> None:
    rng = np.random.default_rng(3)
    places = np.array([f"{k}{i}" for k in "abc" for i in range(3)])
    weight = np.array([6, 2, 1, 4, 2, 1, 8, 1, 1]) / 26
    records = [tuple(places[rng.choice(9, rng.integers(1, 6), p=weight)]) for _ in range(400)]
    owned = {k: [f"{k}{i}" for i in range(3)] for k in "abc"}
    for owner, most in ((list(range(400)), 0.2), (rng.integers(0, 150, 400).tolist(), 0.8)):
        result = run(visits(records, owner), adversaries=owned)
        assert check_breach_bound(result.data, result.claim).holds
        assert unsafe([tuple(result.data.record(i)) for i in range(400)], owner, owned, HALF) == []
        assert 0 < result.facts["visits suppressed"] < most * sum(map(len, records))


def test_same_result_again_and_input_untouched() -> None:
    data = visits(golden("table2")["truth"])
    before = data.t.copy(), data.location.copy()
    first, second = (run(data, adversaries=golden("table2")["adversaries"], times="keep").data for _ in range(2))
    assert names(first) == names(second)
    assert (data.t == before[0]).all()
    assert (data.location == before[1]).all()
    assert first.time_format == data.time_format
    assert set(first.t.tolist()) <= set(data.t.tolist())


def test_times_are_replaced_unless_kept() -> None:
    data = replace(visits([["a", "b"], ["a", "c"]]), time_format="epoch")
    ordered = run(data, adversaries={"A": ["a"]}).data
    assert (ordered.t.tolist(), ordered.time_format) == ([1, 2, 1, 2], "integer")
    kept = run(data, adversaries={"A": ["a"]}, times="keep").data
    assert (kept.t.tolist(), kept.time_format) == ([0, 10, 0, 10], "epoch")


@pytest.mark.parametrize("mode", ["class", "global"])
def test_the_bounds_of_p(mode: str) -> None:
    data = visits([["a", "b"], ["b", "a"], ["a", "c"], []])
    assert names(run(data, p=1, adversaries={"A": ["a"]}, mode=mode).data) == names(data)
    assert names(run(data, p=0, adversaries={"A": ["a"]}, mode=mode).data) == [("a",), ("a",), ("a",), ()]
    for p in (Fraction(1, 10**30), Fraction(10**30, 4 * 10**30 + 1)):  # numbers beyond 64 bits
        assert names(run(data, p=p, adversaries={"A": ["a"]}, mode=mode).data) == [("a",), ("a",), ("a",), ()]


def test_data_without_visits() -> None:
    for data in (Visits.from_records([]), Visits.from_records([[], []])):
        result = run(data, adversaries={"A": ["a"]})
        assert len(result.data) == len(data)
        assert result.facts["visits suppressed"] == 0


def test_wrong_adversaries() -> None:
    with pytest.raises(InputError, match=r"gsup: 2 of the 3 places of the adversaries never occur in the data, for "
                                         r"example 'x'\. Correct their names or leave them out\."):  # fmt: skip
        run(visits([["a"]]), adversaries={"A": ["a", "x"], "B": ["y"]})
    with pytest.raises(ParameterError, match="one adversary only"):
        Gsup(adversaries={"A": ["a"], "B": ["a"]})
    with pytest.raises(ParameterError, match="at least one adversary"):
        Gsup(adversaries={})
    with pytest.raises(ParameterError, match="mode must be one of class, global"):
        Gsup(adversaries={"A": ["a"]}, mode="local")
    with pytest.raises(ParameterError, match="p must be a number from 0 to 1"):
        Gsup(p=2, adversaries={"A": ["a"]})
