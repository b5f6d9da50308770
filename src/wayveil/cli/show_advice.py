"""Advice as a table and two sentences that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

import typer

from wayveil.cli.terminal import harmless

__all__ = ["advice_lines"]


def advice_lines(advice: Any, written: Path | None = None) -> Iterator[str]:
    """Say what was tried, the frontier with the recipe as it is beside it, and which setting to take, and why."""
    where = "the file" if advice.whole else f"a sample of {advice.rows:,} rows"
    yield f"{advice.tried} trials; losses from the file on, at {advice.resolution}; the last ones on {where}"
    if advice.out_of_time:
        yield "  the time was over before all were tried: a larger --budget may find more"
    uses = list(advice.uses)
    heads = "".join(f"{use:>9}" for use in uses)
    shown = [
        (number, trial)
        for number, trial in enumerate(advice.trials)
        if trial.loss is not None
        and (number in advice.frontier or number == advice.chosen or trial.setting.family == "recipe")
    ]
    if shown:
        yield f"  {'':>4}{'risk':>8}{'above':>8}{'worst':>8}{heads}{'trips':>8}{'rows':>8}  setting"
    for number, trial in shown:
        losses = "".join(f"{_percent(trial.loss.parts[use]):>9}" for use in uses)
        shares = f"{_percent(trial.kept):>8}{_percent(trial.rows_kept):>8}"
        promise = " (another promise)" if trial.setting.weaker else ""
        line = harmless(f"  {number + 1:>4}{_risk(trial)}{losses}{shares}  {trial.setting.words}{promise}")
        yield typer.style(line, fg="green", bold=True) if number == advice.chosen else line
    yield ""
    if advice.recommended is not None:
        yield fill(harmless(f"Take setting {advice.chosen + 1}: {advice.reason}"), width=110)
    if advice.recommended is not None and written is not None:
        yield f"  {'next':<12}wayveil run {written}"
    elif advice.recommended is not None:
        yield f"  {'next':<12}wayveil advise ... --write better.toml"


def _risk(trial: Any) -> str:
    """Return the mean risk of the worst attacker, the share of people above the limit, and the person most at risk."""
    risk = trial.risk
    if risk is None:
        return f"{'-':>8}" * 3
    return "".join(f"{_percent(value):>8}" for value in (risk.mean, risk.share_above, risk.largest))


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    if share in (0.0, 1.0):
        return f"{share * 100:.0f} %"
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"
