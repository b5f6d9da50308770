"""Where work runs; the only code that knows a cluster."""

from wayveil.engines.dask import DaskEngine
from wayveil.engines.local import LocalEngine
from wayveil.engines.scratch import Scratch, scratch_folder

__all__ = ["DaskEngine", "LocalEngine", "Scratch", "scratch_folder"]
