"""What a search came to: the frontier of measured risk and loss, the setting to take, and why, in two sentences."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayveil.advice.trial import ENOUGH, Trial
from wayveil.comparison.comparison_runs import ready_to_run
from wayveil.comparison.frontier import ROUNDING, Candidate, dominated
from wayveil.errors import InputError
from wayveil.recipe.recipe import Recipe
from wayveil.yardstick.fair_loss import Resolution

__all__ = ["OUTDATED", "Advice", "make_advice"]

_COSTLY = 0.5
"""A loss above which a publication tells little of what it is for."""
_CHEAPER = 0.6
"""A loss so many times that of what is taken is worth a word, at whatever risk."""
_WORTH = 0.1
"""How much more may be lost, even above that, so that no attack finds anybody with more than its limit."""
OUTDATED = ("Resolution:", "The method ", "Tried before", "Little is left")
"""How guesses begin that are about settings, and not about the file: others are chosen."""


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to take for a file.

    Parameters
    ----------
    recipe : Recipe
        What was asked about.
    trials : tuple of Trial
        Those of the last round, the least loss first.
    frontier : frozenset of int
        The numbers, from 0 on, of trials that no other beats in risk and in loss.
    chosen : int or None
        The number of the trial to take; None where nothing can be recommended.
    reason : str
        Two sentences that say why; where nothing can be recommended, one that says why not.
    resolution, uses
        What losses were measured at, and for which uses.
    max_risk : float
        The largest mean risk of the worst attacker that is accepted.
    tried : int
        How many trials there were in all.
    rows, whole, out_of_time
        See `Search`.
    """

    recipe: Recipe
    trials: tuple[Trial, ...]
    frontier: frozenset[int]
    chosen: int | None
    reason: str
    resolution: Resolution
    uses: tuple[str, ...]
    max_risk: float
    tried: int
    rows: int
    whole: bool
    out_of_time: bool

    @property
    def recommended(self) -> Trial | None:
        """The trial to take."""
        return None if self.chosen is None else self.trials[self.chosen]

    def make_recipe(self) -> Recipe:
        """Return the recipe to run; InputError where nothing can be recommended."""
        taken = self.recommended
        if taken is None:
            raise InputError(self.reason)
        recipe = taken.setting.apply(self.recipe)
        # What `inspect` said of steps and method is no longer true of what `advise` chose.
        guesses_left = [guess for guess in self.recipe.input.guesses if not guess.startswith(OUTDATED)]
        guesses = (*guesses_left, f"Chosen by advise: {self.reason}")
        return recipe.model_copy(update={"input": recipe.input.model_copy(update={"guesses": guesses})})

    def recipe_text(self, folder: Path) -> str:
        """Return the recipe to run as TOML for a file in `folder`."""
        recipe = self.make_recipe()
        output = Path(os.path.relpath(recipe.output.path.resolve(), folder.resolve()))
        return ready_to_run(recipe, folder, output)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            "recommended": self.chosen,
            "reason": self.reason,
            "resolution": {"metres": self.resolution.metres, "minutes": self.resolution.minutes},
            "uses": list(self.uses),
            "max_risk": self.max_risk,
            "tried": self.tried,
            "rows": self.rows,
            "whole_file": self.whole,
            "out_of_time": self.out_of_time,
            "settings": [
                {"number": number, "on_frontier": number in self.frontier, **trial.to_json()}
                for number, trial in enumerate(self.trials)
            ],
        }


def make_advice(recipe: Recipe, trials: Sequence[Trial], *, limit: float, given: bool, **facts: Any) -> Advice:
    """Choose a setting; `limit` is the risk that is accepted, and `given` whether somebody asked for it."""
    # Trials that left nothing have no loss, and come after all others.
    usable = sorted((trial for trial in trials if trial.loss is not None), key=lambda trial: trial.rank)
    ordered = (*usable, *(trial for trial in trials if trial.loss is None))
    spots = [Candidate(number=n, name="", risk=_risk(trial), loss=trial.cost) for n, trial in enumerate(usable)]
    # Of the usable ones only; their numbers are those of `ordered`, which begins with them.
    frontier = frozenset(range(len(usable))) - dominated(spots)
    chosen = _choose(usable, limit, given=given)
    if chosen is None:
        reason = _why_not(ordered, usable, limit, given=given)
    else:
        reason = _why(usable, chosen, limit, facts["resolution"])
    return Advice(
        recipe=recipe, trials=ordered, frontier=frontier, chosen=chosen, reason=reason, max_risk=limit, **facts
    )


