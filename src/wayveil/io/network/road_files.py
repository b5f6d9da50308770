"""Road networks from and to files."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import has_format
from wayveil.io.formats.graphml import read_graphml
from wayveil.io.formats.node_edge_text import EDGES, NODES, read_road_text
from wayveil.io.formats.osm import read_osm
from wayveil.io.limits import Allowance
from wayveil.io.network.network_output import write_network
from wayveil.io.network.road_table import read_road_table
from wayveil.model import RoadNetwork

__all__ = ["read_network", "write_network"]


def read_network(path: str | Path, *, crs: str | None = None) -> RoadNetwork:
    """Read a road network; the suffix tells the format.

    Parameters
    ----------
    path : str or Path
        A table of directed roads (.csv, .csv.gz, .parquet) with the columns road, from_node, to_node, and as far as
        known length_m, geometry (LINESTRING as WKT, or WKB) and from_x, from_y, to_x, to_y (or from_lon, from_lat,
        to_lon, to_lat); a GraphML file (.graphml); an OpenStreetMap extract (.osm.pbf, .osm, .osm.xml); or the path
        before ``.cnode.txt`` and ``.cedge.txt``, one of these two files, or a .zip that holds both.
    crs : str, optional
        The coordinate system of tables and GraphML, as in `ReadOptions`, where they do not say it themselves.  Places
        that nobody says are metres are refused where all of them could be degrees.

    Returns
    -------
    RoadNetwork
        Places and lengths in metres.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule; says what, how often, and where first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "roads.csv")
    ...     header = "road,from_node,to_node,from_x,from_y,to_x,to_y"
    ...     _ = file.write_text(f"{header}\\nr,a,b,0,0,300,400\\ns,b,a,300,400,0,0\\n")
    ...     network = read_network(file)
    >>> network.roads, network.nodes, network.length_m.tolist()
    (('r', 's'), ('a', 'b'), [500.0, 500.0])
    """
    shown = str(path)
    file = Path(path)
    for ending in (NODES, EDGES):
        if file.name.lower().endswith(ending):
            return read_road_text(shown[: -len(ending)])
    if file.name.lower().endswith(".zip"):
        return _read_zip(file)
    if has_format(file, "csv", "parquet"):
        return read_road_table(path, crs)
    if has_format(file, "graphml"):
        return read_graphml(shown, crs)
    if has_format(file, "osm"):
        return read_osm(shown)
    if any(Path(shown + ending).exists() for ending in (NODES, EDGES)):
        return read_road_text(shown)
    raise InputError(
        f"{shown}: the format of a road network is told by the suffix; give a .csv, .csv.gz, .parquet, .graphml, "
        f".osm.pbf, .osm or .osm.xml file, or the path before {NODES} and {EDGES}."
    )


def _read_zip(file: Path) -> RoadNetwork:
    """Read the two text files of a network that lie in one archive, under any name."""
    wrong = f"{file}: a .zip with a road network holds one file that ends in {NODES} and one that ends in {EDGES}."
    try:
        with zipfile.ZipFile(file) as archive, tempfile.TemporaryDirectory() as folder:
            allowance = Allowance(file, str(file))
            for ending in (NODES, EDGES):
                inside = [one for one in archive.infolist() if one.filename.lower().endswith(ending)]
                if len(inside) != 1:
                    raise InputError(wrong)
                # Under a name of ours: what the archive calls it never becomes a path.
                with archive.open(inside[0]) as packed:
                    Path(folder, f"network{ending}").write_bytes(allowance.bound(packed).read())
            prefix = str(Path(folder, "network"))
            try:
                return read_road_text(prefix)
            except InputError as error:
                raise InputError(str(error).replace(f"{prefix}.", f"{file}/*.")) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        raise InputError(wrong) from None
