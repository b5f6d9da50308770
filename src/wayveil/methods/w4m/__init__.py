"""Wait For Me: clustering and editing in space and time."""

from wayveil.methods.w4m.w4m import W4m

__all__ = ["W4m"]
