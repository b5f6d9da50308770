"""The chart that attacks on people share: how people, or attacks on them, spread over classes of risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Series

__all__ = ["FOUND", "SINGLED_OUT", "risk_chart", "share_chart"]

Array = NDArray[Any]

_BOUNDS = (1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2)
_BETWEEN = ("up to 1/50", "1/50 to 1/20", "1/20 to 1/10", "1/10 to 1/5", "1/5 to 1/2", "1/2 to 1")

FOUND = ("0: not found", *_BETWEEN, "1: found")
"""The classes of attacks that may take somebody else for the victim."""

SINGLED_OUT = ("no match", *_BETWEEN, "1: singled out")
"""The classes of attacks that take whoever fits for the victim."""


def risk_chart(risk: Array, labels: tuple[str, ...], *, of: str = "people", rounding: float = 0.0) -> Chart:
    """Return how risks spread over the classes `FOUND` or `SINGLED_OUT`; a risk on a bound is in the lower class.

    Parameters
    ----------
    of : str
        What has a risk: people, or attacks.
    rounding : float
        How far a risk may be above a bound, or below 1, and still count as equal to it.

    Examples
    --------
    >>> chart = risk_chart(np.array([0.0, 1.0, 0.1, 0.11]), FOUND)
    >>> [label for label, share in zip(chart.labels, chart.series[0].values) if share]
    ['0: not found', '1/20 to 1/10', '1/10 to 1/5', '1: found']
    """
    classes = np.where(risk == 0, 0, 1 + np.searchsorted(np.array(_BOUNDS) + rounding, risk))
    classes = np.where(risk >= 1 - rounding, len(labels) - 1, classes)
    return share_chart(
        "How likely is a person found?", "probability of picking the right person", labels, classes, of=of
    )


def share_chart(title: str, x_label: str, labels: tuple[str, ...], classes: Array, *, of: str = "people") -> Chart:
    """Return the share of people (or of what `of` names) in each class; `classes` has the number of its label for each.

    Examples
    --------
    >>> share_chart("Who?", "class", ("a", "b"), np.array([1, 1, 0, 1])).series[0].values
    (0.25, 0.75)
    """
    share = np.bincount(classes, minlength=len(labels)) / max(1, len(classes))
    return Chart(
        title=title,
        kind="bars",
        labels=labels,
        series=(Series(name=f"share of {of}", values=tuple(share.tolist())),),
        x_label=x_label,
        y_label=f"share of {of}",
        percent=True,
    )
