"""k-anonymous boxes by matching points."""

from wayveil.methods.tga.tga import Tga

__all__ = ["Tga"]
