"""What an attacker learns from a data set, raw or published."""

from __future__ import annotations

from wayveil.attacks.groups.known_group import KnownGroup
from wayveil.attacks.habits.lbqid import Lbqid
from wayveil.attacks.pieces.linked_pieces import LinkedPieces
from wayveil.attacks.places.home_work import HomeWork
from wayveil.attacks.places.known_frequencies import KnownFrequencies
from wayveil.attacks.places.known_locations import KnownLocations
from wayveil.attacks.places.known_order import KnownOrder
from wayveil.attacks.places.top_places import TopPlaces
from wayveil.attacks.positions.continuity import Continuity
from wayveil.attacks.positions.graph_attack import GraphAttack
from wayveil.attacks.positions.nearest_positions import NearestPositions
from wayveil.attacks.positions.noisy_sightings import NoisySightings
from wayveil.attacks.positions.seen_in_boxes import SeenInBoxes
from wayveil.attacks.positions.watched_places import WatchedPlaces
from wayveil.attacks.projections import Counting
from wayveil.attacks.routes.route_inference import InferenceRoutes
from wayveil.attacks.routes.seen_on_roads import SeenOnRoads
from wayveil.attacks.stops.known_places import KnownPlaces
from wayveil.attacks.stops.place_posterior import PlacePosterior
from wayveil.attacks.synthetic.copied_trips import CopiedTrips, CopiedWays
from wayveil.attacks.tables.small_cells import SmallCells
from wayveil.attacks.visits.absence import Absence
from wayveil.attacks.visits.first_last import FirstLast
from wayveil.attacks.visits.first_last_visits import FirstLastVisits
from wayveil.attacks.visits.known_visits import KnownVisits
from wayveil.attacks.visits.uniqueness import Uniqueness
from wayveil.attacks.visits.uniqueness_of_points import UniquenessOfPoints

__all__ = [
    "ATTACKS",
    "Absence",
    "Continuity",
    "CopiedTrips",
    "CopiedWays",
    "Counting",
    "FirstLast",
    "FirstLastVisits",
    "GraphAttack",
    "HomeWork",
    "InferenceRoutes",
    "KnownFrequencies",
    "KnownGroup",
    "KnownLocations",
    "KnownOrder",
    "KnownPlaces",
    "KnownVisits",
    "Lbqid",
    "LinkedPieces",
    "NearestPositions",
    "NoisySightings",
    "PlacePosterior",
    "SeenInBoxes",
    "SeenOnRoads",
    "SmallCells",
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
        LinkedPieces,
        KnownGroup,
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
        SmallCells,
        CopiedTrips,
        CopiedWays,
    )
}
