"""Random small publications by every method, with one to six trips per person: no sentence is broken, both ways.

Of each publication three things are asked: the verifier holds, with the original; the promise, written out in plain
Python from its sentence, is kept over people and over trajectories; and every attacker under "protects against" keeps
the bound.  Then it is changed a little, and verifier and promise must say the same of it.  What fails is printed as a
`Case`, with the smallest one that fails alike: ``find_break(Case(...))`` repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count, islice
from types import SimpleNamespace

import campaign
import pytest
from campaign import Case, draw_case, find_break, shrink

from wayveil.methods import METHODS
from wayveil.model import MethodResult

SAMPLE, PARTS, PER_PART = 15, 10, 182
"""Publications of a method in every run, and in the whole campaign: 11 methods x 10 parts x 182 are 20,020."""


def published(method: str, first: int) -> Iterator[Case]:
    """Yield the cases from this number on in which something is left, each checked."""
    for seed in count(first):
        case = draw_case(method, seed)
        found = find_break(case)
        if found:
            small = shrink(case, partial(breaks_alike, found.split(":")[0]))
            pytest.fail(f"{found}\nin {case}\nwhich is, at its smallest,\n{small}\n{find_break(small)}")
        if found is not None:
            yield case


def breaks_alike(kind: str, case: Case) -> bool:
    return (find_break(case) or "").startswith(kind)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_sample_of_publications_keeps_every_sentence(method: str) -> None:
    cases = list(islice(published(method, 0), SAMPLE))
    assert max(max(map(case.owner.count, case.owner)) for case in cases) >= 6  # somebody has six trips or more


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS + 1))
@pytest.mark.parametrize("method", sorted(METHODS))
def test_twenty_thousand_publications_keep_every_sentence(method: str, part: int) -> None:
    assert sum(1 for _ in islice(published(method, 10_000 * part), PER_PART)) == PER_PART


def test_each_of_the_three_finds_what_is_broken_and_makes_it_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if kcl published everything: then six of eight trips are one person's, where at most a half is promised."""
    case = Case(
        method="kcl",
        parameters={"k": 2, "l": 1},
        records=[[("a", 1), ("b", 2)]] * 8,
        owner=[0, 0, 0, 0, 0, 0, 1, 1],
        beside={"ill": ["no"] * 8},
    )
    assert find_break(case) == ""
    monkeypatch.setattr(METHODS["kcl"], "run", lambda self, data, **_: MethodResult(data=data, claim=self.claim))
    assert str(find_break(case)).startswith("verdict: ")
    holds = SimpleNamespace(holds=True)
    monkeypatch.setitem(campaign.VERIFIERS, "KCL", lambda *_, **__: holds)
    assert find_break(case) == "promise: One person owns 6 of 8 trajectories that look alike."
    monkeypatch.setitem(campaign.PROMISES, "KCL", lambda *_: "")
    assert str(find_break(case)).endswith("identity_max is 0.75")
    small = shrink(case, lambda other: bool(find_break(other)))
    assert [len(record) for record in small.records] == [1]
