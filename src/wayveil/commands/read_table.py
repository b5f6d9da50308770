"""A table, or a published folder, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wayveil.model import Data
from wayveil.pipeline.folder.fetched_files import fetched_input
from wayveil.pipeline.input import read_any
from wayveil.recipe.recipe import make_input

__all__ = ["read"]


def read(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    on_duplicate_time: str | None = None,
    attributes: tuple[str, ...] | None = None,
    kind: str | None = None,
    crs: str | None = None,
    network: str | Path | None = None,
    taxonomy: str | Path | None = None,
    sensitive_nodes: Sequence[str] = (),
    owners: str | Path | Sequence[str | Path] | None = None,
    similar_ids: str | None = None,
) -> Data:
    """Read visits or points (CSV, gzipped CSV, Parquet; points also GeoJSON, GPX, PLT), or a published folder.

    Parameters
    ----------
    path : str or Path
        A table, or a folder that `publish` made.
    columns : mapping, optional
        The names that columns such as ``traj_id``, ``t``, ``location``, ``x`` and ``user_id`` have in the table.
    on_duplicate_time : {"first", "last"}, optional
        Which of two visits of a trajectory at one time to keep; by default that is an error.
    attributes : tuple of str, optional
        The attributes to read; by default every other column.
    kind : {"visits", "points", "routes", "stops", "trips"}, optional
        What the table holds; by default told from its columns.
    crs : str, optional
        The coordinate system of points, such as "EPSG:4326"; by default degrees for columns called lon and lat.
    network : str or Path, optional
        The road network of routes.
    taxonomy : str or Path, optional
        The taxonomy of the places of stops.
    sensitive_nodes : sequence of str, optional
        Nodes of the taxonomy that are sensitive, besides those that it says itself.
    owners : "each-trajectory", or tables, optional
        Who is behind a trajectory where no column ``user_id`` says it: a table `traj_id, user_id` or several, or the
        declaration that each trajectory is another person.  Without either the table is refused.
    similar_ids : {"different", "same"}, optional
        What people are whose ids differ only by case, white space, leading zeros or letter forms; by default they are
        refused.
    """
    given: dict[str, Any] = {"columns": dict(columns or {}), "on_duplicate_time": on_duplicate_time, "kind": kind}
    given |= {"crs": crs, "owners": owners, "similar_ids": similar_ids}
    given |= {"network": network, "taxonomy": taxonomy, "sensitive_nodes": tuple(sensitive_nodes)}
    spec = make_input({"path": Path(path), **given})
    with fetched_input(spec) as source:
        return read_any(source, attributes=attributes)[0].data
