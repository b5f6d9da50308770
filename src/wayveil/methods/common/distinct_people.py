"""Whether there are enough people in the data for a method."""

from __future__ import annotations

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Data

__all__ = ["check_people"]


def check_people(component: str, data: Data, k: int, holding: str) -> None:
    """Refuse data of fewer than `k` people with at least one row; `holding` says in words what the rows are."""
    people = len(np.unique(data.owner[np.diff(data.offsets) > 0]))
    if people < k:
        raise InputError(
            f"{component}: k is {k}, but the data holds {holding} of {people} people: nothing could stay. "
            "Take a smaller k or more data."
        )
