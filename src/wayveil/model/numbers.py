"""A measured number with its meaning: value, unit, label, and the bound that was promised, where there is one.

Whoever measures says what it is.  Terminal, report and web page show label and `text`, and infer nothing from a name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

__all__ = [
    "ABOUT",
    "About",
    "Number",
    "Numbers",
    "Unit",
    "amount",
    "count",
    "flatten",
    "format_apart",
    "format_number",
    "format_percent",
    "format_value",
    "headline",
    "measure",
    "probability",
    "relabel",
    "relative",
    "share",
    "threshold_text",
]

Unit = Literal["share", "probability", "relative", "count", "amount", "m", "m²", "s", "m/s", "bits"]
"""What a value is: a share or a probability, from 0 to 1 and told in percent; a relative change, told in percent and of
any size; how many of something; an amount without a unit; or what the unit says."""

About = Literal["identity", "attribute", "inference", "posterior", ""]
"""What a number of an attack is about."""

ABOUT: Mapping[About, tuple[str, str]] = {
    "identity": ("Finding the person (identity linkage); lower is safer", "find the person"),
    "attribute": ("Inferring a sensitive value (attribute linkage); lower is safer", "infer a sensitive value"),
    "inference": ("Inferring where a person was; lower is safer", "infer a place"),
    "posterior": ("Inferring something sensitive, knowing the method; lower is safer", "infer something sensitive"),
    "": ("Reach of the attack", ""),
}
"""How numbers about the same are headed, and what the attacker then does, in a few words."""

Joined = Literal["mean", "largest", "smallest", "sum", "same"]
Statistic = Literal["mean", "largest", "share above", ""]

_PERCENT = ("share", "probability", "relative")
_ROUNDING = 1e-6
_NOTHING = "–"
_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, kw_only=True)
class Number:
    """One measured number.

    Parameters
    ----------
    value : number or None
        None where there is nothing to measure.
    unit : Unit
        What the value is: nothing is inferred from a name.  A share and a probability are from 0 to 1 (`in_range`).
    label : str
        What it is, in a few words that begin with a capital letter.
    of : str
        What a count or an amount is of, such as "visits".
    better : {"lower", "higher", ""}
        Which direction is good for the publication.
    about, statistic : str
        Of attacks: what the attacker does, and whether this is the mean over people, the person most at risk, or the
        share of people above `threshold`.  What else is measured has no statistic.
    interval : (low, high) or None
        The 95 % confidence interval of an estimate; (None, None) where the value is exact but could be an estimate.
    threshold : float or None
        The risk above which people were counted.
    joined : str
        How values of several blocks become one.
    promised, keeps : str
        Of verdicts: the attribute of the claim that bounds the value, and the side on which it must stay.
    of_people : bool
        Of verdicts: whether the value depends on who owns which trajectory, so that who does not know it finds another.
    meaning : str
        One sentence that says how to read it; ``{people}`` stands for what was counted.
    exact, note : str
        The value as a fraction, and what makes it weaker than it looks.

    Examples
    --------
    >>> Number(value=0.5556, unit="count", of="visits", label="Mean error").text.replace("\\xa0", " ")
    '0.556 visits'
    >>> Number(value=0.5556, unit="share", label="Lost").text.replace("\\xa0", " ")
    '55.6 %'
    """

    value: int | float | None
    unit: Unit
    label: str
    of: str = ""
    better: Literal["lower", "higher", ""] = ""
    about: About = ""
    statistic: Statistic = ""
    interval: tuple[float | None, float | None] | None = None
    threshold: float | None = None
    joined: Joined = "mean"
    promised: str = ""
    keeps: Literal["at least", "at most", ""] = ""
    of_people: bool = False
    meaning: str = ""
    exact: str = ""
    note: str = ""

    @property
    def in_range(self) -> bool:
        """Whether the value is one that its unit can have: a share and a probability are from 0 to 1."""
        # Infinite values stand for "no bound" and are told elsewhere; only shares and probabilities have a range at
        # all.
        if self.unit not in ("share", "probability") or self.value is None or not math.isfinite(self.value):
            return True
        return -_ROUNDING <= self.value <= 1 + _ROUNDING

    @property
    def percent(self) -> bool:
        """Whether the value is told in percent."""
        return self.unit in _PERCENT

    @property
    def text(self) -> str:
        """The value as people read it, with its unit."""
        return self.format(self.value)

    @property
    def interval_text(self) -> str:
        """The confidence interval as people read it, or nothing."""
        if self.interval is None or self.interval[0] is None or self.interval[1] is None:
            return ""
        return f"95{_SPACE}%: {self.format(self.interval[0])} to {self.format(self.interval[1])}"

    def format(self, value: int | float | None) -> str:
        """Return another value with the unit of this one."""
        if self.percent:
            return format_percent(value)
        text = format_number(value)
        # A count is told with what it counts, other units with themselves; a dash for nothing has no unit.
        unit = self.of if self.unit in ("count", "amount") else self.unit
        return f"{text}{_SPACE}{unit}" if unit and text != _NOTHING else text

    def to_json(self) -> dict[str, Any]:
        """Return the number as JSON can hold it: value, unit, label and text, and what else it says."""
        content: dict[str, Any] = {"value": self.value, "unit": self.unit, "label": self.label, "text": self.text}
        if self.interval is not None and None not in self.interval:
            content["interval"] = list(self.interval)
            content["interval_text"] = self.interval_text
        for name in ("of", "better", "about", "statistic", "threshold", "keeps", "exact", "note"):
            value = getattr(self, name)
            # Only what has a meaning is shown beside its bound.
            if value not in ("", None) and (name != "keeps" or self.meaning):
                content[name] = value
        return content


Numbers = Mapping[str, Number]
"""Measured numbers, by name."""


def share(value: float | None, label: str, **more: Any) -> Number:
    """Return a share of people, rows or other things, from 0 to 1."""
    return Number(value=value, unit="share", label=label, **more)


def probability(value: float | None, label: str, **more: Any) -> Number:
    """Return a chance, from 0 to 1; odds may be shown beside it."""
    return Number(value=value, unit="probability", label=label, **more)


def relative(value: float | None, label: str, **more: Any) -> Number:
    """Return an error or a change in relation to what it is of: in percent, below 0 and above 100 % as well."""
    return Number(value=value, unit="relative", label=label, **more)


def count(value: int | float | None, label: str, of: str = "", **more: Any) -> Number:
    """Return how many there are, of what `of` says; a mean of counts is one too, with ``joined="mean"``."""
    return Number(value=value, unit="count", label=label, of=of, **{"joined": "sum", **more})


def amount(value: int | float | None, label: str, of: str = "", **more: Any) -> Number:
    """Return a number without a unit, or with one that is only a word, such as steps in time of plain integers."""
    return Number(value=value, unit="amount", label=label, of=of, **more)


def measure(value: float | None, unit: Unit, label: str, **more: Any) -> Number:
    """Return a length in m, an area in m², a time in s, a speed in m/s."""
    return Number(value=value, unit=unit, label=label, **more)


def headline(numbers: Numbers) -> Number | None:
    """Return what an attack is first known by: a mean over people, or else a share of people; None where neither is.

    Examples
    --------
    >>> headline({"n": count(3, "Groups"), "mean": probability(0.2, "Mean over people", statistic="mean")}).label
    'Mean over people'
    """
    # What people ask first is how everybody fares; only an attack without a mean is known by a share, or by its worst
    # case.
    for statistic in ("mean", "share above", "largest"):
        for number in numbers.values():
            if number.statistic == statistic and number.value is not None:
                return number
    return None


def relabel(numbers: Numbers, suffix: str, known: str) -> dict[str, Number]:
    """Return numbers of an attacker who knows something else: with `suffix` in the names and `known` in the labels.

    Examples
    --------
    >>> fewer = relabel({"unique_share": share(0.5, "Exactly one person matches")}, "_without_times", "times not known")
    >>> [(name, number.label, number.statistic) for name, number in fewer.items()]
    [('unique_share_without_times', 'Exactly one person matches, times not known', '')]
    """
    return {
        f"{name}{suffix}": replace(number, label=f"{number.label}, {known}", statistic="", threshold=None)
        for name, number in numbers.items()
    }


def flatten(numbers: Numbers) -> dict[str, int | float | None]:
    """Return the plain values by name, for programs: the ends of an interval and a threshold have names of their own.

    Examples
    --------
    >>> flatten({"identity_mean": probability(0.5, "Mean", about="identity", interval=(0.4, 0.6))})
    {'identity_mean': 0.5, 'identity_mean_low': 0.4, 'identity_mean_high': 0.6}
    """
    values: dict[str, int | float | None] = {}
    for name, number in numbers.items():
        if number.threshold is not None and number.about:
            values[f"{number.about}_threshold"] = number.threshold
        values[name] = number.value
        if number.interval is not None:
            values[f"{name}_low"], values[f"{name}_high"] = number.interval
    return values


def threshold_text(bound: float, *, odds: bool = True) -> str:
    """Return a threshold for people: in percent, or with `odds` as 1/30 where it is that.

    Examples
    --------
    >>> [threshold_text(bound).replace("\\xa0", " ") for bound in (1 / 30, 0.1, 0.6, 0.123, 1)]
    ['1/30', '1/10', '60 %', '12.3 %', '100 %']
    """
    # 1/30 is stored as a float; the nearest fraction with a small denominator says what was meant.
    near = Fraction(bound).limit_denominator(10**6)
    if odds and near.numerator == 1 and near.denominator > 1 and abs(near - bound) < 1e-12:
        return f"1/{near.denominator:,}"
    return format_percent(bound)


def format_value(value: float | None, *, percent: bool) -> str:
    """Return a chart's value as people read it."""
    return format_percent(value) if percent else format_number(value)


