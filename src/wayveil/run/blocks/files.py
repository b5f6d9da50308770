"""Values and data between two tasks: written whole or not at all."""

from __future__ import annotations

import os
import pickle
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any

from wayveil.model import Data, Routes, Stops

__all__ = ["load_data", "load_value", "save", "save_data"]

_SHARED: dict[type, str] = {Routes: "network", Stops: "taxonomy"}


def save(value: Any, target: Path) -> Path:
    """Write a value under another name first: a task that is killed leaves no half file for the one that follows."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{os.getpid()}-{threading.get_ident():x}-{target.name}")
    with part.open("wb") as stream:
        pickle.dump(value, stream, protocol=5)
    part.replace(target)
    return target


def load_value(path: Path) -> Any:
    """Return what `save` wrote; only files of this run are ever read."""
    with path.open("rb") as stream:
        return pickle.load(stream)


def save_data(data: Data, target: Path) -> Path:
    """Write data without the network or taxonomy, which all pieces share."""
    kept = {f.name: getattr(data, f.name) for f in fields(data) if f.init and f.name != _SHARED.get(type(data))}
    return save((type(data), {**kept, "attributes": dict(data.attributes)}), target)


def load_data(path: Path, shared: Any) -> Any:
    """Return what `save_data` wrote; `shared` is the network of routes, or the taxonomy of stops."""
    kind, kept = load_value(path)
    if kind in _SHARED:
        kept[_SHARED[kind]] = shared
    return kind(**kept)
