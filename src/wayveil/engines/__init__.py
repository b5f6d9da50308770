"""Where work runs; the only code that will know a cluster."""

from wayveil.engines.local import LocalEngine

__all__ = ["LocalEngine"]
