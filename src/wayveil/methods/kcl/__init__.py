"""(K,C)_L-privacy by suppression: the method, how it chooses, and how it decides over a crowd in pieces."""

from wayveil.methods.kcl.kcl import Kcl

__all__ = ["Kcl"]
