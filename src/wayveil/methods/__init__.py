"""Model -> Published: one file per method."""

from wayveil.methods.kcl import Kcl
from wayveil.model import Method

__all__ = ["METHODS", "Kcl"]

METHODS: dict[str, type[Method]] = {
    Kcl.name: Kcl,
}
