"""Results as JSON can hold them: see `results_schema`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.model import AttackResult, Chart, Numbers, Score, Verdict
from wayveil.report.chart_axis import find_scale, tell_finding

__all__ = [
    "RESULTS_FILE",
    "charts_json",
    "is_percent",
    "measured_values",
    "numbers_json",
    "read_results",
    "results_json",
    "to_text",
    "verdict_json",
]

RESULTS_FILE = "results.json"
_FORMER_FILE = "scores.json"


def results_json(results: tuple[AttackResult, ...] | tuple[Score, ...]) -> list[dict[str, Any]]:
    """Return attack results or scores as JSON can hold them."""
    return [_result_json(result) for result in results]


def _result_json(result: AttackResult | Score) -> dict[str, Any]:
    content = {f.name: _plain(getattr(result, f.name)) for f in fields(result) if f.name not in ("numbers", "charts")}
    content["numbers"] = numbers_json(result.numbers)
    content["charts"] = charts_json(result.charts)
    content["measured"] = _plain(result.measured)
    # Programs read `measured`, people `text`; both say the same.
    if isinstance(result, Score):
        content["text"] = result.number.text
        content["percent"] = result.percent
    return content


def numbers_json(numbers: Numbers) -> dict[str, Any]:
    """Return measured numbers as JSON can hold them: each with its unit, its label and its text."""
    return {name: _plain(number.to_json()) for name, number in numbers.items()}


def measured_values(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain values of a result that was read from JSON, also from a folder of an earlier version."""
    return dict(result["measured"])


def is_percent(result: Mapping[str, Any]) -> bool:
    """Return whether a number or a score that was read from JSON is told in percent."""
    return result["unit"] in ("share", "probability", "relative") if "unit" in result else bool(result.get("percent"))


def charts_json(charts: tuple[Chart, ...]) -> list[dict[str, Any]]:
    """Return charts as JSON can hold them: with what they come to, and where their labels are on a real scale."""
    return [_chart_json(chart) for chart in charts]


def _chart_json(chart: Chart) -> dict[str, Any]:
    scale, at = find_scale(chart.labels)
    content: dict[str, Any] = _plain(chart)
    del content["names"]  # labels say them, as far as they are shown
    for series in content["series"]:
        if not series["people"]:
            del series["people"]
    return {**content, "finding": tell_finding(chart), "scale": scale, "at": list(at)}


def read_results(private: Path) -> dict[str, Any]:
    """Return what a run measured, also from the ``scores.json`` of an earlier version; OSError where there is neither.

    What a folder of an earlier version does not have is not made up: whoever shows it must do without.
    """
    path = private / RESULTS_FILE
    text = (path if path.exists() else private / _FORMER_FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def verdict_json(verdict: Verdict, *, witness: bool) -> dict[str, Any]:
    """Return a verdict as JSON can hold it; the witness only for the data owner's eyes."""
    content: dict[str, Any] = {
        "holds": verdict.holds,
        "claim": verdict.claim.to_json(),
        "counted": verdict.counted,
        "numbers": numbers_json(verdict.numbers),
        "measured": _plain(dict(verdict.measured)),
        "reason": verdict.reason,
        "not_judged": list(verdict.not_judged),
    }
    if witness:
        content["witness"] = None if verdict.witness is None else _plain(dict(verdict.witness))
    return content


def to_text(value: Any) -> str:
    """Return results as JSON text with sorted keys; what is not a finite number becomes null.

    Objects are indented, a list of plain values is one line: results hold lines of maps with thousands of numbers.

    Examples
    --------
    >>> print(to_text({"b": [1, 2.5, float("inf")], "a": [{"x": ()}]}), end="")
    {
      "a": [
        {
          "x": []
        }
      ],
      "b": [1, 2.5, null]
    }
    """
    return "".join(_pieces(_plain(value), "\n")) + "\n"


# Lists of plain values stand in one line, so that the file stays short and can be read by people.
def _pieces(value: Any, line: str) -> Iterator[str]:
    """Yield the text of plain values; `line` ends a line and begins one that is indented as far as `value`."""
    inner = line + "  "
    if isinstance(value, dict) and value:
        yield "{"
        for number, key in enumerate(sorted(value)):
            yield f"{',' if number else ''}{inner}{_one_line(key)}: "
            yield from _pieces(value[key], inner)
        yield line + "}"
    # Only lists that hold other lists or objects are spread over lines.
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        yield "["
        for number, item in enumerate(value):
            yield f"{',' if number else ''}{inner}"
            yield from _pieces(item, inner)
        yield line + "]"
    else:
        yield _one_line(value)


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_PLAIN = frozenset({str, int, bool, type(None)})


def _plain(value: Any) -> Any:
    # Nearly all values are numbers and words, so these come first.
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if isfinite(value) else None
    if kind in (list, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
