"""Coordinate systems: whether x and y are degrees or metres, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.errors import InputError, UsageError
from wayveil.io.tabular.table import Table
from wayveil.model.data.ragged import BoolArray, FloatArray

__all__ = [
    "WGS84",
    "Crs",
    "could_be_degrees",
    "crs_from_json",
    "crs_name",
    "in_degrees",
    "settle_crs",
    "unsaid_degrees_error",
]

# "EPSG:4326", "urn:ogc:def:crs:OGC:1.3:CRS84" and the web address of either.
_CODE = re.compile(
    r"(?:urn:(?:x-)?ogc:def:crs:|https?://www\.opengis\.net/def/crs/)?([A-Za-z]+)[:/]+(?:[\d.]*[:/]+)?(\w+)"
)
_WGS84_NAMES = {"EPSG:4326", "EPSG:4979", "OGC:CRS84", "OGC:CRS84H", "CRS84", "WGS84"}


@dataclass(frozen=True, kw_only=True)
class Crs:
    """A coordinate system by name; `degrees` is None where only a look-up can tell."""

    name: str
    degrees: bool | None


WGS84 = Crs(name="EPSG:4326", degrees=True)
"""Longitude and latitude; OGC:CRS84 and EPSG:4326 are one here, because x is always the longitude."""

_GENERIC = {"planar": Crs(name="planar", degrees=False), "degrees": WGS84}


def crs_name(text: str) -> Crs:
    """Return the coordinate system of this name, without looking it up.

    Examples
    --------
    >>> crs_name("urn:ogc:def:crs:OGC:1.3:CRS84") == crs_name("epsg:4326") == crs_name("WGS 84") == WGS84
    True
    >>> crs_name("http://www.opengis.net/def/crs/EPSG/0/2100")
    Crs(name='EPSG:2100', degrees=None)
    """
    bare = text.strip()
    if bare.lower() in _GENERIC:
        return _GENERIC[bare.lower()]
    match = _CODE.fullmatch(bare)
    name = f"{match.group(1)}:{match.group(2)}".upper() if match else f"EPSG:{bare}" if bare.isdecimal() else bare
    if name in _WGS84_NAMES or re.sub(r"[\s_-]", "", bare).upper() in _WGS84_NAMES:
        return WGS84
    return Crs(name=name, degrees=None)


def crs_from_json(document: Any) -> Crs:
    """Return the coordinate system that a PROJJSON object describes; UsageError where it is not degrees or metres."""
    system = document
    # A bound or compound system wraps the one that x and y are in.
    while isinstance(system, Mapping) and (system.get("source_crs") or system.get("components")):
        system = system.get("source_crs") or system["components"][0]
    if not isinstance(system, Mapping):
        raise UsageError("the coordinate system in the metadata is not PROJJSON")
    code = system.get("id")
    code = code if isinstance(code, Mapping) else {}
    named = {"authority", "code"} <= set(code)
    name = "{authority}:{code}".format(**code) if named else str(system.get("name", ""))
    axes = (system.get("coordinate_system") or {}).get("axis") or []
    units = {_unit(axis.get("unit")) for axis in axes[:2]}
    if units == {"degree"}:
        known = crs_name(name)
        return known if known.degrees else Crs(name=known.name, degrees=True)
    if units == {"metre"}:
        return Crs(name=crs_name(name).name, degrees=False)
    raise UsageError(f"its coordinate system has the unit {_words(units)}, not degrees or metres")


def settle_crs(table: Table, given: str | None, declared: Crs | None) -> Crs | None:
    """Return the coordinate system of a file, from what the user says and what the file says; None where nobody does.

    Raises
    ------
    UsageError
        If ``--crs`` is unknown, or is neither degrees nor metres.
    InputError
        If the file contradicts ``--crs``, or its own system cannot be used.
    """
    # Four cases: nobody said anything, only the file, only the user, or both; where both did, they must agree.
    if given is None:
        if declared is None or declared.degrees is not None:
            return declared
        try:
            return _look_up(declared)
        except UsageError as error:
            raise table.wrong(f"the file says that its coordinate system is '{declared.name}', but {error}.") from None
    given_crs = crs_name(given)
    generic = given.strip().lower() in _GENERIC
    if declared is not None and declared.degrees is None and (generic or given_crs.name == declared.name):
        # What the user says of degrees or metres decides where the file has only a name.
        declared = Crs(name=declared.name, degrees=given_crs.degrees) if generic else None
    if given_crs.degrees is None:
        try:
            given_crs = _look_up(given_crs)
        except UsageError as error:
            raise UsageError(f"--crs {given}: {error}.") from None
    if declared is not None and not (
        declared.degrees == given_crs.degrees if generic else declared.name == given_crs.name
    ):
        raise table.wrong(
            f"--crs says '{given}', but the file says that its coordinate system is '{declared.name}'; leave --crs "
            "out, or correct the file."
        )
    # "degrees" says less than the file does, so the name of the file stays.
    return declared if declared is not None and generic else given_crs


def in_degrees(x: FloatArray, y: FloatArray) -> BoolArray:
    """Return whether each pair can be a longitude, from -180 or from 0, and a latitude."""
    return (x >= -180) & (x <= 360) & (np.abs(y) <= 90)


def could_be_degrees(x: FloatArray, y: FloatArray) -> bool:
    """Return whether all coordinates of a table can be a longitude and a latitude.

    Examples
    --------
    >>> could_be_degrees(np.array([23.7]), np.array([38.0])), could_be_degrees(np.array([473000.0]), np.array([38.0]))
    (True, False)
    """
    return bool(in_degrees(x, y).all())


def unsaid_degrees_error(shown: str, what: str = "everybody") -> InputError:
    """Return the error for x and y that may be degrees or metres, where nobody says which."""
    return InputError(
        f"{shown}: nobody said what x and y are, and all of them could be degrees, which taken as metres put {what} "
        "within a few hundred metres; say --crs degrees (or a code such as EPSG:4326) or --crs planar for metres (in a "
        "recipe and in Python: crs)."
    )


def _look_up(crs: Crs) -> Crs:
    """Return the system with `degrees` known; UsageError, worded as the end of a sentence, where that is impossible."""
    import pyproj  # with its database, which few files need

    try:
        known = pyproj.CRS.from_user_input(crs.name)
    except pyproj.exceptions.CRSError:
        raise UsageError("this is not a coordinate system that is known; write for example EPSG:4326") from None
    if not (known.is_geographic or known.is_projected):
        raise UsageError("this is neither a geographic nor a projected coordinate system")
    units = {_unit(axis.unit_name) for axis in known.axis_info[:2]}
    if known.is_geographic and units == {"degree"}:
        return WGS84 if known.equals("EPSG:4326", ignore_axis_order=True) else Crs(name=crs.name, degrees=True)
    if known.is_projected and units == {"metre"}:
        return Crs(name=crs.name, degrees=False)
    raise UsageError(f"its unit is {_words(units)}; only degrees and metres can be used, so convert the file")


def _unit(unit: Any) -> str:
    name = unit.get("name", "") if isinstance(unit, Mapping) else unit
    return {"meter": "metre", "m": "metre", "degrees": "degree"}.get(str(name).lower(), str(name).lower())


def _words(units: set[str]) -> str:
    return " and ".join(sorted(unit for unit in units if unit)) or "unknown"
