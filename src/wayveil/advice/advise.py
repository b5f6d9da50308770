"""Advise: which preparation, method and parameters to take for the file of a recipe."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.advice.recommendation import Advice, make_advice
from wayveil.advice.search import SearchProgress, search_settings
from wayveil.advice.settings import list_settings
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, UsageError, check_fraction
from wayveil.model import Data, Engine
from wayveil.pipeline.folder.fetched_files import fetched_recipe
from wayveil.pipeline.input import load
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.defaults import columns_of
from wayveil.recipe.recipe import Recipe, load_recipe
from wayveil.yardstick.fair_loss import DEFAULT_USES, USES, Resolution, choose_resolution, parse_resolution
from wayveil.yardstick.footprint import make_space

__all__ = ["advise"]

_SEED = 1
_MINUTES = 5.0


def advise(
    recipe: Recipe | str | Path,
    *,
    use: str | None = None,
    resolution: str | Resolution | None = None,
    max_risk: Fraction | float | None = None,
    budget_minutes: float = _MINUTES,
    progress: SearchProgress = lambda line, done, total: None,
    engine: Engine | None = None,
) -> Advice:
    """Search preparation, method and parameters for the file of a recipe, and recommend one setting.

    Parameters
    ----------
    recipe : Recipe, str or Path
        What to publish; its promise (k, c, l, ...) is kept, or a change of it is said.
    use : {"flows", "hours", "lengths", "routes", "patterns", "points"}, optional
        What the data are for; by default what the recipe says, or else flows, hours and lengths, of which the one
        that suffers most counts.
    resolution : str or Resolution, optional
        Metres and minutes at which the use is measured, such as "500m,60min"; by default about 1/40 of where people
        are, and an hour.
    max_risk : number from 0 to 1, optional
        The largest mean risk of the worst attacker; by default that of the recipe, or else 1/k.
    budget_minutes : float, > 0
        How long to search.
    progress : callable, optional
        Called with a line, the number of trials done, and how many there will be at most.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.

    Notes
    -----
    The same recipe and seed give the same advice, unless time runs out (`Advice.out_of_time`).  Nothing is written.

    Raises
    ------
    InputError
        Where the file cannot be read, or has so few people that nobody can be hidden.
    """
    if not isinstance(recipe, Recipe):
        recipe = load_recipe(recipe)
    use = recipe.use if use is None else use
    max_risk = recipe.max_risk if max_risk is None else max_risk
    if use is not None and use not in USES:
        raise UsageError(f"There is no use {use!r}; known: {', '.join(USES)}.")
    if not budget_minutes > 0:
        raise UsageError(f"The budget must be more than 0 minutes, got {budget_minutes:g}.")
    method = recipe.method
    given = {**plain_parameters(method)}
    k = int(given.get("k") or given.get("m") or 2)
    accepted = None if max_risk is None else check_fraction("advise", "max_risk", max_risk, low=0, high=1)
    limit = 1.0 / k if accepted is None else float(accepted)
    recipe = recipe.model_copy(update={"max_risk": accepted})  # a run of what is recommended is judged by it, too
    with fetched_recipe(recipe) as fetched:
        return _advise(fetched, use, resolution, limit, max_risk is not None, budget_minutes, progress, engine, k)


def _advise(
    recipe: Recipe,
    use: str | None,
    resolution: str | Resolution | None,
    limit: float,
    is_limit_given: bool,
    budget_minutes: float,
    progress: SearchProgress,
    engine: Engine | None,
    k: int,
) -> Advice:
    """Search settings for an input that is on this machine."""
    loaded = load(recipe.input, attributes=columns_of(recipe))
    _refuse_few(loaded.data, k)
    space = make_space(loaded.data)
    wanted_resolution = parse_resolution(resolution) if isinstance(resolution, str) else resolution
    chosen = choose_resolution(space, wanted_resolution)
    uses: tuple[str, ...] = DEFAULT_USES if use is None else (use,)
    seed = _SEED if recipe.seed is None else recipe.seed
    search = search_settings(
        list_settings(recipe, loaded.data, chosen),
        recipe,
        loaded,
        space,
        chosen,
        uses,
        seed=seed,
        budget_s=budget_minutes * 60,
        engine=engine or LocalEngine(),
        progress=progress,
    )
    facts: dict[str, Any] = {
        "resolution": chosen,
        "uses": uses,
        "tried": search.tried,
        "rows": search.rows,
        "whole": search.whole,
        "out_of_time": search.out_of_time,
    }
    return make_advice(recipe, search.trials, limit=limit, given=is_limit_given, **facts)


def _refuse_few(data: Data, k: int) -> None:
    """Refuse files in which nobody can be hidden among k people."""
    people = len(np.unique(data.owner[data.nonempty]))
    if people >= k and people >= 2:
        return
    who = "nobody" if not people else "one person" if people == 1 else f"{people:,} people"
    raise InputError(
        f"Nothing can be recommended: the file has rows of {who}, and to hide everybody among k = {k} there must be at "
        "least as many. Put files of more people together."
    )
