"""Parts of many trajectories: nobody is lost, no part is too large, and what is near stays together."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.methods.common.kd_parts import cut_large


@settings(deadline=None, max_examples=100)
@given(owners=st.lists(st.integers(0, 9), min_size=1, max_size=40), most=st.integers(2, 9), k=st.integers(1, 3))
def test_parts(owners: list[int], most: int, k: int) -> None:
    owner = np.array(owners)
    places = np.random.default_rng(len(owners)).uniform(size=(len(owners) + 3, 2))
    members = np.arange(len(owners)) + 3
    parts = cut_large(members, places, np.concatenate([[0, 0, 0], owner]), k, most)
    assert sorted(i for part in parts for i in part.tolist()) == members.tolist()
    assert all(len(part) <= most for part in parts)
    assert all((np.diff(part) > 0).all() for part in parts)


def test_parts_keep_what_is_near_together() -> None:
    places = np.array([[0.0, 0.0], [0.0, 9.0], [1.0, 0.5], [1.0, 8.0]])
    assert [part.tolist() for part in cut_large(np.arange(4), places, np.arange(4), 2, 2)] == [[0, 2], [1, 3]]


def test_parts_share_out_people_with_many_trajectories() -> None:
    places = np.arange(8.0)[:, None]
    owner = np.array([0, 0, 0, 0, 1, 1, 1, 1])  # halves would have one owner each
    parts = cut_large(np.arange(8), places, owner, 2, 4)
    assert [sorted(owner[part].tolist()) for part in parts] == [[0, 0, 1, 1]] * 2
