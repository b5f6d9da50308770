"""Rules that all kinds of data keep; `who` is the kind that an error names."""

from __future__ import annotations

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["check_offsets", "check_order"]


def check_offsets(component: str, offsets: IntArray) -> None:
    """Refuse offsets that do not cut rows into trajectories."""
    if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise InputError(f"{component}: offsets must start at 0 and never decrease.")


def check_order(component: str, offsets: IntArray, t: IntArray, *, strictly: bool) -> None:
    """Refuse times that decrease inside a trajectory or, with `strictly`, stay the same."""
    trajectory = trajectory_of_row(offsets)
    early = t[1:] <= t[:-1] if strictly else t[1:] < t[:-1]
    if (early & (trajectory[1:] == trajectory[:-1])).any():
        rule = "increase strictly" if strictly else "never decrease"
        raise InputError(f"{component}: t must {rule} inside a trajectory.")
