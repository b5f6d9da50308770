"""What attackers learn from one data set, as one self-contained HTML page with charts."""

from __future__ import annotations

from typing import Any

from wayveil.model.numbers import headline, threshold_text
from wayveil.model.results import AttackResult
from wayveil.report.attack_section import find_number
from wayveil.report.figures import Drawn, page_parts
from wayveil.report.page_templates import environment, page_style
from wayveil.report.text.wording import date_words, extent_words, sentence, words

__all__ = ["render_risk"]


def render_risk(
    results: tuple[AttackResult, ...], *, title: str, facts: str, notes: tuple[str, ...], created: str
) -> str:
    """Return the page: nothing is loaded from anywhere, every text is escaped, and one script draws the charts.

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
    drawn = Drawn()
    view: dict[str, Any] = {
        "page": page_parts(page_style("report.css")),
        "drawn": drawn,
        "title": title,
        "facts": facts,
        "created": date_words(created),
        "attacks": [_attack(result, drawn, i) for i, result in enumerate(results)],
        "notes": notes,
    }
    return environment().get_template("risk.html.j2").render(view)


def _attack(result: AttackResult, drawn: Drawn, i: int) -> dict[str, Any]:
    first = headline(result.numbers)
    worst = None if first is None else find_number(result.numbers, first.about, "largest")
    above = None if first is None else find_number(result.numbers, first.about, "share above")
    return {
        "name": words(result.name),
        "title": sentence(result.adversary).removesuffix("."),
        "adversary": result.adversary,
        "extent": extent_words(result.victims, sampled=result.sampled),
        "mean": "–" if first is None else first.text,
        "between": "" if first is None else first.interval_text,
        "worst": "–" if worst is None else worst.text,
        "above": "–" if above is None else above.text,
        "limit": "" if above is None or above.threshold is None else threshold_text(above.threshold),
        "rows": [(number.label, number.text) for number in result.numbers.values() if number.value is not None],
        "charts": [drawn.chart(chart, f"attack-{i}-{j}") for j, chart in enumerate(result.charts)],
    }
