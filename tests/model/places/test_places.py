"""Places: what they refuse, and other frames."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.model import Frame
from wayveil.model.places.places import Places

TWO = {
    "name": ("a", "b"),
    "node": ("", "Park"),
    "x": [0.0, 1.0],
    "y": [0.0, 1.0],
    "radius_m": [0.0, 5.0],
    "min_stay": [np.nan, 60.0],
}
RING = {"ring_place": [1], "ring_offsets": [0, 3], "ring_x": [0.0, 3.0, 0.0], "ring_y": [0.0, 0.0, 3.0]}


def test_points_and_polygons() -> None:
    places = Places(**TWO, **RING)
    assert len(places) == 2
    assert places.is_polygon.tolist() == [False, True]
    assert not places.x.flags.writeable
    assert Places(**TWO).is_polygon.tolist() == [False, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"node": ("",)}, "one value per place"),
        ({"min_stay": [1.0]}, "one value per place"),
        ({"name": ("a", "a")}, "a name of its own"),
        ({"name": ("a", "")}, "a name of its own"),
        ({"x": [0.0, np.nan]}, "must be finite"),
        ({"radius_m": [0.0, np.inf]}, "must be finite"),
        ({"radius_m": [0.0, -1.0]}, "must not be negative"),
        ({"min_stay": [0.0, -1.0]}, "must not be negative"),
        ({"min_stay": [0.0, np.inf]}, "negative or infinite"),
        ({**RING, "ring_y": [0.0, 0.0]}, "the corners of every ring"),
        ({**RING, "ring_offsets": [0, 3, 3]}, "the corners of every ring"),
        ({**RING, "ring_offsets": [1, 3]}, "the corners of every ring"),
        ({**RING, "ring_offsets": [0, 2], "ring_x": [0, 1], "ring_y": [0, 1]}, "three corners"),
        ({**RING, "ring_x": [0.0, np.inf, 0.0]}, "must be finite"),
        ({**RING, "ring_place": [2]}, "in ascending order"),
        (
            {
                "ring_place": [1, 0],
                "ring_offsets": [0, 3, 6],
                "ring_x": RING["ring_x"] * 2,
                "ring_y": RING["ring_y"] * 2,
            },
            "in ascending order",
        ),
    ],
)
def test_what_is_no_place(change: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Places(**{**TWO, **change})


def test_another_frame() -> None:
    here = Frame.for_degrees(np.array([16.0, 16.4]), np.array([48.0, 48.3]))
    there = Frame.for_degrees(np.array([15.0, 16.4]), np.array([47.0, 48.3]))
    places = Places(**TWO, **RING, frame=here)
    moved = places.in_frame(there)
    assert moved.frame == there
    for name in ("x", "y"):
        assert (getattr(moved, name) != getattr(places, name)).any()
    for one, other in ((("x", "y"), 0), (("ring_x", "ring_y"), 1)):
        before = here.to_file(*(getattr(places, name) for name in one))
        after = there.to_file(*(getattr(moved, name) for name in one))
        assert np.allclose(before, after, atol=1e-12), other
    with pytest.raises(InputError, match="both be in degrees, or both in metres"):
        places.in_frame(Frame())
    flat = Places(**TWO)
    assert flat.in_frame(Frame(crs="EPSG:2100")).x.tolist() == [0.0, 1.0]
