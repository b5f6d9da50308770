"""Model -> model: steps that make raw data fit for a method."""

from wayveil.prepare.bucket import Bucket
from wayveil.prepare.clean import Clean
from wayveil.prepare.cut import Cut
from wayveil.prepare.days import Days
from wayveil.prepare.ends import Ends
from wayveil.prepare.grid import Grid
from wayveil.prepare.mark import Mark
from wayveil.prepare.match import Match
from wayveil.prepare.resample import Resample
from wayveil.prepare.slices import Slices
from wayveil.prepare.split import Split
from wayveil.prepare.stops import FindStops
from wayveil.prepare.workplaces import Workplaces

__all__ = [
    "STEPS",
    "Bucket",
    "Clean",
    "Cut",
    "Days",
    "Ends",
    "FindStops",
    "Grid",
    "Mark",
    "Match",
    "Resample",
    "Slices",
    "Split",
    "Workplaces",
]

STEPS: dict[str, type] = {
    step.name: step
    for step in (Clean, Split, Resample, Mark, Grid, Cut, Bucket, Match, Slices, FindStops, Workplaces, Days, Ends)
}
"""Every preparation step by its name on the command line and in recipes."""
