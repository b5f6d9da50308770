"""(K,C)_L-privacy that spares maximal frequent sequences: what is lost, and what is reported."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.kcl import Kcl, kcl_solver, kcl_strategies
from wayveil.model import MethodResult, Visits
from wayveil.pipeline.publish import publish
from wayveil.recipe import defaults
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import check_kcl

ROOT = Path(__file__).parents[3]
TABLE_1 = ROOT / "recipes" / "table1.csv"
GOLDEN = json.loads((ROOT / "tests" / "golden" / "kcl" / "mfs.json").read_text())
ILL = {"diagnosis": ["HIV", "Hepatitis"]}
Case = tuple[Visits, dict[str, Any]]


def run(data: Visits, **asked: Any) -> MethodResult:
    method = Kcl(**asked, preserve="mfs", accept_absence="yes")
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())


def sequences(data: Visits, longest: int | None = None) -> dict[Any, list[int]]:
    """Return every sequence of visits that occurs, with the trajectories that have it."""
    found: dict[Any, list[int]] = {}
    for r in range(len(data)):
        record = data.record(r)
        for n in range(1, (len(record) if longest is None else longest) + 1):
            for q in combinations(record, n):
                found.setdefault(q, []).append(r)
    return found


def supports(data: Visits) -> dict[Any, int]:
    owner = data.owner.tolist()
    return {q: len({owner[r] for r in group}) for q, group in sequences(data).items()}


def maximal_frequent(data: Visits, bar: int) -> dict[Any, int]:
    frequent = {q: n for q, n in supports(data).items() if n >= bar}
    return {q: n for q, n in frequent.items() if not any(set(q) < set(longer) for longer in frequent)}


def violating(data: Visits, k: int, c: str, l: int, sensitive: dict[str, list[str]]) -> list[Any]:
    owner, bad = data.owner.tolist(), []
    carried = [[v == value for v in data.attributes[name].values()] for name, vs in sensitive.items() for value in vs]
    for q, group in sequences(data, l).items():
        people = {owner[r] for r in group}
        fine = len(people) >= k
        fine &= all(sum(owner[r] == who for r in group) * k <= len(group) for who in people)
        fine &= all(len({owner[r] for r in group if has[r]}) <= Fraction(c) * len(people) for has in carried)
        fine &= all(sum(has[r] for r in group) <= Fraction(c) * len(group) for has in carried)
        if not fine:
            bad.append(q)
    return bad


def cases(seed: int, n: int) -> Iterator[Case]:
    """Random tables: two or three places, people with several trajectories, a sensitive value that few have."""
    rng = random.Random(seed)
    for _ in range(n):
        people, times, density = rng.randint(2, 10), rng.randint(2, 6), rng.choice([0.4, 0.7, 0.9])
        places = rng.choice(["a", "ab"])
        records = [[(rng.choice(places), t) for t in range(times) if rng.random() < density] for _ in range(people)]
        owner = [rng.randrange(people) if rng.random() < 0.4 else 100 + i for i in range(people)]
        ill = ["HIV"] + [rng.choice(["HIV", "none", "none"]) for _ in records[1:]]
        data = Visits.from_records(records, attributes={"ill": ill}, owner=owner)
        asked = {
            "k": rng.randint(1, min(3, data.n_owners)),
            "c": rng.choice(["1/3", "1/2", "0.8", "1"]),
            "l": rng.randint(1, 4),
            "sensitive": {"ill": ["HIV"]},
        }
        yield data, asked


@pytest.mark.parametrize("suppression", ["local", "global"])
def test_the_claim_holds_and_the_loss_is_true(suppression: str) -> None:
    rng, lost_of_all = random.Random(1), 0
    for data, asked in cases(60, 120):
        bar = rng.randint(1, 4)
        made = run(data, **asked, suppression=suppression, min_support=bar)
        assert violating(made.data, **asked) == []
        assert made.data.n_visits == 0 or check_kcl(made.data, made.claim).holds
        before, after = maximal_frequent(data, bar), supports(made.data)
        lost = sum(after.get(q, 0) < bar for q in before)
        assert made.facts["frequent sequences"] == len(before)
        assert made.facts["frequent sequences lost"] == lost
        assert made.facts["visits suppressed"] == data.n_visits - made.data.n_visits
        lost_of_all += lost
    assert lost_of_all > 40


def test_order_and_names_of_the_input_do_not_matter() -> None:
    for data, asked in cases(61, 60):
        turned = data.take(np.arange(len(data))[::-1])
        facts = [run(d, **asked, min_support=2).facts["frequent sequences"] for d in (data, turned)]
        assert facts[0] == facts[1] == len(maximal_frequent(data, 2))


def test_auto_is_one_percent_of_the_people_and_at_least_2() -> None:
    few = Visits.from_records([[("a", 1)]] * 2 + [[("b", 1)]])
    assert run(few, k=1, l=1).facts["frequent sequences"] == 1  # b is below 2
    # 201 people, so 3 of them: a has 3, b has 2, and c has 4 trajectories of 2 people
    records = [[("a", 1)]] * 3 + [[("b", 1)]] * 2 + [[("c", 1)]] * 4 + [[]] * 194
    owner = [0, 1, 2, 3, 4, 5, 5, 6, 6, *range(7, 201)]
    many = Visits.from_records(records, owner=owner)
    assert many.n_owners == 201
    assert run(many, k=1, l=1).facts["frequent sequences"] == 1
    assert run(many, k=1, l=1, min_support=2).facts["frequent sequences"] == 3


def test_without_frequent_sequences_it_still_works() -> None:
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2)]])
    made = run(data, k=3, l=2, min_support=99)
    assert made.facts["frequent sequences"] == made.facts["frequent sequences lost"] == 0
    assert [made.data.record(r) for r in range(3)] == [[("a", 1)]] * 3
    nothing = Visits.from_records([[], []])
    assert run(nothing, k=2, l=1).facts["frequent sequences"] == 0


def test_a_sequence_can_be_spared_at_the_price_of_visits() -> None:
    # (a, b) is rare, so a or b must leave record 0; a is frequent with just enough people, so b goes
    records = [[("a", 1), ("b", 2)], *[[("a", 1)]] * 3, *[[("b", 2)]] * 2]
    made = run(Visits.from_records(records), k=2, l=2, min_support=4)
    assert [made.data.record(r) for r in range(6)] == [[("a", 1)]] * 4 + [[("b", 2)]] * 2
    assert made.facts["frequent sequences lost"] == 0


def test_the_score_of_the_paper_can_lose_what_it_should_spare() -> None:
    # See docs/research/flaws.md: of all records a1 removes three threats for one sequence, 3/2; of one, one, 1
    texts = ["a1 b2", "a1 c3", "a1 d4", "a1", "a1", "a1", "b2", "c3", "d4"]
    data = Visits.from_records([[(v[0], int(v[1:])) for v in text.split()] for text in texts])
    made = run(data, k=2, l=2, min_support=3, restore="no")
    assert (made.facts["frequent sequences"], made.facts["frequent sequences lost"]) == (1, 1)
    assert made.facts["visits suppressed"] == 6
    better = run(data, k=2, l=2, min_support=3)
    assert (better.facts["frequent sequences"], better.facts["frequent sequences lost"]) == (1, 0)
    assert (better.facts["visits suppressed"], better.facts["visits given back"]) == (3, 3)
    spared = Kcl(k=2, l=2, preserve="instances").run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    assert spared.facts["visits suppressed"] == 3
    assert supports(spared.data)[(("a", 1),)] == 3  # still frequent


def built_up(data: Visits, k: int, l: int, bar: int, rounds: int) -> list[set[Any]]:
    """Return what is left where everything is taken and given back, then mended `rounds` times, from the definition.

    An item comes back to all that ask for it except those in whom it makes a sequence of too few people.  First come
    items in sequences of most weight, then those that most ask for, again until none comes back.  The best of all
    rounds is left.  Everybody has one trajectory.
    """
    owner, full = data.owner.tolist(), [set(data.record(r)) for r in range(len(data))]
    mfs = list(maximal_frequent(data, bar))
    weight = dict.fromkeys(mfs, 1)

    def people(have: list[set[Any]], q: Any) -> int:
        return len({owner[r] for r in range(len(have)) if set(q) <= have[r]})

    def is_threat(have: list[set[Any]], r: int, item: Any) -> bool:
        others = sorted(have[r] - {item})
        return any(people(have, (item, *q)) < k for n in range(l) for q in combinations(others, n))

    def offer(have: list[set[Any]], what: list[set[Any]]) -> list[set[Any]]:
        before = have
        asking = {i: [r for r in range(len(have)) if i in what[r] - have[r]] for i in set().union(*what)}

        def rank(i: Any) -> Any:
            return -sum(weight[q] for q in mfs if i in q), -len(asking[i]), i[1], i[0]

        for i in sorted(filter(asking.get, asking), key=rank):
            again, go = asking[i], True
            while go:
                tried = [has | {i} if r in again else has for r, has in enumerate(have)]
                gone = [r for r in again if is_threat(tried, r, i)]
                again, go = [r for r in again if r not in gone], bool(gone)
            have = tried
        return have if have == before else offer(have, what)

    def cost(have: list[set[Any]]) -> Any:
        return sum(people(have, q) < bar for q in mfs), -sum(map(len, have))

    nothing: list[set[Any]] = [set() for _ in full]
    have = best = offer(nothing, full)
    for _ in range(rounds):
        lost = [q for q in mfs if people(have, q) < bar]
        if not lost:
            break
        wanted = []
        for has, had in zip(have, full, strict=True):
            broken = [set(q) for q in lost if set(q) <= had and not set(q) <= has]
            inside = [set(q) for q in mfs if set(q) <= had]
            wanted.append(has & set().union(*inside) | set().union(*broken) if broken else has)
        for q in lost:
            weight[q] += 16
        have = offer(offer(nothing, wanted), full)
        best = min(best, have, key=cost)
    return best


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_visits_are_given_back_and_sequences_mended_as_defined(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    restore_from_empty = kcl_solver.restore_from_empty

    def mended(crowd: Any, spared: Any) -> Any:
        return kcl_strategies.repair_patterns(restore_from_empty(crowd, spared), crowd, spared)

    monkeypatch.setattr(kcl_solver, "restore_from_empty", mended)
    monkeypatch.setattr(kcl_solver, "MOST_VISITS", 0)
    monkeypatch.setattr(kcl_strategies, "ROUNDS", rounds)
    rng, differs = random.Random(2), 0
    for data, asked in mendable(rng, 120, trips=1):
        bar = rng.randint(2, 5)
        made = run(data, **asked, min_support=bar)
        left = [set(made.data.record(r)) for r in range(len(data))]
        assert left == built_up(data, asked["k"], asked["l"], bar, rounds)
        differs += rounds > 0 and left != built_up(data, asked["k"], asked["l"], bar, rounds - 1)
    assert rounds == 0 or differs > 0


def mendable(rng: random.Random, n: int, trips: int = 2) -> Iterator[Case]:
    """Random tables in which some are frequent and some rare, without sensitive values."""
    for _ in range(n):
        people, times = rng.randint(6, 14), rng.randint(3, 5)
        records = [[(rng.choice("aaab"), t) for t in range(times) if rng.random() < 0.7] for _ in range(people)]
        owner = [rng.randrange(people) if trips > 1 and rng.random() < 0.2 else 100 + i for i in range(people)]
        yield Visits.from_records(records, owner=owner), {"k": rng.randint(2, 3), "l": rng.randint(2, 3)}


def test_mending_never_loses_more_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, mended = random.Random(3), 0
    for data, asked in mendable(rng, 200):
        bar = rng.randint(2, 5)
        with_it = run(data, **asked, min_support=bar).facts
        with monkeypatch.context() as without:
            without.setattr(kcl_strategies, "ROUNDS", 0)
            facts = run(data, **asked, min_support=bar).facts
        assert with_it["frequent sequences lost"] <= facts["frequent sequences lost"]
        mended += with_it["frequent sequences lost"] < facts["frequent sequences lost"]
        # what is mended was given back from nothing, so there are no steps to report
        if with_it["frequent sequences lost"] < facts["frequent sequences lost"]:
            assert not {"local suppressions", "global suppressions", "visits given back"} & set(with_it)
    assert mended > 0


def test_too_many_frequent_sequences_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # 24 people who each have two thirds of the same 65 visits: any two share about 29, and so 2^29 sequences
    rng = random.Random(4)
    data = Visits.from_records([[("a", t) for t in range(65) if rng.random() < 2 / 3] for _ in range(24)])
    monkeypatch.setattr(kcl_strategies, "MOST_LOOKS", 5_000_000)
    with pytest.raises(InputError) as caught:
        run(data, k=2, l=2)
    assert str(caught.value) == (
        "kcl: with preserve=mfs, the sequences that at least 2 people share are too many to look at (more than "
        "5,000,000 steps). Give a larger min_support, cut long trajectories, or take preserve=instances."
    )
    assert run(data, k=2, l=2, min_support=23).facts["frequent sequences"] >= 0


def published_records(path: Path) -> list[str]:
    frame = pl.read_csv(path)
    groups = frame.partition_by("traj_id", maintain_order=True)
    return [" ".join(f"{p}{t}" for p, t in zip(g["location"], g["t"], strict=True)) for g in groups]


def asked_of(text: str) -> set[str]:
    return set(text.split())


def test_table_1_with_k_2(tmp_path: Path) -> None:
    options = ["--k", "2", "--c", "0.5", "--l", "2", "--sensitive", "diagnosis=HIV,Hepatitis", "--format", "csv"]
    more = ["--preserve", "mfs", "--min-support", "2", "--each-trajectory-is-a-person", "--out", str(tmp_path / "out")]
    assert main(["publish", "kcl", str(TABLE_1), *options, *more]) == 0
    left = published_records(tmp_path / "out" / "public" / "published.csv")
    lost = [q for q in GOLDEN["table_1_mfs"] if sum(asked_of(q) <= asked_of(record) for record in left) < 2]
    assert lost == ["a1 d2 f6 c7"]  # as in the paper's Table 2, whose loss is 1/6
    written = json.loads((tmp_path / "out" / "private" / "results.json").read_text())
    [score] = [s for s in written["scores"] if s["name"] == "frequent_sequences"]
    assert score["measured"]["min_support"] == 2
    assert score["measured"]["mfs_before"] == len(GOLDEN["table_1_mfs"])
    assert Fraction(score["value"]).limit_denominator(100) == Fraction(GOLDEN["loss"])
    assert written["parameters"]["preserve"] == "mfs"
    assert written["parameters"]["min_support"] == 2


def test_the_sequences_that_are_spared_are_those_that_are_measured(tmp_path: Path) -> None:
    def used(**more: Any) -> Any:
        content = {
            "input": {"path": str(TABLE_1), "owners": "each-trajectory"},
            "method": {"name": "kcl", "k": 2, "c": 0.5, "l": 2, "sensitive": ILL, **more},
            "output": {"path": str(tmp_path / "out"), "overwrite": True},
        }
        outcome = publish(make_recipe(content))
        [score] = [s for s in outcome.scores if s.name == "frequent_sequences"]
        return score.measured["min_support"]

    assert used(preserve="mfs", min_support=3) == 3
    assert used(preserve="mfs") == 2  # auto, for the metric as for the method
    assert used(min_support=3) == 2  # nothing is spared, so the metric's own default


def test_default_metrics_follow_the_method() -> None:
    def asked(method: Kcl | None) -> Any:
        found = defaults.default_metrics(Visits, Visits, method=method)
        assert [m.name for m in found] == [m.name for m in defaults.default_metrics(Visits, Visits)]
        [metric] = [m for m in found if m.name == "frequent_sequences"]
        return metric.min_support  # type: ignore[attr-defined]

    assert asked(None) == "auto"
    assert asked(Kcl(k=2, l=2)) == "auto"
    assert asked(Kcl(k=2, l=2, min_support=7)) == "auto"
    assert asked(Kcl(k=2, l=2, preserve="mfs")) == "auto"
    assert asked(Kcl(k=2, l=2, preserve="mfs", min_support=7)) == 7
