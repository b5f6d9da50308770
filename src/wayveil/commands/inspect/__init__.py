"""`wayveil inspect`: what a file is, what must be asked, and a recipe for it."""

from wayveil.commands.inspect.inspect_table import (
    answer_question,
    choose_settings,
    inspect_file,
    inspect_frame,
    write_recipe,
)
from wayveil.commands.inspect.inspection import Answer, Inspection, Question

__all__ = [
    "Answer",
    "Inspection",
    "Question",
    "answer_question",
    "choose_settings",
    "inspect_file",
    "inspect_frame",
    "write_recipe",
]
