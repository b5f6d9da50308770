"""Who knows the group of the victim: whom to pick, and where its people end, against a count by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import KnownGroup
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.model import Boxes, KAnonymity, Points
from wayveil.recipe.defaults import default_attacks

BOXES = [(0, 9, 0.0, 900.0, 0.0, 0.0), (0, 9, 0.0, 901.0, 0.0, 0.0), (0, 4, 0.0, 900.0, 0.0, 0.0)]


def attacked(truth: Points, target: Any, **how: Any) -> dict[str, Any]:
    found = KnownGroup(**how).run(truth, target, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine())
    return dict(found.measured)


def count_by_hand(truth: Points, target: Boxes, side: float) -> tuple[Fraction, Fraction]:
    """Return the largest chance times what was asked for, and the largest chance to name an end."""
    groups = defaultdict(list)
    for i in range(len(target)):
        if target.record(i):
            groups[tuple(target.record(i))].append(i)
    asked = [int(value or 1) for value in truth.attributes["wanted"].values()]
    owner_of = truth.owner.tolist()
    asked = [max(one for one, other in zip(asked, owner_of, strict=True) if other == owner) for owner in owner_of]
    ratio = named = Fraction(0)
    for boxes, members in groups.items():
        owners = [int(truth.owner[i]) for i in members]
        then = [[row for row in truth.record(i) if row[0] <= boxes[-1][1]][-1] for i in members]
        last = [truth.record(i)[-1] for i in members]
        for i, owner in zip(members, owners, strict=True):
            chance = max(Fraction(1, len(set(owners))), Fraction(owners.count(owner), len(owners)))
            ratio = max(ratio, chance * asked[i])
        for moments in (then, last):
            ends = [(x // side, y // side) for _, x, y in moments]
            for end in set(ends):
                here = [owner for owner, other in zip(owners, ends, strict=True) if other == end]
                named = max(named, Fraction(len(here), len(owners)), Fraction(len(set(here)), len(set(owners))))
    return ratio, named


def test_chances_are_those_that_are_counted_by_hand() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(3, 12))
        owner = rng.integers(0, 5, n).tolist()
        records = [
            [(0, 0.0, 0.0), (5, float(rng.integers(0, 9)) * 100, 0.0), (9, float(rng.integers(0, 3)) * 200, 0.0)]
            for _ in range(n)
        ]
        wanted = [rng.choice([None, "2", "4"]) for _ in range(n)]
        truth = Points.from_records(records, owner=owner, attributes={"wanted": wanted})
        rows = [[] if rng.random() < 0.1 else [BOXES[int(rng.integers(3))]] for _ in range(n - 1)]
        target = replace(Boxes.from_records([*rows, [BOXES[0]]]), owner=np.array(owner), owners="given")
        found = attacked(truth, target, k_column="wanted", destination_cell=200.0)
        ratio, named = count_by_hand(truth, target, 200.0)
        assert found["asked_max"] == pytest.approx(float(ratio))
        assert found["destination_max"] == pytest.approx(float(named))


def test_raw_trajectories_are_found_for_certain() -> None:
    truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 5.0, 0.0)]], attributes={"wanted": ["7", None]})
    found = attacked(truth, truth, k_column="wanted", destination_cell="none")
    assert found["identity_mean"] == 1.0
    assert found["asked_max"] == 7.0
    assert "destination_max" not in found
    with pytest.raises(InputError, match="no column 'asked'"):
        attacked(truth, truth, k_column="asked")
    words = Points.from_records([[(0, 0.0, 0.0)]], attributes={"wanted": ["many"]})
    with pytest.raises(InputError, match="no whole number"):
        attacked(words, words, k_column="wanted")


def test_it_is_run_where_members_were_promised_something_and_not_elsewhere() -> None:
    plain = default_attacks(Points, Boxes, claim=KAnonymity(k=2))
    assert not any(attack.name == "known_group" for attack in plain)
    wish = KAnonymity(k=2, destination_share=Fraction(1, 2), destination_cell=80.0)
    attack = next(one for one in default_attacks(Points, Boxes, claim=wish) if one.name == "known_group")
    assert attack.destination_cell == 80.0
    assert attack.k_column == "none"
