"""Tables of counts."""

from wayveil.methods.counts.counts import Counts

__all__ = ["Counts"]
