"""How much of a publication is measured: all of it, what its head needs, or only what its promise depends on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from wayveil.model import Attack, Metric, parameters_of
from wayveil.recipe.defaults import attacks_of, metrics_of
from wayveil.recipe.protections import plays
from wayveil.recipe.purpose import telling_names
from wayveil.recipe.recipe import Recipe

__all__ = ["DRAWN", "MEDIUM", "SMALL", "Measuring", "Yardstick", "plan_measuring"]

SMALL = 100_000
"""Up to so many rows measuring everything takes seconds, so that nothing is left out of a quick measurement."""
MEDIUM = 1_000_000
"""Up to so many rows a quick measurement plays all attacks, on a few people who are drawn."""
DRAWN = 200
"""How many people are drawn for that: where none of them is above a limit, at most 3 / 200 of all are (95 %)."""


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured; `positions` are those of the attacks among all of them.

    `sampled_attacks` are played on `DRAWN` people instead of as many as usual.

    An attack draws from its position, so that it finds the same whether or not others are run beside it.
    """

    attacks: tuple[Attack, ...]
    positions: tuple[int, ...]
    metrics: tuple[Metric, ...]
    sampled_attacks: tuple[str, ...] = ()
    missing_attacks: tuple[str, ...] = ()
    missing_metrics: tuple[str, ...] = ()

    def with_metrics(self, metrics: tuple[Metric, ...]) -> Measuring:
        """Return the same with other metrics, as those that add up over blocks."""
        return replace(self, metrics=metrics)


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """The attack and the metric by which runs of one kind are compared, whatever each of them promises."""

    attack: Attack
    metric: Metric


def plan_measuring(recipe: Recipe, rows: int) -> Measuring:
    """Return what of a publication is measured.

    Parameters
    ----------
    recipe : Recipe
        Its `measure` is "full" for all that fits, "quick" for what the head needs (all of it where the data are small),
        "none" for nothing that can be left out.  What a recipe asks for by name is not left out by "quick".
    rows : int
        Of the data that are published.

    Notes
    -----
    An attack that alone judges a sentence of the claim is always run.  "quick" runs the attackers of whom the claim
    speaks, and the metric that tells most for what the data are for; up to `MEDIUM` rows all others as well, on `DRAWN`
    people.
    """
    attacks = attacks_of(recipe)
    metrics = metrics_of(recipe)
    # Small data are measured in full: leaving something out would save seconds.
    if recipe.measure == "full" or (recipe.measure == "quick" and rows <= SMALL):
        positions = tuple(range(len(attacks)))
        return Measuring(attacks=attacks, positions=positions, metrics=metrics)
    claim = recipe.method.claim
    quick = recipe.measure == "quick"
    # Without measuring, only attacks remain that no verifier stands in for.
    protections = [one for one in claim.protects if quick or not one.judged]
    named = quick and recipe.attacks is not None
    # Positions are those in the full list, so that an attack draws the same victims whether others are played or not.
    positions = tuple(i for i, attack in enumerate(attacks) if named or any(plays(attack, one) for one in protections))
    scored = metrics if quick and recipe.metrics is not None else _telling(recipe, metrics) if quick else ()
    drawn = {i: attack for i, attack in enumerate(attacks) if quick and i not in positions and rows <= MEDIUM}
    sampled = {i: less for i, attack in drawn.items() if (less := _on_few(attack)) is not None}
    positions = tuple(sorted((*positions, *sampled)))
    chosen = tuple(sampled.get(i, attacks[i]) for i in positions)
    return Measuring(
        attacks=chosen,
        positions=positions,
        metrics=scored,
        sampled_attacks=tuple(dict.fromkeys(attack.name for attack in sampled.values())),
        missing_attacks=_names(attacks, chosen),
        missing_metrics=_names(metrics, scored),
    )


def _on_few(attack: Attack) -> Attack | None:
    """Return the attack on a few people who are drawn; None where it attacks everybody at once."""
    if not any(declared.name == "victims" for declared in parameters_of(type(attack))):
        return None
    usual: Any = attack
    few: Attack = replace(usual, victims=min(usual.victims, DRAWN))
    return few


def _telling(recipe: Recipe, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metric of which the head speaks, or else the first."""
    by_name = {metric.name: metric for metric in metrics}
    telling = next((by_name[name] for name in telling_names(recipe.use) if name in by_name), None)
    return metrics[:1] if telling is None else (telling,)


def _names(
    every: tuple[Attack, ...] | tuple[Metric, ...], some: tuple[Attack, ...] | tuple[Metric, ...]
) -> tuple[str, ...]:
    """Return the names of those of which none was taken, in their order and once each."""
    taken = {one.name for one in some}
    return tuple(dict.fromkeys(one.name for one in every if one.name not in taken))
