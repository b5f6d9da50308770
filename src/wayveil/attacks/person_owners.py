"""Who is behind each trajectory, as attacks count people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Data

__all__ = ["owners_of"]


def owners_of(data: Data) -> NDArray[Any]:
    """Return the person behind each trajectory, from 0 on; each is another person where nobody said.

    Owners that are assumed say nothing about visits and points.  Routes, stops and boxes can be published in parts: the
    assumed owners then tell which parts are of one trajectory of the input, and only owners that are withheld say
    nothing.

    Examples
    --------
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1)], [("b", 1)], [("c", 2)]], owner=[7, 3, 7])
    >>> owners_of(data).tolist()
    [1, 0, 1]
    """
    told = data.owners == "given" if data.whole else data.owners != "hidden"
    return np.unique(data.owner, return_inverse=True)[1] if told else np.arange(len(data))