def _risk(trial: Trial) -> float:
    # Where no attack asks who people are, nothing is known against a setting: the loss alone decides.
    return 0.0 if trial.risk is None else trial.risk.mean


def _choose(usable: Sequence[Trial], limit: float, *, given: bool) -> int | None:
    """Return the least loss within the limit that keeps half of the trips and rows, and the recipe's promise.

    Where there is none, first the promise is given up, then half of the rows.  Of what is left, a setting in which no
    attack exceeds its limit for anybody comes first, if it still tells most of the use, or hardly less than the best.
    Before all others come those of which a run would say "kept and low".
    Where nobody gave a limit and nothing stays within the usual one, it is the setting of the least risk.
    """
    enough = [number for number, trial in enumerate(usable) if trial.kept >= ENOUGH]
    # Shares are floats: what equals the limit but for its last digits is within it.
    within = [number for number in enough if _risk(usable[number]) <= limit + ROUNDING]
    if within:
        # First what falls short of least; `within` is sorted by loss, so the first of equals loses least.
        least = min(_shortfalls(usable[number]) for number in within)
        equals = [number for number in within if _shortfalls(usable[number]) == least]
        worth = [number for number in equals if _is_worth(usable[number], usable[equals[0]])]
        low = [number for number in worth if usable[number].low]
        safe = [number for number in worth if usable[number].exposed == ()]
        # In this order: a run would call it low; no attack exceeds its limit; the least loss.
        return (low or safe or equals)[0]
    # Whoever gave a limit is not offered something above it.
    if given or not enough:
        return None
    return min(enough, key=lambda number: (*_shortfalls(usable[number]), _risk(usable[number]), number))


def _is_worth(trial: Trial, best: Trial) -> bool:
    """Whether a setting tells most of the use, or hardly less of any use than the one that loses least."""
    if trial.cost <= _COSTLY or trial is best:
        return True
    assert trial.loss is not None
    assert best.loss is not None
    # Every use is compared by itself: a mean would hide that one of them is gone.
    lost = ((trial.loss.parts[use] or 0.0, best.loss.parts[use] or 0.0) for use in trial.loss.uses)
    return all(mine <= other + _WORTH for mine, other in lost)


def _shortfalls(trial: Trial) -> tuple[bool, bool]:
    # Rows weigh more than the promise: `False` sorts before `True`, the first entry first.
    return trial.rows_kept < ENOUGH, bool(trial.setting.weaker)


def _why(usable: Sequence[Trial], chosen: int, limit: float, resolution: Resolution) -> str:
    """Return two sentences: what is kept and lost beside which others, and what the worst attacker learns."""
    trial = usable[chosen]
    first = f"{trial.setting.words} keeps {_shares(trial)} and loses {_parts(trial)} at {resolution}, from the file on"
    equals = [one for one in usable if one.kept >= ENOUGH and _shortfalls(one) == _shortfalls(trial)]
    within = [one for one in equals if _risk(one) <= limit + ROUNDING]
    low = [one for one in within if one.exposed == ()]
    if trial not in within:
        first += f": in no setting the worst attacker stays below {_percent(limit)} on average, and here it is nearest"
    elif trial.exposed == ():
        least = "the least" if trial.rank == min(one.rank for one in low) else "one"
        first += f", {least} of {len(low)} settings" if len(low) > 1 else ": it is the only setting"
        first += " in which no attack finds anybody with more than its limit"
    elif len(within) > 1:
        first += f", the least of {len(within)} settings that keep as much of the promise and stay below the risk limit"
    else:
        first += ": no other setting keeps as much of the promise and stays below the risk limit"
    mind = f"; mind that {trial.setting.weaker}" if trial.setting.weaker else ""
    others = f"{_why_not_low(trial, low)}{_more_rows(usable, trial)}{_price_of_limit(usable, trial)}"
    return f"{first}. {_attacker(trial)}{mind}{others}."


def _shares(trial: Trial) -> str:
    """Return what is left of trips and rows; "half" is never said of one of them where it is not true of both."""
    trips = f"{_percent(trial.kept)} of the trips"
    rows = f"{_percent(trial.rows_kept)} of the {_row_word(trial)}"
    if trial.rows_kept < ENOUGH <= trial.kept:
        return f"{trips}, but less than half of the {_row_word(trial)} ({_percent(trial.rows_kept)}),"
    return f"{trips} ({rows})" if trial.rows_kept < trial.kept - 0.005 else trips


