"""The numbers that attacks have in common: how likely a person is found, who is most at risk, and how many are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from wayveil.model import Number
from wayveil.model.numbers import About, probability, share, threshold_text

__all__ = [
    "mean_risk",
    "set_interval",
    "share_above",
    "share_missed",
    "share_published",
    "share_unique",
    "share_unmatched",
    "worst_risk",
]


def mean_risk(
    value: float | None,
    about: About = "identity",
    *,
    label: str = "Mean over people",
    interval: tuple[float | None, float | None] | None = None,
) -> Number:
    """Return the mean risk of all people attacked: the headline of an attack."""
    return probability(value, label, about=about, statistic="mean", better="lower", interval=interval)


def worst_risk(value: float | None, about: About = "identity", *, label: str = "Person most at risk") -> Number:
    """Return the risk of the person for whom it is largest."""
    return probability(value, label, about=about, statistic="largest", better="lower", joined="largest")


def share_above(
    value: float | None, threshold: float | Fraction | None, about: About = "identity", *, who: str = "People"
) -> Number:
    """Return the share of people whose risk is above a threshold."""
    threshold_words = (
        "the threshold" if threshold is None else threshold_text(float(threshold), odds=about == "identity")
    )
    return share(
        value,
        f"{who} with a risk above {threshold_words}",
        about=about,
        statistic="share above",
        better="lower",
        threshold=None if threshold is None else float(threshold),
    )


def share_unique(value: float | None, *, interval: tuple[float | None, float | None] | None = None) -> Number:
    """Return how often exactly one person fits what is known."""
    return share(value, "Exactly one person matches", about="identity", better="lower", interval=interval)


def share_unmatched(value: float | None) -> Number:
    """Return how often nothing fits what is known."""
    return share(value, "Nothing matches")


def share_published(value: float | None) -> Number:
    """Return the share of victims of whom something is published."""
    return share(value, "People with something published")


def share_missed(value: float | None) -> Number:
    """Return how often somebody else is taken for the victim."""
    return share(value, "Another person is taken instead")


def set_interval(numbers: Mapping[str, Number], bounds: tuple[float | None, float | None]) -> dict[str, Number]:
    """Return the numbers with the confidence interval of the mean risk."""
    return {
        name: replace(number, interval=bounds) if (number.about, number.statistic) == ("identity", "mean") else number
        for name, number in numbers.items()
    }
