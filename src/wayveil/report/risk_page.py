"""What attackers learn from one data set, as one self-contained HTML page with charts."""

from __future__ import annotations

from typing import Any

from wayveil.model.numbers import headline
from wayveil.model.results import AttackResult
from wayveil.report.attack_section import find_number
from wayveil.report.charts.bars import draw
from wayveil.report.page_templates import environment
from wayveil.report.text.wording import date_words, extent_words, sentence, words

__all__ = ["render_risk"]


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
    first = headline(result.numbers)
    worst = None if first is None else find_number(result.numbers, first.about, "largest")
    return {
        "name": words(result.name),
        "title": sentence(result.adversary).removesuffix("."),
        "adversary": result.adversary,
        "extent": extent_words(result.victims, sampled=result.sampled),
        "mean": "–" if first is None else first.text,
        "between": "" if first is None else first.interval_text,
        "worst": "–" if worst is None else worst.text,
        "rows": [(number.label, number.text) for number in result.numbers.values() if number.value is not None],
        "charts": [draw(chart) for chart in result.charts],
    }
