"""What attackers learn from one data set, as one self-contained HTML page with charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayveil.model.results import AttackResult
from wayveil.report.charts.bars import draw
from wayveil.report.page_templates import environment
from wayveil.report.text.number_format import format_number, format_percent, format_value
from wayveil.report.text.wording import date_words, extent_words, is_share, sentence, words

__all__ = ["render_risk"]

_HEADLINES = (("identity_mean", "identity_max"), ("attribute_mean", "attribute_max"), ("exposed_people_share", ""))


def render_risk(
    results: tuple[AttackResult, ...], *, title: str, facts: str, notes: tuple[str, ...], created: str
) -> str:
    """Return the page: no script, nothing loaded from anywhere, every text escaped.

    Parameters
    ----------
    results : tuple of AttackResult
    title, facts : str
        What was attacked, in a few words, and how large it is.
    notes : tuple of str
        What was assumed or cleaned.
    created : str
        ISO 8601 time.
    """
    view: dict[str, Any] = {
        "title": title,
        "facts": facts,
        "created": date_words(created),
        "attacks": [_attack(result) for result in results],
        "notes": notes,
    }
    return environment().get_template("risk.html.j2").render(view)


def _attack(result: AttackResult) -> dict[str, Any]:
    measured = result.measured
    mean, worst = next(((m, w) for m, w in _HEADLINES if measured.get(m) is not None), ("", ""))
    low = measured.get(f"{mean}_low")
    high = measured.get(f"{mean}_high")
    return {
        "name": words(result.name),
        "title": sentence(result.adversary).removesuffix("."),
        "adversary": result.adversary,
        "extent": extent_words(result.victims, sampled=result.sampled),
        "mean": format_percent(measured.get(mean)),
        "between": "" if low is None or high is None else f"95 %: {format_percent(low)} to {format_percent(high)}",
        "worst": format_percent(measured.get(worst)),
        "rows": [
            (_label(name, measured), format_value(value, percent=is_share(name, value)))
            for name, value in measured.items()
            if value is not None and not name.endswith(("_threshold", "_low", "_high"))
        ],
        "charts": [draw(chart) for chart in result.charts],
    }


def _label(name: str, measured: Mapping[str, float | None]) -> str:
    bound = measured.get(name.replace("_share_above", "_threshold")) if name.endswith("_share_above") else None
    return words(name) if bound is None else f"{words(name)} {format_number(bound)}"
