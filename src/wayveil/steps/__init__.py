"""Model -> model: steps that make raw data fit for a method."""

from wayveil.steps.places.ends import Ends
from wayveil.steps.places.grid import Grid
from wayveil.steps.places.home import Home
from wayveil.steps.places.stop_finding import FindStops
from wayveil.steps.places.workplaces import Workplaces
from wayveil.steps.points.areas import Areas
from wayveil.steps.points.clean import Clean
from wayveil.steps.points.mark import Mark
from wayveil.steps.points.resample import Resample
from wayveil.steps.points.split import Split
from wayveil.steps.points.window import Window
from wayveil.steps.roads.match import Match
from wayveil.steps.roads.slices import Slices
from wayveil.steps.times.bucket import Bucket
from wayveil.steps.times.cut import Cut
from wayveil.steps.times.days import Days
from wayveil.steps.times.fold import Fold
from wayveil.steps.zones.zones import Zones

__all__ = [
    "STEPS",
    "Areas",
    "Bucket",
    "Clean",
    "Cut",
    "Days",
    "Ends",
    "FindStops",
    "Fold",
    "Grid",
    "Home",
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
        *(Clean, Areas, Split, Window, Resample, Mark, Grid, Cut, Fold, Bucket, Zones, Home),
        *(Match, Slices, FindStops, Workplaces, Days, Ends),
    )
}
"""Every preparation step by its name on the command line and in recipes."""
