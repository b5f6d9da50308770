"""Cells of H3, the hexagons that many tools share."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayveil.errors import InputError, UsageError
from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["h3_centres", "h3_levels", "h3_names"]


def h3_levels(x: FloatArray, y: FloatArray, frame: Frame | None, resolution: int, levels: int) -> IntArray:
    """Return the H3 cell of each position at `levels` resolutions, from `resolution` on to coarser ones.

    The cells above are the parents by index.  They do not hold all of the area of their children: the hexagons of H3
    fit into each other only nearly.
    """
    if frame is None or not frame.degrees:
        raise InputError(
            "zones: H3 cells need longitudes and latitudes; the coordinates of the data are planar. Take cell=METRES."
        )
    h3 = _h3().api.basic_int
    lon, lat = frame.to_file(x, y)
    places, code = np.unique(np.stack([lon, lat], axis=1), axis=0, return_inverse=True)
    finest = np.array([h3.latlng_to_cell(b, a, resolution) for a, b in places.tolist()], np.uint64)
    cells, at = np.unique(finest, return_inverse=True)
    above = [[h3.cell_to_parent(cell, resolution - level) for cell in cells.tolist()] for level in range(1, levels)]
    tree = np.array([cells.tolist(), *above], np.uint64).T.reshape(len(cells), levels)
    return tree[at.reshape(-1)[code.reshape(-1)]].view(np.int64)


def h3_names(cells: IntArray) -> tuple[str, ...]:
    """Return the usual names of cells, such as 8a2a1072b59ffff."""
    h3 = _h3()
    return tuple(h3.int_to_str(cell) for cell in cells.tolist())


def h3_centres(cells: IntArray, frame: Frame) -> tuple[FloatArray, FloatArray]:
    """Return where the middles of cells are, in metres."""
    h3 = _h3().api.basic_int
    at = np.array([h3.cell_to_latlng(cell) for cell in cells.tolist()], np.float64).reshape(-1, 2)
    return frame.to_metres(at[:, 1], at[:, 0])


def _h3() -> Any:
    try:
        import h3
        import h3.api.basic_int
    except ImportError:
        raise UsageError("zones: H3 cells need the extra geo: pip install 'wayveil[geo]'.") from None
    return h3
