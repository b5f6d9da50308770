"""What every comparison of movement needs."""

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.metrics.movement import bounding_box, centres, check_comparable, finite, longer_side, with_rows
from wayveil.model import Boxes, Frame, Points


def points(*records, **more):
    return Points.from_records(records, **more)


def test_different_frames_are_refused_in_one_sentence_without_coordinates():
    one = points([(0, 1.0, 2.0)], frame=Frame(crs="EPSG:2100"))
    with pytest.raises(InputError, match=r"^od_matrix: .* different frames of coordinates") as caught:
        check_comparable("od_matrix", one, points([(0, 1.0, 2.0)]))
    assert "1.0" not in str(caught.value)


def test_different_times_are_refused():
    with pytest.raises(InputError, match="cannot be compared"):
        check_comparable("x", points([], time_format="utc"), points([]))
    check_comparable("x", points([], time_format="epoch"), points([]))


def test_matched_data_need_the_same_number_of_trajectories():
    check_comparable("x", points([], []), points([]))
    with pytest.raises(InputError, match="original has 2 and the published data 1"):
        check_comparable("x", points([], []), points([]), matched=True)


def test_extents():
    data = points([(0, 1.0, 5.0), (1, 3.0, 4.5)], [(0, -1.0, 4.0)])
    assert bounding_box(data) == (-1, 3, 4, 5)
    assert longer_side(data) == 4
    assert longer_side(points([(0, 0.0, 0.0), (1, 1.0, 9.0)])) == 9
    assert bounding_box(points([])) is None
    assert longer_side(points([])) == 0


def test_an_extent_that_has_no_square_is_refused():
    with pytest.raises(InputError, match="span more than"):
        longer_side(points([(0, -1e300, 0.0), (1, 1e300, 0.0)]))


def test_centres_of_boxes_and_of_points():
    boxes = Boxes.from_records([[(0, 4, 1.0, 3.0, 5.0, 6.0)], []])
    assert [c.tolist() for c in centres(boxes)] == [[2], [2], [5.5]]
    assert [c.tolist() for c in centres(points([(7, 1.0, 2.0)]))] == [[7], [1], [2]]
    assert with_rows(boxes).tolist() == [True, False]


def test_numbers_that_are_none():
    assert finite(np.inf) is finite(np.nan) is finite(None) is None
    assert finite(np.int64(3)) == 3
