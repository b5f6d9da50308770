"""Model -> model: steps that make raw data fit for a method."""

from wayveil.prepare.bucket import Bucket
from wayveil.prepare.clean import Clean
from wayveil.prepare.grid import Grid
from wayveil.prepare.resample import Resample
from wayveil.prepare.split import Split

__all__ = ["STEPS", "Bucket", "Clean", "Grid", "Resample", "Split"]

STEPS: dict[str, type] = {step.name: step for step in (Clean, Split, Resample, Grid, Bucket)}
"""Every preparation step by its name on the command line and in recipes."""
