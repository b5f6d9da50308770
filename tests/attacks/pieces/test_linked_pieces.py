"""Pieces of trips that are joined again, against a definition over all pairs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import LinkedPieces
from wayveil.engines import LocalEngine
from wayveil.methods import METHODS
from wayveil.model import Points
from wayveil.recipe.defaults import attacks_of
from wayveil.recipe.recipe import make_recipe
from wayveil.steps import STEPS

ENGINE = LocalEngine()
Track = list[tuple[int, float, float]]


def linked(truth: Points, target: Points | None = None, **how: Any) -> dict[str, Any]:
    attack = LinkedPieces(**how)
    found = attack.run(
        truth, truth if target is None else target, sensitive={}, rng=np.random.default_rng(0), engine=ENGINE
    )
    return dict(found.measured)


tracks = st.lists(
    st.tuples(st.integers(0, 6), st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 2)),
    min_size=1,
    max_size=7,
)


def definition(records: list[Track], owner: list[int], gap: int) -> float | None:
    """For each piece that somebody goes on from: who begins nearest to where it leads, of those who begin soon."""
    people: dict[int, list[Fraction]] = {}
    for who in set(owner):
        own = [record for record, o in zip(records, owner, strict=True) if o == who]
        for before in own:
            if not any(0 < after[0][0] - before[-1][0] <= gap for after in own):
                continue
            t, x, _ = before[-1]
            lead = Fraction(0)
            if len(before) > 1:
                lead = Fraction(int(x - before[-2][1]), t - before[-2][0])
            far = [
                (abs(Fraction(int(r[0][1])) - int(x) - lead * (r[0][0] - t)), o == who)
                for r, o in zip(records, owner, strict=True)
                if 0 < r[0][0] - t <= gap
            ]
            near = [same for distance, same in far if distance == min(far)[0]]
            people.setdefault(who, []).append(Fraction(sum(near), len(near)))
    risks = [sum(one, Fraction(0)) / len(one) for one in people.values()]
    return float(sum(risks, Fraction(0)) / len(risks)) if risks else None


@settings(deadline=None, max_examples=150)
@given(tracks, st.integers(1, 5))
def test_success_is_the_definition(drawn: list[tuple[int, list[int], int]], gap: int) -> None:
    records: list[Track] = [[(t + i, float(x), 0.0) for i, x in enumerate(xs)] for t, xs, _ in drawn]
    owner = [who for _, _, who in drawn]
    expected = definition(records, owner, gap)
    found = linked(Points.from_records(records, owner=owner), max_gap=gap)["linked_mean"]
    assert found == (None if expected is None else pytest.approx(expected))


def test_windows_are_joined_and_copies_hide_among_each_other() -> None:
    """Four people on roads of their own, cut into windows: raw pieces are joined; as copies, one in four is."""
    records: list[Track] = [[(t, 10.0 * t, 100.0 * who) for t in range(30)] for who in range(4)]
    pieces, _ = STEPS["window"](width=10).run(Points.from_records(records))
    assert linked(pieces)["linked_mean"] == 1.0
    made = METHODS["nwa"](k=4).run(pieces, rng=np.random.default_rng(0), engine=ENGINE).data
    found = linked(pieces, made)
    assert (found["linked_mean"], found["chance_mean"], found["published_share"]) == (0.25, 0.25, 1.0)


def test_who_was_not_cut_is_no_victim() -> None:
    found = linked(Points.from_records([[(0, 0.0, 0.0)], [(1, 0.0, 0.0)]], owner=[0, 1]))
    assert found["linked_mean"] is None
    assert found["pairs"] == 0


def test_it_is_measured_where_trips_were_cut() -> None:
    def names(*steps: dict[str, Any]) -> list[str]:
        recipe = make_recipe(
            {"input": {"path": "x.csv"}, "prepare": list(steps), "method": {"name": "nwa"}, "output": {"path": "out"}}
        )
        return [attack.name for attack in attacks_of(recipe)]

    assert "linked_pieces" in names({"step": "window", "width": "1h"})
    assert "linked_pieces" in names({"step": "split", "gap": "1h"})
    assert "linked_pieces" not in names({"step": "clean"})
