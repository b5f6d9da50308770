"""Clustering of routes with a global error."""

from wayveil.methods.cba.cba import Cba

__all__ = ["Cba"]
