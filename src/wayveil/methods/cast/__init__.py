"""CAST: c-safety over a taxonomy of places."""

from wayveil.methods.cast.cast import Cast

__all__ = ["Cast"]
