"""What an attacker learns from a data set, raw or published."""

from __future__ import annotations

from wayveil.attacks.attack_graph import GraphAttack
from wayveil.attacks.counting import Counting
from wayveil.attacks.inference_routes import InferenceRoutes
from wayveil.attacks.known_places import KnownPlaces
from wayveil.attacks.known_visits import KnownVisits
from wayveil.attacks.lbqid import Lbqid
from wayveil.attacks.nearest_positions import NearestPositions
from wayveil.attacks.seen_on_roads import SeenOnRoads
from wayveil.attacks.watched_places import WatchedPlaces

__all__ = [
    "ATTACKS",
    "Counting",
    "GraphAttack",
    "InferenceRoutes",
    "KnownPlaces",
    "KnownVisits",
    "Lbqid",
    "NearestPositions",
    "SeenOnRoads",
    "WatchedPlaces",
]

ATTACKS: dict[str, type] = {
    attack.name: attack
    for attack in (
        KnownVisits,
        Counting,
        NearestPositions,
        WatchedPlaces,
        GraphAttack,
        Lbqid,
        SeenOnRoads,
        InferenceRoutes,
        KnownPlaces,
    )
}
