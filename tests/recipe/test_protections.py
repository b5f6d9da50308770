"""A sentence that an attack breaks is not printed: then nothing is published."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from wayveil.attacks import ATTACKS
from wayveil.methods import Kcl
from wayveil.model import AttackResult, KclPrivacy, Protection, Verdict, Visits
from wayveil.model.numbers import probability
from wayveil.pipeline.publish import NotPublished, publish
from wayveil.recipe.defaults import attacks_of, default_attacks
from wayveil.recipe.protections import confirm_protections, plays
from wayveil.recipe.recipe import make_recipe

CLAIM = KclPrivacy(k=2, c="0.5", l=2, sensitive={"diagnosis": ["HIV"]})
VERDICT = Verdict(holds=True, claim=CLAIM, counted="owners", measured={}, reason="fine")


def found(**measured: float | None) -> AttackResult:
    numbers = {name: probability(value, name) for name, value in measured.items()}
    return AttackResult(name="known_visits", adversary="", victims=1, sampled=False, numbers=numbers)


def attack(**given: Any) -> Any:
    return ATTACKS["known_visits"](**given)


def test_an_attack_within_its_bound_changes_nothing() -> None:
    results = [found(identity_max=0.5, attribute_max=0.5), found(identity_max=None, attribute_max=None)]
    attacks = [attack(m=2, choice="worst"), attack(m=2, choice="worst")]
    assert confirm_protections(VERDICT, attacks, results) is VERDICT


@pytest.mark.parametrize("name", ["identity_max", "attribute_max"])
def test_an_attack_beyond_its_bound_fails_the_verdict(name: str) -> None:
    after = found(**{"identity_max": 0.1, "attribute_max": 0.1, name: 0.51})
    verdict = confirm_protections(VERDICT, [attack(m=2, choice="worst")], [after])
    assert not verdict.holds
    assert "known_visits reaches 0.51" in verdict.reason
    assert "at most 1/2 is promised" in verdict.reason


def test_an_attacker_who_was_not_promised_breaks_nothing() -> None:
    stronger = attack(m=3, choice="worst")
    assert not any(plays(stronger, protection) for protection in CLAIM.protects)
    assert confirm_protections(VERDICT, [stronger], [found(identity_max=1.0)]).holds


def test_where_absence_is_hidden_it_is_confirmed_over_everybody() -> None:
    claim = replace(CLAIM, hide_absence="yes")
    for promise, victims in ((CLAIM, 2000), (claim, 10**9)):
        (absence,) = [one for one in default_attacks(Visits, Visits, claim=promise) if one.name == "absence"]
        assert absence.victims == victims
    assert plays(absence, claim.protects[-1])
    verdict = replace(VERDICT, claim=claim)
    for excess, holds in ((None, True), (0.0, True), (0.01, False)):
        result = replace(found(posterior_excess=excess), name="absence")
        assert confirm_protections(verdict, [absence], [result]).holds is holds


def test_a_failed_verdict_keeps_its_own_reason() -> None:
    failed = replace(VERDICT, holds=False, reason="too few")
    assert confirm_protections(failed, [attack(m=2, choice="worst")], [found(identity_max=1.0)]).reason == "too few"


def test_at_least_is_the_other_way_round() -> None:
    three = Protection(sentence="", attack="known_visits", measured=(), bound=Fraction(3), keeps="at least")
    assert [three.is_broken_by(value) for value in (2, 3, 4, None)] == [True, False, False, False]


def test_who_is_stopped_is_attacked_by_default() -> None:
    method = Kcl(k=2, c="0.5", l=2, sensitive={"diagnosis": ["HIV"]})
    attacks = default_attacks(method.accepts, method.publishes, claim=method.claim)
    for protection in method.claim.protects:
        assert any(plays(one, protection) for one in attacks)


def test_nothing_is_published_where_a_sentence_would_be_false(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ATTACKS["known_visits"].run

    def too_good(self: Any, *given: Any, **more: Any) -> AttackResult:
        result: AttackResult = real(self, *given, **more)
        return replace(result, numbers={**result.numbers, "identity_max": probability(0.9, "Largest")})

    monkeypatch.setattr(ATTACKS["known_visits"], "run", too_good)
    with pytest.raises(NotPublished, match=r"known_visits reaches 0\.9"):
        publish(make_recipe(content))
    assert not (tmp_path / "out/public").exists()


def test_an_attack_that_alone_judges_a_sentence_is_never_left_out(content: dict[str, Any]) -> None:
    content["method"]["hide_absence"] = "yes"
    content["attacks"] = []
    found = attacks_of(make_recipe(content))
    assert [one.name for one in found] == ["absence"]
    content["method"]["hide_absence"] = "no"
    assert attacks_of(make_recipe(content)) == ()