def _row_word(trial: Trial) -> str:
    return next((what for what in trial.shares if what not in ("trips", "people")), "rows")


def _more_rows(usable: Sequence[Trial], trial: Trial) -> str:
    """Say at which risk a setting keeps half of the rows as well, where the one that is taken does not."""
    if trial.rows_kept >= ENOUGH:
        return ""
    fuller = [one for one in usable if one.kept >= ENOUGH and one.rows_kept >= ENOUGH]
    if not fuller:
        return f"; no setting that was tried keeps half of both trips and {_row_word(trial)}"
    safest = min(fuller, key=lambda one: (bool(one.setting.weaker), _risk(one)))
    return f"; {safest.setting.words} keeps {_shares(safest)}, at a risk of {_percent(_risk(safest))}"


def _why_not_low(trial: Trial, low: Sequence[Trial]) -> str:
    """Say what is above its limit in the setting that is taken, and what it would cost to have nothing above it."""
    if not trial.exposed:
        return ""
    worst = trial.exposed[0]
    reason = "" if trial.risk is not None and worst.attack == trial.risk.attack else f"; {worst.sentence}"
    if low:
        other = min(low, key=lambda one: one.rank)
        return f"{reason}; with {other.setting.words} no attack would exceed its limit, but it loses {_parts(other)}"
    return f"{reason}; no setting that was tried brings every attack below its limit"


def _price_of_limit(usable: Sequence[Trial], trial: Trial) -> str:
    """Say what a looser limit would leave, where this one costs most of the use."""
    # Above the limit, but with half of the trips and the whole promise.
    others = [one for one in usable if one.kept >= ENOUGH and not one.setting.weaker and _risk(one) > _risk(trial)]
    best = min(others, key=lambda one: one.cost, default=trial)
    # It is told only where the loss is large, and another limit would lower it by much.
    if trial.cost <= _COSTLY or best.cost > trial.cost * _CHEAPER:
        return ""
    return (
        f"; the limit costs most of the use: {best.setting.words} loses {_percent(best.cost)}, at a risk of "
        f"{_percent(_risk(best))} on average"
    )


def _attacker(trial: Trial) -> str:
    risk = trial.risk
    if risk is None:
        return "No attack on this kind of data measures who people are"
    before = "" if risk.mean_raw is None else f" (before: {_percent(risk.mean_raw)})"
    worst = "" if risk.largest is None else f", {_percent(risk.largest)} at worst"
    above = ""
    if risk.share_above is not None and risk.limit is not None:
        above = f", above {_percent(risk.limit)} for {_percent(risk.share_above)} of them"
    return (
        f"The worst attacker, {risk.attack}, finds people with {_percent(risk.mean)} on average{before}{worst}{above}"
    )


def _why_not(ordered: Sequence[Trial], usable: Sequence[Trial], limit: float, *, given: bool) -> str:
    if not ordered:
        return "Nothing can be recommended: there is no setting that fits this recipe."
    if not usable:
        return f"Nothing can be recommended: none of {len(ordered)} settings leaves anything; of one: {ordered[0].why}"
    fullest = max(usable, key=lambda trial: trial.kept)
    if fullest.kept < ENOUGH:
        return (
            f"Nothing can be recommended: no setting keeps half of the trips; {fullest.setting.words} keeps most, "
            f"{_percent(fullest.kept)}. More people, a smaller k, or places with coordinates would help."
        )
    safest = min((trial for trial in usable if trial.kept >= ENOUGH), key=_risk)
    return (
        f"Nothing can be recommended: of the settings that keep half, the safest is {safest.setting.words}, in which "
        f"the worst attacker finds people with {_percent(_risk(safest))} on average, more than {_percent(limit)}."
    )


def _parts(trial: Trial) -> str:
    assert trial.loss is not None
    parts: Mapping[str, float | None] = trial.loss.parts
    listed = [f"{_percent(parts[use] or 0.0)} of {use}" for use in trial.loss.uses if parts[use] is not None]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _percent(share: float) -> str:
    """Return a share in percent that never rounds something to nothing, or a loss away."""
    if share in (0.0, 1.0):
        # Shares strictly between are never shown as 0 % or 100 %.
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"
