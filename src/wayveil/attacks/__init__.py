"""What an attacker learns from a data set, raw or published."""

from __future__ import annotations

from wayveil.attacks.known_visits import KnownVisits

__all__ = ["ATTACKS", "KnownVisits"]

ATTACKS: dict[str, type] = {attack.name: attack for attack in (KnownVisits,)}
