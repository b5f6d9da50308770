"""File <-> model: the tables people have, and the tables that are published."""

from wayveil.io.columns import ReadOptions
from wayveil.io.degrees import as_published
from wayveil.io.frames import from_geopandas, from_movingpandas, from_pandas, to_geopandas, to_movingpandas, to_pandas
from wayveil.io.kinds import guess_kind
from wayveil.io.loaded import Loaded
from wayveil.io.output import write_points, write_visits
from wayveil.io.points import read_points
from wayveil.io.published import read_published, write_published
from wayveil.io.roads import read_network, write_network
from wayveil.io.routes import read_routes, write_routes
from wayveil.io.side_tables import locate, mark_known, read_groups
from wayveil.io.visits import read_visits

__all__ = [
    "Loaded",
    "ReadOptions",
    "as_published",
    "from_geopandas",
    "from_movingpandas",
    "from_pandas",
    "guess_kind",
    "locate",
    "mark_known",
    "read_groups",
    "read_network",
    "read_points",
    "read_published",
    "read_routes",
    "read_visits",
    "to_geopandas",
    "to_movingpandas",
    "to_pandas",
    "write_network",
    "write_points",
    "write_published",
    "write_routes",
    "write_visits",
]
