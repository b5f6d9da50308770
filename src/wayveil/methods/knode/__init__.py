"""k-anonymous boxes by partitioning a trajectory graph."""

from wayveil.methods.knode.knode import Knode

__all__ = ["Knode"]
