"""What an attacker learns from a data set, raw or published."""

from __future__ import annotations

from wayveil.attacks.absence import Absence
from wayveil.attacks.attack_graph import GraphAttack
from wayveil.attacks.continuity import Continuity
from wayveil.attacks.counting import Counting
from wayveil.attacks.first_last import FirstLast
from wayveil.attacks.first_last_visits import FirstLastVisits
from wayveil.attacks.home_work import HomeWork
from wayveil.attacks.inference_routes import InferenceRoutes
from wayveil.attacks.known_frequencies import KnownFrequencies
from wayveil.attacks.known_locations import KnownLocations
from wayveil.attacks.known_order import KnownOrder
from wayveil.attacks.known_places import KnownPlaces
from wayveil.attacks.known_visits import KnownVisits
from wayveil.attacks.lbqid import Lbqid
from wayveil.attacks.nearest_positions import NearestPositions
from wayveil.attacks.noisy_sightings import NoisySightings
from wayveil.attacks.place_posterior import PlacePosterior
from wayveil.attacks.seen_in_boxes import SeenInBoxes
from wayveil.attacks.seen_on_roads import SeenOnRoads
from wayveil.attacks.top_places import TopPlaces
from wayveil.attacks.uniqueness import Uniqueness
from wayveil.attacks.uniqueness_of_points import UniquenessOfPoints
from wayveil.attacks.watched_places import WatchedPlaces

__all__ = [
    "ATTACKS",
    "Absence",
    "Continuity",
    "Counting",
    "FirstLast",
    "FirstLastVisits",
    "GraphAttack",
    "HomeWork",
    "InferenceRoutes",
    "KnownFrequencies",
    "KnownLocations",
    "KnownOrder",
    "KnownPlaces",
    "KnownVisits",
    "Lbqid",
    "NearestPositions",
    "NoisySightings",
    "PlacePosterior",
    "SeenInBoxes",
    "SeenOnRoads",
    "TopPlaces",
    "Uniqueness",
    "UniquenessOfPoints",
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
        Continuity,
        Lbqid,
        SeenOnRoads,
        InferenceRoutes,
        KnownPlaces,
        PlacePosterior,
        Uniqueness,
        UniquenessOfPoints,
        FirstLast,
        FirstLastVisits,
        KnownLocations,
        KnownOrder,
        KnownFrequencies,
        TopPlaces,
        HomeWork,
        SeenInBoxes,
        NoisySightings,
        Absence,
    )
}