def format_apart(values: Sequence[float], *, percent: bool) -> list[str]:
    """Return the values of one scale, with as many digits as tell them apart.

    Examples
    --------
    >>> [text.replace("\\xa0", " ") for text in format_apart([0.0002, 0.00095, 0.0012], percent=True)]
    ['0.02 %', '0.095 %', '0.12 %']
    >>> format_apart([0.5, 2.0], percent=False)
    ['0.5', '2']
    """
    # Usual rounding may write two ticks of an axis as the same text; then both get three digits that count.
    texts = [format_value(value, percent=percent) for value in values]
    if len(set(texts)) == len(set(values)):
        return texts
    return [f"{value * 100:.3g}\N{NO-BREAK SPACE}%" if percent else f"{value:.3g}" for value in values]


def format_number(value: float | None) -> str:
    """Return a number for people; a dash for one that is missing, NaN or infinite.

    Examples
    --------
    >>> [format_number(v) for v in (12345, 12345.678, 100.5, 3.14159, 0.00123, 2.0, None, float("nan"))]
    ['12,345', '12,346', '100.5', '3.14', '0.00123', '2', '–', '–']
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return _NOTHING
    size = abs(value)
    # Very large and very small numbers are told with a power of ten: commas or zeros would hide their size.
    if size >= 10**15 or 0 < size < 1e-6:
        return f"{Decimal(value):.3g}"
    if value == int(value):
        return f"{int(value):,}"
    if size >= 1000:
        return f"{value:,.0f}"
    # Three digits that count, one decimal at least: 0.0123 becomes 0.0123, 12.34 becomes 12.3.
    return f"{value:.{max(1, 2 - math.floor(math.log10(size)))}f}".rstrip("0").rstrip(".")


def format_percent(share: float | None) -> str:
    """Return a share as a percentage; only 0 is 0 % and only 1 is 100 %.

    Examples
    --------
    >>> [format_percent(v).replace("\\xa0", " ") for v in (0, 0.034, 0.5001, 0.00012, 0.9999, 1, None)]
    ['0 %', '3.4 %', '50 %', '0.01 %', '99.99 %', '100 %', '–']
    """
    if share is None or (isinstance(share, float) and not math.isfinite(share)):
        return _NOTHING
    if abs(share) >= 10**12:
        return f"{Decimal(share) * 100:.3g}\N{NO-BREAK SPACE}%"
    percent = share * 100
    # Near a whole percent, but 0 % and 100 % are only said where they are true: a risk of 0.00004 % is not none.
    if abs(percent - round(percent)) < 1e-9:
        if share == 0 or round(percent) != 0:
            return f"{round(percent):,}\N{NO-BREAK SPACE}%"
        return "< 0.0001\N{NO-BREAK SPACE}%"
    # As few decimals as keep the text from reading like nothing or everything.
    for digits in range(1, 5):
        text = f"{percent:,.{digits}f}"
        if float(text.replace(",", "")) not in (0.0, 100.0):
            return f"{text.removesuffix('.0')}\N{NO-BREAK SPACE}%"
    return "< 0.0001\N{NO-BREAK SPACE}%" if abs(percent) < 1 else "nearly 100\N{NO-BREAK SPACE}%"
