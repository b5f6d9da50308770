"""Where the labels of a chart are on a real scale, and what the chart comes to in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from wayveil.model import Chart, Series
from wayveil.report.text.number_format import format_value

__all__ = ["find_scale", "overlay", "tell_finding"]

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_RANGE = re.compile(r"(.+?) to (.+)")
_FEWEST = 3  # points that make a scale


def find_scale(labels: Sequence[str]) -> tuple[str, tuple[float, ...]]:
    """Return what the labels are, and where they are on that scale: times of the day in hours, numbers, or names.

    Examples
    --------
    >>> find_scale(("5", "10", "20", "50")), find_scale(("06:00", "07:30", "09:00")), find_scale(("a", "b", "c"))
    (('numbers', (5.0, 10.0, 20.0, 50.0)), ('clock', (6.0, 7.5, 9.0)), ('names', ()))

    Classes of the same width are where they begin.

    >>> find_scale(("5 to 7", "7 to 9", "9 to 11")), find_scale(("1 to 2", "3 to 9", "10 to 99"))
    (('numbers', (5.0, 7.0, 9.0)), ('names', ()))
    """
    plain = [label.replace("\N{NO-BREAK SPACE}", " ").replace(",", "") for label in labels]
    # Hours of the day are tried before numbers: 08:00 is no number.
    for scale, read in (("clock", _hours), ("numbers", _number)):
        at = _begins(plain, read)
        known = [value for value in at if value is not None]
        # A scale needs labels that rise: otherwise they are names that happen to be numbers.
        rising = len(known) == len(at) and all(a < b for a, b in pairwise(known))
        if rising and len(known) >= _FEWEST:
            return scale, tuple(known)
    return "names", ()


def tell_finding(chart: Chart) -> str:
    """Return what a chart shows, in one sentence without a full stop; its title where nothing can be said.

    Examples
    --------
    >>> both = (Series(name="raw data", values=(0.5, 0.5)), Series(name="published data", values=(0.8, 0.2)))
    >>> chart = Chart(title="When", kind="bars", labels=("8", "9"), series=both, percent=True)
    >>> tell_finding(chart).replace("\\xa0", " ")
    'When: most changes at 8, from 50 % to 80 %'
    """
    if len(chart.series) == 2:
        return f"{chart.title}: {_change(chart)}" if _change(chart) else chart.title
    if len(chart.series) == 1:
        labelled = [(value, label) for label, value in zip(chart.labels, chart.series[0].values, strict=False) if value]
        if len(labelled) > 1 and chart.kind != "map":
            most, label = max(labelled, key=lambda one: one[0])
            return f"{chart.title}: most at {label} ({format_value(most, percent=chart.percent)})"
    return chart.title


def overlay(raw: Chart, published: Chart, names: tuple[str, str] = ("raw data", "published data")) -> Chart:
    """Return one chart that shows two charts of the same thing side by side, label by label.

    Examples
    --------
    >>> one = Chart(title="Risk", kind="bars", labels=("a", "c"), series=(Series(name="n", values=(1, 2)),))
    >>> two = Chart(title="Risk", kind="bars", labels=("a", "b", "c"), series=(Series(name="n", values=(3, 4, 5)),))
    >>> both = overlay(one, two)
    >>> both.labels, [series.values for series in both.series]
    (('a', 'b', 'c'), [(1, None, 2), (3, 4, 5)])
    """
    # Labels of the publication are put behind the neighbour they have there, so that classes stay in order.
    labels = list(raw.labels)
    place = 0
    for label in published.labels:
        if label in labels:
            place = labels.index(label) + 1
        else:
            labels.insert(place, label)
            place += 1
    series = []
    for i in range(max(len(raw.series), len(published.series))):
        for source, name in ((raw, names[0]), (published, names[1])):
            if i < len(source.series):
                single = len(source.series) == 1
                value_of = dict(zip(source.labels, source.series[i].values, strict=False))
                series.append(
                    Series(
                        name=name if single else f"{name}: {source.series[i].name}",
                        values=tuple(value_of.get(label) for label in labels),
                    )
                )
    return Chart(
        title=raw.title,
        kind=raw.kind,
        labels=tuple(labels),
        series=tuple(series),
        x_label=raw.x_label or published.x_label,
        y_label=raw.y_label or published.y_label,
        percent=raw.percent or published.percent,
    )


def _change(chart: Chart) -> str:
    """Say where two series differ most."""
    one, other = (series.values for series in chart.series)
    both = [
        (abs(b - a), label, a, b)
        for label, a, b in zip(chart.labels, one, other, strict=False)
        if a is not None and b is not None
    ]
    if not both:
        return ""
    most, label, a, b = max(both, key=lambda change: change[0])
    if most == 0:
        return "no change"
    before, after = (format_value(value, percent=chart.percent) for value in (a, b))
    return f"most changes at {label}, from {before} to {after}" if before != after else "hardly any change"


def _begins(labels: Sequence[str], read: Callable[[str], float | None]) -> list[float | None]:
    """Return where labels are, or where classes of the same width begin."""
    ranges = [_RANGE.fullmatch(label) for label in labels]
    if not all(ranges):
        return [read(label) for label in labels]
    ends = [(read(one[1]), read(one[2])) for one in ranges if one is not None]
    # Classes of different widths have no common scale.
    widths = {round(high - low, 9) for low, high in ends if low is not None and high is not None}
    return [low for low, _ in ends] if len(widths) == 1 else [None for _ in ends]


def _hours(label: str) -> float | None:
    match = _CLOCK.fullmatch(label)
    return None if match is None else int(match[1]) + int(match[2]) / 60 + int(match[3] or 0) / 3600


def _number(label: str) -> float | None:
    if (spent := _DURATION.fullmatch(label)) is not None:
        return float(spent[1]) * _SECONDS[spent[2]]
    match = _NUMBER.fullmatch(label.removesuffix("%").strip())
    return None if match is None else float(match[0])
