"""What the clustering methods share."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from wayveil.methods.clusters.clusters import EXTRA, OUTLIER, TOO_FEW, account, allowed_trash, members_of
from wayveil.model import Points


def points(lengths: list[int]) -> Points:
    return Points.from_records([[(t, 0.0, 0.0) for t in range(n)] for n in lengths])


def test_the_account_of_a_clustering() -> None:
    data = points([2, 3, 4, 5, 0, 7, 8, 9, 1])
    label = np.array([5, OUTLIER, TOO_FEW, 5, TOO_FEW, 5, 6, -3, EXTRA])
    assert account(data, label) == {
        "clusters": 2,
        "largest cluster": 3,
        "trajectories in trash": 4,
        "trash: too few people in the class": 1,
        "trash: outliers": 1,
        "trash: more than the share of one person": 1,
        "points in trash": 3 + 4 + 9 + 1,
        "discernibility": 9 + 1 + 4 * 8,
    }


def test_discernibility_of_the_survey() -> None:
    """Two clusters of two and one in the trash, of five: 13, with the trash times all of the input."""
    assert account(points([1] * 5), np.array([0, 0, 1, 1, OUTLIER]))["discernibility"] == 13


def test_clusters_and_members_come_in_order() -> None:
    members, first = members_of(np.array([6, -1, 2, 6, -2, 2, 6]))
    assert [members[a:b].tolist() for a, b in itertools.pairwise(first)] == [[2, 5], [0, 3, 6]]
    members, first = members_of(np.array([-1, -2]))
    assert (members.tolist(), first.tolist()) == ([], [0])


@pytest.mark.parametrize(("share", "allowed"), [("0", 0), ("1/10", 0), ("3/10", 2), ("0.29", 2), ("1", 7)])
def test_the_trash_is_a_share_of_what_has_points(share: str, allowed: int) -> None:
    assert allowed_trash(Fraction(share), points([1] * 7 + [0] * 9)) == allowed
