"""Suppression against adversaries who hold projections."""

from wayveil.methods.gsup.gsup import Gsup

__all__ = ["Gsup"]
