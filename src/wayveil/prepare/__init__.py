"""Model -> model: steps that make raw data fit for a method."""

from wayveil.prepare.bucket import Bucket
from wayveil.prepare.clean import Clean
from wayveil.prepare.cut import Cut
from wayveil.prepare.days import Days
from wayveil.prepare.ends import Ends
from wayveil.prepare.fold import Fold
from wayveil.prepare.grid import Grid
from wayveil.prepare.mark import Mark
from wayveil.prepare.match import Match
from wayveil.prepare.resample import Resample
from wayveil.prepare.slices import Slices
from wayveil.prepare.split import Split
from wayveil.prepare.stops import FindStops
from wayveil.prepare.window import Window
from wayveil.prepare.workplaces import Workplaces
from wayveil.prepare.zones import Zones

__all__ = [
    "STEPS",
    "Bucket",
    "Clean",
    "Cut",
    "Days",
    "Ends",
    "FindStops",
    "Fold",
    "Grid",
    "Mark",
    "Match",
    "Resample",
    "Slices",
    "Split",
    "Window",
    "Workplaces",
    "Zones",
]

STEPS: dict[str, type] = {
    step.name: step
    for step in (
        *(Clean, Split, Window, Resample, Mark, Grid, Cut, Fold, Bucket, Zones),
        *(Match, Slices, FindStops, Workplaces, Days, Ends),
    )
}
"""Every preparation step by its name on the command line and in recipes."""
