"""Never Walk Alone: clustering and space translation."""

from wayveil.methods.nwa.nwa import Nwa

__all__ = ["Nwa"]
