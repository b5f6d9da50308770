"""What an attacker learns from a data set, raw or published."""

from __future__ import annotations

from wayveil.attacks.known_visits import KnownVisits
from wayveil.attacks.nearest_positions import NearestPositions
from wayveil.attacks.watched_places import WatchedPlaces

__all__ = ["ATTACKS", "KnownVisits", "NearestPositions", "WatchedPlaces"]

ATTACKS: dict[str, type] = {attack.name: attack for attack in (KnownVisits, NearestPositions, WatchedPlaces)}
