"""What `wayveil inspect` says of a file: the profile, the questions that are left, and the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wayveil.commands.ladder import ENOUGH, Candidate, Trial
from wayveil.errors import InputError
from wayveil.io.intake.dialect import Dialect
from wayveil.io.intake.profile import Profile
from wayveil.recipe.recipe import STANDARD_INPUT
from wayveil.recipe.toml import to_toml

__all__ = ["Answer", "Inspection", "Question"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer to a question: in words, as an option, and as what it changes in the description of the input."""

    words: str
    option: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What only a person can say, because it changes the meaning."""

    text: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Inspection:
    """What a file is, what is left to be asked, and the recipe for it.

    Parameters
    ----------
    file : str
        How the user calls it.
    format : str
        Such as "text, separated by semicolons".
    profile : Profile
    questions : tuple of Question
        Left to be answered; without answers there is no recipe.
    refusal : str
        Why the file cannot be published on its own, or "".
    guesses : tuple of str
        What was taken to be so.
    content : mapping or None
        The recipe; its settings are those of the coarsest candidate until `choose_settings` tried them.
    candidates : tuple of Candidate
        Recipes with other settings, the finest first; none where there is nothing to choose.
    trials : tuple of Trial
        What was tried.
    examples : mapping
        Values of columns, where they were asked for.
    addresses : mapping
        What was given in object storage, by the copy on this machine that was looked at.
    """

    file: str
    format: str
    profile: Profile
    dialect: Dialect | None
    questions: tuple[Question, ...]
    refusal: str
    guesses: tuple[str, ...]
    content: Mapping[str, Any] | None
    examples: Mapping[str, tuple[str, ...]]
    candidates: tuple[Candidate, ...] = ()
    trials: tuple[Trial, ...] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        asks = len(self.questions)
        ends = "cannot be published" if self.refusal else f"{asks} questions" if asks else "a recipe is ready"
        return f"Inspection({self.file}: {self.profile.layout}, {self.profile.rows:,} rows; {ends})"

    @property
    def little_left(self) -> bool:
        """Whether settings were tried and none kept half; the last guess says so."""
        return bool(self.trials) and self.trials[-1].kept < ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values; no value of the table unless examples were asked for."""
        return {
            "file": self.file,
            "format": self.format,
            "dialect": None if self.dialect is None else asdict(self.dialect),
            **{key: value for key, value in asdict(self.profile).items() if key != "guesses"},
            "guesses": list(self.guesses),
            "questions": [
                {"question": q.text, "answers": [{"answer": a.words, "option": a.option} for a in q.answers]}
                for q in self.questions
            ],
            "cannot_be_published": self.refusal or None,
            "recipe": self.content
            if self.content is None
            else {**self.content, "input": self._with_addresses(self.content["input"])},
            **({"tried": [trial.to_json() for trial in self.trials]} if self.trials else {}),
            **({"examples": {name: list(values) for name, values in self.examples.items()}} if self.examples else {}),
        }

    def recipe_text(self, base: Path | None = None) -> str:
        """Return the recipe as commented TOML, with the path of the input as seen from a folder."""
        if self.content is None:
            raise InputError(self.refusal or self.question_sentence())
        content = {**self.content, "input": {**self.content["input"]}}
        path = Path(content["input"]["path"])
        if self.addresses:
            content["input"] = self._with_addresses(content["input"])
        elif base is not None and path != STANDARD_INPUT:
            try:
                content["input"]["path"] = str(path.resolve().relative_to(base.resolve()))
            except ValueError:
                content["input"]["path"] = str(path.resolve())
        head = [f"# {self.file}: {self.format}, {self.profile.rows:,} rows.", "#", "# Taken to be so; correct it here:"]
        comments = [f"# - {' '.join(guess.split())}" for guess in self.guesses]
        return "\n".join([*head, *comments, "", to_toml(content)])

    def _with_addresses(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input of a recipe with the addresses that were given, in place of copies on this machine."""

        def given(value: Any) -> Any:
            if isinstance(value, list):
                return [given(one) for one in value]
            return self.addresses.get(value, value) if isinstance(value, str) else value

        return {key: given(value) for key, value in source.items()}

    def question_sentence(self) -> str:
        """Return the questions that are left as one sentence with the options to give."""
        first = self.questions[0]
        options = " or ".join(f"{answer.option} ({answer.words})" for answer in first.answers)
        more = f" {len(self.questions) - 1} more will follow." if len(self.questions) > 1 else ""
        return f"{self.file}: {first.text} Say {options}.{more}"
