"""How sets of known visits are drawn."""

from itertools import combinations

import numpy as np

from wayveil.attacks.visits import knowledge as parts


def test_draw_sets_draws_every_set_about_equally_often():
    rng = np.random.default_rng(1)
    table = np.sort(parts.draw_sets(np.full(6000, 4), np.full(6000, 2), rng), axis=1)
    sets, counts = np.unique(table, axis=0, return_counts=True)
    assert sets.tolist() == [list(pair) for pair in combinations(range(4), 2)]
    assert counts.min() > 850
    assert counts.max() < 1150


def test_draw_sets_pads_and_takes_all_where_all_are_asked_for():
    table = parts.draw_sets(np.array([3, 1, 5]), np.array([3, 1, 2]), np.random.default_rng(1))
    assert sorted(table[0].tolist()) == [0, 1, 2]
    assert table[1].tolist() == [0, -1, -1]
    assert table[2, 2] == -1
    assert len(set(table[2, :2].tolist())) == 2
