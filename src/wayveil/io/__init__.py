"""File <-> model: the tables people have, and the tables that are published."""

from wayveil.io.network.road_files import read_network, write_network
from wayveil.io.places.place_files import read_places
from wayveil.io.places.place_leaves import attach_places, taxonomy_of_places
from wayveil.io.places.taxonomy_files import in_tree_order, read_published_taxonomy, read_taxonomy, write_taxonomy
from wayveil.io.publish.layouts import Layout, as_published
from wayveil.io.publish.published import public_frame, read_extent, read_published, write_published
from wayveil.io.publish.writer import write_points, write_trips, write_visits
from wayveil.io.read.dataframes import (
    collect_notes,
    from_arrow,
    from_frame,
    from_geopandas,
    from_movingpandas,
    from_pandas,
    from_polars,
    table_in_memory,
    to_geopandas,
    to_movingpandas,
    to_pandas,
    to_polars,
)
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points
from wayveil.io.read.route_tables import read_routes, write_routes
from wayveil.io.read.side_tables import locate, mark_known, name_owners, read_groups
from wayveil.io.read.stop_tables import read_stops, write_stops
from wayveil.io.read.trip_tables import read_trips
from wayveil.io.read.visit_tables import read_visits
from wayveil.io.scatter import Span, Spans, gather_piece, open_spans, scatter_span
from wayveil.io.tabular.columns import Kind, ReadOptions
from wayveil.io.tabular.detect import guess_kind
from wayveil.io.tabular.table import parquet_parts

__all__ = [
    "Kind",
    "Layout",
    "Loaded",
    "ReadOptions",
    "Span",
    "Spans",
    "as_published",
    "attach_places",
    "collect_notes",
    "from_arrow",
    "from_frame",
    "from_geopandas",
    "from_movingpandas",
    "from_pandas",
    "from_polars",
    "gather_piece",
    "guess_kind",
    "in_tree_order",
    "locate",
    "mark_known",
    "name_owners",
    "open_spans",
    "parquet_parts",
    "public_frame",
    "read_extent",
    "read_groups",
    "read_network",
    "read_places",
    "read_points",
    "read_published",
    "read_published_taxonomy",
    "read_routes",
    "read_stops",
    "read_taxonomy",
    "read_trips",
    "read_visits",
    "scatter_span",
    "table_in_memory",
    "taxonomy_of_places",
    "to_geopandas",
    "to_movingpandas",
    "to_pandas",
    "to_polars",
    "write_network",
    "write_points",
    "write_published",
    "write_routes",
    "write_stops",
    "write_taxonomy",
    "write_trips",
    "write_visits",
]
