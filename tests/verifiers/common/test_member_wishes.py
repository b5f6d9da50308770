"""What members were promised beyond k: planted violations are found, and the definition agrees."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from wayveil.errors import ParameterError
from wayveil.model import Boxes, KAnonymity, KDelta, Points, guarantee_from_json
from wayveil.model.data.coded import Coded
from wayveil.verifiers.kanonymity.definition import find_break_of_kanonymity
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity
from wayveil.verifiers.kdelta.definition import find_break_of_kdelta
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

BOX = (0, 5, 0.0, 900.0, 0.0, 0.0)
OTHER = (0, 5, 0.0, 901.0, 0.0, 0.0)


def _truth(wanted: list[str | None], ends: list[float], owner: list[int] | None = None) -> Points:
    """Walkers who are at 0 first, then somewhere, where they stay when the publication is over."""
    records = [[(0, 0.0, 0.0), (5, end, 0.0), (9, end, 0.0)] for end in ends]
    return Points.from_records(records, owner=owner, attributes={"wanted": wanted})


def test_who_asked_for_more_is_one_of_as_many() -> None:
    claim = KAnonymity(k=2, k_column="wanted")
    boxes = Boxes.from_records([[BOX]] * 3 + [[OTHER]] * 2)
    kept = _truth(["3", None, "2", "", " 2 "], [0.0] * 5)
    assert check_kanonymity(boxes, claim, original=kept).holds
    assert not find_break_of_kanonymity(boxes, claim, original=kept)
    broken = _truth(["3", None, "2", "3", "2"], [0.0] * 5)
    verdict = check_kanonymity(boxes, claim, original=broken)
    assert not verdict.holds
    assert verdict.witness is not None
    assert verdict.witness["breaks"] == "asked"
    assert verdict.reason == "A trajectory is that of 2 people, and one of them asked for 3."
    assert find_break_of_kanonymity(boxes, claim, original=broken)
    assert check_kanonymity(boxes, KAnonymity(k=2), original=broken).holds


def test_who_asked_for_more_owns_no_larger_share() -> None:
    """Three people look alike, and one of them has 2 of 5 trajectories: 1/3 was asked for, half is promised to all."""
    owner = [0, 0, 1, 1, 2]
    boxes = replace(Boxes.from_records([[BOX]] * 5), owner=np.array(owner), owners="given")
    claim = KAnonymity(k=2, k_column="wanted")
    small = _truth([None, None, "2", "2", "3"], [0.0] * 5, owner)
    assert check_kanonymity(boxes, claim, original=small).holds
    large = _truth(["3", "3", None, None, None], [0.0] * 5, owner)
    verdict = check_kanonymity(boxes, claim, original=large)
    assert not verdict.holds
    assert "2 belong to one person who asked for 3" in verdict.reason
    assert find_break_of_kanonymity(boxes, claim, original=large)
    # A larger share for everybody is none for those who asked for a number, be it below k.
    relaxed = KAnonymity(k=2, k_column="wanted", row_share=Fraction(1, 2))
    assert not check_kanonymity(boxes, relaxed, original=large).holds
    assert find_break_of_kanonymity(boxes, relaxed, original=large)
    two = replace(boxes, owner=np.array([0, 0, 0, 1, 2]))
    asked = _truth(["2", None, None, None, None], [0.0] * 5, [0, 0, 0, 1, 2])
    loose = replace(relaxed, k=3, row_share=Fraction(1))
    assert "3 belong to one person who asked for 2" in check_kanonymity(two, loose, original=asked).reason
    assert find_break_of_kanonymity(two, loose, original=asked)


def test_who_asked_with_one_trip_asked_for_all_of_them() -> None:
    """Ann asks for three with one trip and for nothing with the other, on which she is one of two."""
    owner = [0, 1, 2, 0, 1]
    boxes = replace(Boxes.from_records([[BOX]] * 3 + [[OTHER]] * 2), owner=np.array(owner), owners="given")
    claim = KAnonymity(k=2, k_column="wanted")
    truth = _truth(["3", None, None, None, None], [0.0] * 5, owner)
    verdict = check_kanonymity(boxes, claim, original=truth)
    assert verdict.reason == "A trajectory is that of 2 people, and one of them asked for 3."
    assert find_break_of_kanonymity(boxes, claim, original=truth)


def test_a_number_of_thousands_of_digits_is_more_than_anybody_can_have() -> None:
    boxes = Boxes.from_records([[BOX]] * 2)
    verdict = check_kanonymity(
        boxes, KAnonymity(k=2, k_column="wanted"), original=_truth(["9" * 5000, None], [0.0, 0.0])
    )
    assert not verdict.holds
    assert verdict.witness is not None
    assert verdict.witness["breaks"] == "asked"


def test_where_a_trip_ends_counts_and_where_people_are_when_the_last_box_is_over() -> None:
    claim = KAnonymity(k=2, destination_share=Fraction(1, 2), destination_cell=100.0)
    boxes = Boxes.from_records([[BOX]] * 3)
    for then, last, sentence in (
        ((10.0, 310.0, 510.0), (50.0, 50.0, 50.0), "3 end in one square: more than 1/2"),
        ((50.0, 50.0, 50.0), (10.0, 310.0, 510.0), "3 are in one square when the last box is over: more than 1/2"),
    ):
        records = [[(0, 0.0, 0.0), (5, a, 0.0), (9, b, 0.0)] for a, b in zip(then, last, strict=True)]
        truth = Points.from_records(records)
        assert sentence in check_kanonymity(boxes, claim, original=truth).reason
        assert find_break_of_kanonymity(boxes, claim, original=truth)


def test_a_missing_column_or_a_number_that_is_none_never_makes_it_better() -> None:
    boxes = Boxes.from_records([[BOX]] * 2)
    claim = KAnonymity(k=2, k_column="wanted")
    nobody = _truth([None, None], [0.0, 0.0]).with_attributes({})
    assert "the original has no such column" in check_kanonymity(boxes, claim, original=nobody).reason
    word = _truth(["many", None], [0.0, 0.0])
    verdict = check_kanonymity(boxes, claim, original=word)
    assert not verdict.holds
    assert "many" not in verdict.reason
    alone = check_kanonymity(boxes, claim)
    assert alone.holds
    assert any(part.startswith("numbers that people asked for") for part in alone.not_judged)


def test_too_many_who_end_in_one_square_are_found() -> None:
    claim = KAnonymity(k=2, destination_share=Fraction(1, 2), destination_cell=100.0)
    boxes = Boxes.from_records([[BOX]] * 4)
    apart = _truth([None] * 4, [10.0, 20.0, 310.0, 510.0])
    assert check_kanonymity(boxes, claim, original=apart).holds
    assert not find_break_of_kanonymity(boxes, claim, original=apart)
    together = _truth([None] * 4, [10.0, 20.0, 30.0, 510.0])
    verdict = check_kanonymity(boxes, claim, original=together)
    assert verdict.reason == "Of 4 people that look alike, 3 end in one square: more than 1/2."
    assert find_break_of_kanonymity(boxes, claim, original=together)
    # by trajectories as well: two people, one of whom comes to the same square three times
    owner = [0, 0, 0, 1, 1, 1, 1, 1]
    boxes = replace(Boxes.from_records([[BOX]] * 8), owner=np.array(owner), owners="given")
    often = _truth([None] * 8, [10.0, 10.0, 10.0, 10.0, 10.0, 310.0, 410.0, 510.0], owner)
    loose = replace(claim, row_share=Fraction(7, 10), destination_share="none")
    assert check_kanonymity(boxes, loose, original=often).holds
    assert not check_kanonymity(boxes, replace(loose, destination_share=Fraction(3, 5)), original=often).holds
    assert any(part.startswith("destinations") for part in check_kanonymity(boxes, claim).not_judged)


def test_points_that_are_the_same_are_judged_alike() -> None:
    same = Points.from_records([[(0, 1.0, 1.0)]] * 3)
    claim = KDelta(k=2, delta=0, k_column="wanted", destination_share=Fraction(1, 2), destination_cell=100.0)
    # Points have no time of their own at which the publication ends: where trips end counts, at 50 all three.
    truth = Points.from_records(
        [[(0, 0.0, 0.0), (5, end, 0.0), (9, 50.0, 0.0)] for end in (10.0, 310.0, 610.0)],
        attributes={"wanted": ["3", "2", None]},
    )
    verdict = check_kdelta(same, claim, original=truth)
    assert "3 end in one square" in verdict.reason
    assert find_break_of_kdelta(same, claim, original=truth)
    asked = replace(claim, destination_share="none")
    assert check_kdelta(same, asked, original=truth).holds
    assert not find_break_of_kdelta(same, asked, original=truth)
    more = replace(truth, attributes={"wanted": Coded.from_values(["4", None, None])})
    assert not check_kdelta(same, asked, original=more).holds
    assert find_break_of_kdelta(same, asked, original=more)
    assert check_kdelta(same, KDelta(k=2, delta=0), original=more).holds
    with pytest.raises(ParameterError, match="go with delta = 0"):
        KDelta(k=2, delta=5, k_column="wanted")


def test_the_definition_and_the_verifier_agree_on_random_groups() -> None:
    rng = np.random.default_rng(12)
    held = 0
    for _ in range(300):
        n = int(rng.integers(4, 12))
        owner = rng.integers(0, 6, n)
        boxes = Boxes.from_records([[BOX] if one else [OTHER] for one in rng.random(n) < 0.7])
        boxes = replace(boxes, owner=owner, owners="given")
        wanted = [rng.choice([None, "2", "3"], p=[0.6, 0.2, 0.2]) for _ in range(n)]
        truth = _truth(wanted, rng.choice([10.0, 310.0, 410.0, 510.0], n).tolist(), owner.tolist())
        claim = KAnonymity(
            k=2,
            row_share=Fraction(2, 3) if rng.random() < 0.5 else "1/k",
            k_column="wanted" if rng.random() < 0.7 else "none",
            destination_share=Fraction(int(rng.integers(5, 11)), 10),
            destination_cell=100.0,
        )
        verdict = check_kanonymity(boxes, claim, original=truth)
        assert verdict.holds == (not find_break_of_kanonymity(boxes, claim, original=truth))
        held += verdict.holds
    assert 20 < held < 280


def test_a_claim_with_wishes_is_read_back_and_one_without_says_nothing_of_them() -> None:
    claim = KAnonymity(k=3, k_column="wanted", destination_share=Fraction(1, 2))
    assert guarantee_from_json(claim.to_json()) == claim
    assert set(KAnonymity(k=3).to_json()) == {"name", "k", "row_share"}
    assert "Who asked for more (wanted)" in claim.promise
    assert "At most 1/2 of them" in claim.promise
    assert [protection.attack for protection in claim.protects] == ["attack_graph", "known_group", "known_group"]
