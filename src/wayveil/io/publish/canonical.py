"""Coordinates as a published file has them, there and back."""

from __future__ import annotations

import numpy as np

from wayveil.model import Boxes, Frame, Points
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["DECIMALS", "SLACK_DEG", "boxes_to_file", "boxes_to_metres", "points_to_file"]

DECIMALS = 9
"""Decimals of published degrees: a tenth of a millimetre.

Metres and back change the last bits of a number in a way that depends on the frame, and so on where everybody was who
is in the input.  These bits are not published.
"""

SLACK_DEG = 2e-9
"""How far a side of a box may lie beyond a pole or the far meridian: a fifth of a millimetre, for rounding."""

# A tenth of a micrometre: what rounding alone may lack.
_ROUNDING_M = 1e-7
_UNITS = 10**DECIMALS
_AROUND = 360 * _UNITS


def points_to_file(data: Points) -> tuple[FloatArray, FloatArray]:
    """Return points as coordinates of a public file.

    Examples
    --------
    >>> frame = Frame.for_degrees(np.array([23.7]), np.array([38.0]))
    >>> x, y = frame.to_metres(np.array([23.7123456]), np.array([38.1 + 1e-12]))
    >>> [column.tolist() for column in points_to_file(Points.from_records([[(0, x[0], y[0])]], frame=frame))]
    [[23.7123456], [38.1]]
    """
    frame = data.frame
    x, y = frame.to_file(data.x, data.y)
    if frame.degrees:
        decimals = DECIMALS if frame.decimals is None else min(DECIMALS, frame.decimals)
    elif frame.decimals is None:
        return x + 0.0, y + 0.0
    else:
        decimals = frame.decimals
    unit = 10.0**decimals
    # of two whole numbers the quotient is the float next to the decimal number; adding 0 leaves no negative zero
    return np.rint(x * unit) / unit + 0.0, np.rint(y * unit) / unit + 0.0


def boxes_to_file(data: Boxes) -> dict[str, FloatArray]:
    """Return the sides of boxes as coordinates of the file: x_min, x_max, y_min, y_max.

    A box begins between -180 and 180 and may end beyond: one across the antimeridian goes from 179 to 181, so that
    x_min <= x_max always.  The numbers do not depend on the middle of the frame.

    Guarantee
    ---------
    Read back with `boxes_to_metres`, every box contains the box that was written, and also what `points_to_file` and
    `Frame.to_metres` make of the points inside, up to a tenth of a micrometre.  Equal boxes stay equal.
    """
    if not data.frame.degrees:
        return {name: getattr(data, name) + 0.0 for name in ("x_min", "x_max", "y_min", "y_max")}
    frame = data.frame
    north = {"scale": frame.y_scale, "zero": frame.lat_0, "low": -90.0 - frame.lat_0, "high": 90.0 - frame.lat_0}
    east = {"scale": frame.x_scale, "zero": frame.lon_0, "low": -180.0, "high": 180.0}
    nowhere = np.zeros(data.n_rows, np.int64)
    west = _outwards(data.x_min, -1, nowhere, **east)
    # How often to go around the earth so that the western side lies between -180 and 180; the eastern side goes along,
    # so that a box across the antimeridian stays one box.
    turns = -((west + _AROUND // 2) // _AROUND)
    sides = {
        "x_min": _outwards(data.x_min, -1, turns, **east) + turns * _AROUND,
        "x_max": _outwards(data.x_max, 1, turns, **east) + turns * _AROUND,
        "y_min": _outwards(data.y_min, -1, nowhere, **north),
        "y_max": _outwards(data.y_max, 1, nowhere, **north),
    }
    return {name: side / _UNITS for name, side in sides.items()}


def boxes_to_metres(frame: Frame, sides: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the sides of boxes in metres, from coordinates of the file; a box is where its middle is nearest."""
    if not frame.degrees:
        return sides
    # The middle decides on which side of the frame's far meridian a box is.
    middle = (sides["x_min"] + sides["x_max"]) / 2 - frame.lon_0
    turns = np.where(np.abs(middle) > 180.0 + SLACK_DEG, np.floor((middle + 180.0) / 360.0), 0.0)
    scale = {"x": (frame.lon_0, frame.x_scale), "y": (frame.lat_0, frame.y_scale)}
    return {
        name: ((side - 360.0 * turns if name[0] == "x" else side) - scale[name[0]][0]) * scale[name[0]][1]
        for name, side in sides.items()
    }


def _outwards(
    side: FloatArray, sign: int, turns: IntArray, *, scale: float, zero: float, low: float, high: float
) -> IntArray:
    """Return units of the last decimal that, `turns` further around the earth, read back as `side` or beyond.

    What lies beyond the ends of the earth is cut there.
    """
    # No point lies beyond the ends, so that cutting there loses none; what is left of the slack is for rounding.
    cut = np.clip(side, (low - SLACK_DEG / 4) * scale, (high + SLACK_DEG / 4) * scale)
    value = cut / scale + zero
    units = np.rint(value * _UNITS).astype(np.int64)
    # The first unit is the nearest one; each round takes the next one outwards where it is not far enough.  It ends
    # after two, because each changes a number by more than rounding does.  What rounding alone lacks is not looked at:
    # it depends on the frame, and a unit more would tell.
    while (
        short := sign * (((units + turns * _AROUND) / _UNITS - 360.0 * turns - zero) * scale - cut) < -_ROUNDING_M
    ).any():
        units = np.where(short, units + sign, units)
    return units
