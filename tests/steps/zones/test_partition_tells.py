"""What the borders of zones with enough people tell: an attacker who knows everybody else tries everything."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.steps.zones.cells import cut_boxes

PEOPLE = 4


def borders(cells: np.ndarray, people: int = PEOPLE) -> list[list[int]]:
    """Return the partition of one visit per person: nothing but its borders."""
    n = len(cells)
    return sorted(cut_boxes(cells, np.arange(n), np.arange(n), people)[0].tolist())


@pytest.mark.parametrize("seed", range(5))
def test_how_far_the_last_one_is_away_is_not_told(seed: int) -> None:
    """Nobody's position is a rim: the person farthest out may be anywhere farther out, with the same borders."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 40, (60, 2))
    cells[0] = (41, 20)
    own = borders(cells)
    for far in (42, 100, 10**9):
        cells[0, 0] = far
        assert borders(cells) == own


@pytest.mark.parametrize("seed", range(8))
def test_every_box_has_enough_people_and_all_but_one_without_anybody(seed: int) -> None:
    """Whoever knows all but one person knows at least PEOPLE - 1 others in the box of that one, wherever that is."""
    rng = np.random.default_rng(seed)
    n = 60
    cells = rng.integers(0, 12, (n, 2))
    boxes, zone = cut_boxes(cells, np.arange(n), np.arange(n), PEOPLE)
    assert len(boxes) > 3
    assert np.bincount(zone, minlength=len(boxes)).min() >= PEOPLE


def test_who_knows_everybody_else_may_learn_on_which_side_the_last_one_is() -> None:
    """What the page says is not covered: eight people in two corners, and the border is there because of the eighth."""
    cells = np.array([(0, 0)] * PEOPLE + [(9, 0)] * PEOPLE)
    assert len(borders(cells)) == 2
    moved = cells.copy()
    moved[-1] = (0, 0)
    assert len(borders(moved)) == 1
    assert len(borders(cells[:-1])) == 1


def test_cells_of_one_size_and_trees_of_cells_do_not_move_with_people() -> None:
    """Borders at multiples of the side are the same whoever is there; a tree of cells tells only which were merged."""
    from wayveil.steps.zones.cells import merge_sparse_cells

    rng = np.random.default_rng(1)
    leaf = rng.integers(0, 64, 50)
    levels = np.stack([leaf, 100 + leaf // 4, 200 + leaf // 16], axis=1)
    level = merge_sparse_cells(levels, np.arange(50), np.arange(50), PEOPLE)
    published = levels[np.arange(50), level]
    assert set(published.tolist()) <= set(range(64)) | {100 + i for i in range(16)} | {200 + i for i in range(4)}
