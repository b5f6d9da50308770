"""Parts of routes in a prefix tree, the baseline."""

from wayveil.methods.prefix.prefix import Prefix

__all__ = ["Prefix"]
