"""Where work runs; the only code that knows a cluster."""

from wayveil.engines.dask import DaskEngine
from wayveil.engines.local import LocalEngine

__all__ = ["DaskEngine", "LocalEngine"]
