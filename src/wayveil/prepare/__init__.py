"""Model -> model: steps that make raw data fit for a method."""

from wayveil.prepare.places.ends import Ends
from wayveil.prepare.places.grid import Grid
from wayveil.prepare.places.home import Home
from wayveil.prepare.places.stop_finding import FindStops
from wayveil.prepare.places.workplaces import Workplaces
from wayveil.prepare.points.clean import Clean
from wayveil.prepare.points.mark import Mark
from wayveil.prepare.points.resample import Resample
from wayveil.prepare.points.split import Split
from wayveil.prepare.points.window import Window
from wayveil.prepare.roads.match import Match
from wayveil.prepare.roads.slices import Slices
from wayveil.prepare.times.bucket import Bucket
from wayveil.prepare.times.cut import Cut
from wayveil.prepare.times.days import Days
from wayveil.prepare.times.fold import Fold
from wayveil.prepare.zones.zones import Zones

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
        *(Clean, Split, Window, Resample, Mark, Grid, Cut, Fold, Bucket, Zones, Home),
        *(Match, Slices, FindStops, Workplaces, Days, Ends),
    )
}
"""Every preparation step by its name on the command line and in recipes."""
