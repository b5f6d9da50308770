"""File <-> model: the tables people have, and the tables that are published."""

from wayveil.io.columns import ReadOptions
from wayveil.io.output import write_visits
from wayveil.io.published import read_published, write_published
from wayveil.io.visits import Loaded, guess_kind, read_visits

__all__ = ["Loaded", "ReadOptions", "guess_kind", "read_published", "read_visits", "write_published", "write_visits"]
