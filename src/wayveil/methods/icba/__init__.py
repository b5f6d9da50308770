"""Clustering of routes with a local error."""

from wayveil.methods.icba.icba import Icba

__all__ = ["Icba"]
