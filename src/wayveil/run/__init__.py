"""The straight line from a recipe to a verified publication, and each of its steps on its own."""

from wayveil.api import Publication, publish
from wayveil.commands.single_steps import generate, loss, prepare_table, read, risk
from wayveil.pipeline.folder.verify_folder import Judgement, judge
from wayveil.pipeline.publish import NotPublished, Outcome
from wayveil.recipe.recipe import Recipe, load_recipe, make_recipe

__all__ = [
    "Judgement",
    "NotPublished",
    "Outcome",
    "Publication",
    "Recipe",
    "generate",
    "judge",
    "load_recipe",
    "loss",
    "make_recipe",
    "prepare_table",
    "publish",
    "read",
    "risk",
]
