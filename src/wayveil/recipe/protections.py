"""Whether the attacks that were run keep the bounds that the claim promises; a sentence that one breaks is not printed.

A claim names, for each sentence under "protects against", the attack that plays this attacker.  The verdict alone
should make these attacks fail.  If one succeeds all the same, something is wrong with the sentence, the verifier or the
attack: nothing is published then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wayveil.model import AttackResult, Guarantee, Protection, Verdict
from wayveil.model.claims.counting import share_text
from wayveil.recipe import catalog

__all__ = ["confirm_protections", "deciding_attacks", "plays"]


def plays(attack: Any, protection: Protection) -> bool:
    """Return whether a configured attack plays the attacker of a protection, with its settings or stronger ones.

    Only the settings that the protection names count.
    """
    if attack.name != protection.attack:
        return False
    exact = catalog.build("attack", protection.attack, dict(protection.settings))
    # What is "auto" the attack takes from the data by the same rule as the claim did.
    return all(getattr(attack, name) in (getattr(exact, name), "auto") for name, _ in protection.settings)


def deciding_attacks(claim: Guarantee, attacks: Sequence[Any]) -> tuple[Any, ...]:
    """Return the attacks, besides these, that are the only judges of a sentence of the claim."""
    return tuple(
        catalog.build("attack", protection.attack, dict(protection.settings))
        for protection in claim.protects
        if not protection.judged and not any(plays(attack, protection) for attack in attacks)
    )


def confirm_protections(verdict: Verdict, attacks: Sequence[Any], published: Sequence[AttackResult]) -> Verdict:
    """Return the verdict, or one that fails where an attack broke a sentence of the claim.

    Parameters
    ----------
    verdict : Verdict
        Of the verifier.
    attacks, published : sequences of the same length
        The configured attacks, and what each achieved against the published data.
    """
    if not verdict.holds:
        return verdict
    # The verdict should make every such attack fail.  One that succeeds all the same turns it: an attack is evidence, a
    # proof may have a mistake.
    for protection in verdict.claim.protects:
        for attack, result in zip(attacks, published, strict=True):
            if not plays(attack, protection):
                continue
            for name in protection.measured:
                value = result.measured.get(name)
                if protection.is_broken_by(value):
                    return replace(verdict, holds=False, reason=_reason(protection, name, value))
    return verdict


def _reason(protection: Protection, name: str, value: Any) -> str:
    share = protection.keeps == "at most" and protection.bound <= 1
    bound = share_text(protection.bound) if share else f"{float(protection.bound):g}"
    return (
        f"The attack {protection.attack} reaches {float(value):.4g} ({name}), but {protection.keeps} {bound} is "
        "promised, so the promise would not be true."
    )
