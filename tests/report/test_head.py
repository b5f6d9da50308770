"""The head: green only for a promise kept, data left, and nobody above the limit in any measured attack."""

from __future__ import annotations

from typing import Any

import pytest

from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.errors import UsageError
from wayveil.model import AttackResult, Score
from wayveil.pipeline.remaining import Remaining, Stage
from wayveil.recipe.defaults import attacks_of
from wayveil.recipe.recipe import make_recipe
from wayveil.recipe.toml import recipe_text
from wayveil.report.text.head import LABELS, make_head


def left(kept: int) -> Remaining:
    stages = (
        Stage(name="read", rows=100, row_word="visits", trips=100, people=100),
        Stage(name="kcl", rows=kept, row_word="visits", trips=kept, people=kept),
    )
    return Remaining(stages=stages, remedies=("--time-bucket 4h",))


def attack(name: str, share: float | None, largest: float | None = 1.0, limit: float = 0.2) -> AttackResult:
    numbers: dict[str, Any] = {
        "identity_mean": mean_risk(None if share is None else share / 2),
        "identity_max": worst_risk(largest),
        "identity_share_above": share_above(share, limit),
    }
    return AttackResult(name=name, adversary="knows something", victims=10, sampled=False, numbers=numbers)


@pytest.mark.parametrize(
    ("kept", "shares", "state"),
    [
        (100, (0.0, 0.0), "kept"),
        (100, (None,), "kept"),
        (50, (0.0,), "kept"),
        (100, (), "but"),  # what no attack measured is not called low
        (49, (), "but"),
        (100, (0.0, 0.001), "but"),
        (49, (0.9,), "but"),
    ],
)
def test_green_needs_all_three(kept: int, shares: tuple[float | None, ...], state: str) -> None:
    attacks = [attack(f"a{i}", share) for i, share in enumerate(shares)]
    assert make_head(holds=True, published=attacks, remaining=left(kept)).state == state
    assert make_head(holds=False, published=attacks, remaining=left(kept)).state == "refused"


def test_the_attack_that_exposes_most_people_is_named_with_how_many_and_who_is_worst() -> None:
    head = make_head(holds=True, published=[attack("few", 0.1), attack("many", 0.6, 0.75)], remaining=left(100))
    assert head.to_json()["sentence"] == (
        "Published and verified, but the attack many can find the person with a chance above 1/5 for 60 % of the "
        "people, at worst 75 % (1 other attack above the limit, too)."
    )
    assert [one["attack"] for one in head.to_json()["exposed"]] == ["many", "few"]


def test_of_an_attack_that_the_promise_speaks_of_it_is_said_what_the_attacker_knows() -> None:
    """Without that, "known_visits finds people for certain" would stand beside "known_visits: at most 1/10"."""
    attacks = [attack("known_visits", 0.0, 0.1), attack("known_visits", 0.01)]
    head = make_head(holds=True, published=attacks, remaining=left(100), promised={"known_visits"})
    assert head.reasons[0].startswith("the attack known_visits (an attacker who knows something) can find the person")
    assert head.to_json()["risk"]["sentence"].startswith("known_visits (an attacker who knows something): find")
    low = make_head(holds=True, published=attacks[:1], remaining=left(100), promised={"known_visits"})
    assert low.to_json()["risk"]["sentence"].startswith("known_visits: find")


def test_loss_is_said_before_risk() -> None:
    head = make_head(holds=True, published=[attack("many", 0.6)], remaining=left(10))
    assert head.reasons[0] == "only 10 % of the visits are left: kcl took 90 %"
    assert head.reasons[1].startswith("the attack many can find the person")
    assert head.remedies[0] == "--time-bucket 4h"


def score(name: str, value: float, better: Any = "lower") -> Score:
    return Score(name=name, meaning="what was lost", value=value, better=better, unit="share")


@pytest.mark.parametrize(
    ("use", "told", "state"),
    [(None, "place_hours", "kept"), ("flows", "flows", "but"), ("patterns", "frequent_sequences", "kept")],
)
def test_the_loss_is_the_one_of_the_purpose(use: Any, told: str, state: str) -> None:
    scores = [score("instance_loss", 0.9), score("flows", 0.8), score("place_hours", 0.5),
              score("frequent_sequences", 0.6, "higher")]  # fmt: skip
    head = make_head(holds=True, published=[attack("none", 0.0)], remaining=left(100), scores=scores, use=use)
    assert head.loss is not None
    assert (head.loss.name, head.state, head.to_json()["label"]) == (told, state, LABELS[head.state])


def test_the_strongest_attack_is_told_before_and_after_at_worst_and_above_the_limit() -> None:
    raw = [attack("few", 1.0), attack("many", 0.8)]
    made = [attack("few", 0.1), attack("many", 0.6, 0.75)]
    head = make_head(holds=True, published=made, raw=raw, remaining=left(100), counted="trajectories")
    assert head.to_json()["risk"]["sentence"] == (
        "many: find the person with 40 % -> 30 % on average, 75 % at worst; 60 % above 1/5"
    )
    assert "60 % of the trajectories" in head.to_json()["sentence"]


def test_one_limit_counts_for_every_attack_that_finds_people() -> None:
    content = {
        "input": {"path": "cards.csv"},
        "method": {"name": "kcl", "k": 5, "c": "0.5", "l": 2, "sensitive": {"fare": ["blind"]}},
        "output": {"path": "out"},
    }
    limits = {(name, attack.threshold) for attack in attacks_of(make_recipe({**content, "max_risk": "1/30"}))
              if (name := attack.name) in ("known_visits", "known_locations", "top_places")}  # fmt: skip
    assert {str(limit) for _, limit in limits} == {"1/30"}
    assert len(limits) == 3
    recipe = make_recipe({**content, "max_risk": 0.1, "use": "flows"})
    assert 'max_risk = "1/10"\nuse = "flows"' in recipe_text(recipe)
    for wrong in ("a lot", 1.5, -1, "1/0"):
        with pytest.raises(UsageError, match=r"max_risk.*accepted risk"):
            make_recipe({**content, "max_risk": wrong})
