"""A file that nobody described: what it is, the questions that are left, and a recipe that publishes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.commands.ladder import ENOUGH, Candidate, Choice, Trial, choose_candidate
from wayveil.commands.table_files import check_file, write_file
from wayveil.engines import scratch_folder
from wayveil.errors import InputError
from wayveil.io.formats.registry import holds_format, open_source
from wayveil.io.formats.vector_files import VECTOR_FILES, convert_vector
from wayveil.io.intake.convert import OFFSET, Layout, plain_text, scan_text
from wayveil.io.intake.dialect import SEPARATORS, Dialect
from wayveil.io.intake.profile import Person, Profile, TimeGuess, crowd_size, profile_table
from wayveil.io.intake.time_formats import CLOCK, NUMBER
from wayveil.io.tabular.owner_columns import split_words
from wayveil.pipeline.plain_input import find_dialect, is_text, name_input, place_input
from wayveil.recipe.recipe import STANDARD_INPUT, InputSpec, make_input, make_recipe
from wayveil.recipe.toml import to_toml

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

_SHARED_THINGS = {"bike", "bikeid", "bicycle", "scooter", "ebike"}
_PERIODS_S = {"10s": 10, "30s": 30, "1min": 60, "5min": 300, "15min": 900, "1h": 3600}
_EXAMPLES = 3
_OFTEN = 0.5
_RARE_S = 900
_CELL_M = 500
_FOLDS = {"weekday-weekend": "working days and weekends", "day": "one typical day"}


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
            "recipe": self.content,
            **({"tried": [trial.to_json() for trial in self.trials]} if self.trials else {}),
            **({"examples": {name: list(values) for name, values in self.examples.items()}} if self.examples else {}),
        }

    def recipe_text(self, base: Path | None = None) -> str:
        """Return the recipe as commented TOML, with the path of the input as seen from a folder."""
        if self.content is None:
            raise InputError(self.refusal or self.question_sentence())
        content = {**self.content, "input": {**self.content["input"]}}
        path = Path(content["input"]["path"])
        if base is not None and path != STANDARD_INPUT:
            try:
                content["input"]["path"] = str(path.resolve().relative_to(base.resolve()))
            except ValueError:
                content["input"]["path"] = str(path.resolve())
        head = [f"# {self.file}: {self.format}, {self.profile.rows:,} rows.", "#", "# Taken to be so; correct it here:"]
        told = [f"# - {' '.join(guess.split())}" for guess in self.guesses]
        return "\n".join([*head, *told, "", to_toml(content)])

    def question_sentence(self) -> str:
        """Return the questions that are left as one sentence with the options to give."""
        first = self.questions[0]
        options = " or ".join(f"{answer.option} ({answer.words})" for answer in first.answers)
        more = f" {len(self.questions) - 1} more will follow." if len(self.questions) > 1 else ""
        return f"{self.file}: {first.text} Say {options}.{more}"


def inspect_file(spec: InputSpec, *, values: bool = False) -> Inspection:
    """Look at the file of an input, of which anything may be said already.

    Raises
    ------
    InputError
        If the file cannot be read at all.
    """
    shown = name_input(spec.path)
    path = place_input(spec.path)
    with scratch_folder() as folder:
        frame, words, dialect, facts = _read(spec, path, shown, folder)
        said = _said(spec, frame.columns)
        profile = profile_table(frame, geometry=facts.get("geometry"), said=said)
    examples = {name: _examples(frame[name]) for name in frame.columns} if values else {}
    draft = _Draft(profile, spec, dialect, facts, shown, path)
    return draft.inspection(words, examples)


def inspect_frame(frame: pl.DataFrame, *, values: bool = False, **said: Any) -> Inspection:
    """Look at a table in memory; there is no recipe without a file."""
    spec = InputSpec(path=Path("table.parquet"), **said)
    profile = profile_table(frame, said=_said(spec, frame.columns))
    examples = {name: _examples(frame[name]) for name in frame.columns} if values else {}
    draft = _Draft(profile, spec, None, {}, "table", Path("table.parquet"))
    return draft.inspection("a table in memory", examples)


def answer_question(spec: InputSpec, answer: Answer) -> InputSpec:
    """Return an input with an answer in it."""
    said = spec.model_dump(exclude_defaults=True)
    changes = {**answer.changes}
    if "columns" in changes:
        changes["columns"] = {**spec.columns, **changes["columns"]}
    return make_input({**said, **changes})


def choose_settings(seen: Inspection, progress: Callable[[str], None] = lambda line: None) -> Inspection:
    """Return an inspection with the finest settings that keep half of a sample of its file; see `ladder`."""
    if not seen.candidates:
        return seen
    choice = choose_candidate(seen.candidates, progress=progress)
    content = {**choice.taken.candidate.content}
    guesses = (*content["input"]["guesses"], _choice_words(choice))
    content["input"] = {**content["input"], "guesses": list(guesses)}
    return replace(seen, content=content, guesses=guesses, trials=choice.trials)


def _choice_words(choice: Choice) -> str:
    """Say what was tried, and what to do where little is left whatever the settings."""
    shares = choice.taken.shares
    left = " and ".join(f"{share:.0%} of {what}" for what, share in shares.items() if what != "people")
    if choice.enough:
        finer = len(choice.trials) - 1
        others = f"; {finer} finer {'setting' if finer == 1 else 'settings'} left less than half" if finer else ""
        return f"Tried before this was written: {left} that were read are left{others}."
    last = choice.taken.candidate.content
    located = last["input"]["kind"] == "points" or "places" in last["input"]
    why = (
        "too few people are at one place at one time, and coarser settings would say hardly anything"
        if located
        else "too many places have too few people; give coordinates of the places with --places, and they become zones"
    )
    return f"Little is left: the coarsest of {len(choice.trials)} settings leaves {left or 'nothing'}: {why}."


def write_recipe(seen: Inspection, out: Path, *, overwrite: bool = False) -> None:
    """Write the recipe of an inspection; InputError where questions are left."""
    check_file(out, overwrite=overwrite, endings=(".toml",))
    text = seen.recipe_text(out.parent)
    write_file(out, lambda path: path.write_text(text, encoding="utf-8"))


def _said(spec: InputSpec, names: list[str]) -> dict[str, str]:
    said = {ours: name for ours, name in spec.columns.items() if name in names}
    missing = sorted(name for name in spec.columns.values() if name not in names and "[" not in name)
    if missing:
        raise InputError(f"{name_input(spec.path)}: --columns names a column that is not there: {', '.join(missing)}.")
    times = spec.times.get("t")
    if times is not None and times.columns[0] in names:
        said["t"] = times.columns[0]
    return said


def _read(
    spec: InputSpec, path: Path, shown: str, folder: Path
) -> tuple[pl.DataFrame, str, Dialect | None, dict[str, Any]]:
    """Return the whole table, what its format is called, its dialect if it is text, and what the file itself says."""
    name = path.name.lower()
    known = holds_format(path) or name.endswith(VECTOR_FILES)
    if path.is_file() and not (known or name.endswith((".gz", ".zip")) or is_text(path)):
        raise InputError(
            f"{shown}: this is neither text nor a format that is known; write the table as CSV or Parquet."
        )
    if path.is_file() and (name.endswith((".csv", ".csv.gz")) or not known):
        dialect, _ = find_dialect(path, spec.dialect, shown)
        names = () if spec.dialect is None else spec.dialect.names
        with plain_text(path, dialect, folder) as text:
            lazy, _ = scan_text(shown, text, Layout(dialect=dialect, names=names))
            try:
                frame = lazy.collect()
            except pl.exceptions.PolarsError:
                raise InputError(f"{shown}: the text cannot be read as a table; check its quotation marks.") from None
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        packed = ", packed" if name.endswith((".gz", ".zip")) else ""
        words = f"text in {dialect.encoding}, separated by {SEPARATORS.get(dialect.separator, 'another sign')}{packed}"
        return _some_rows(frame, shown), words, dialect, {}
    if name.endswith(VECTOR_FILES):
        words = {".gpkg": "GeoPackage", ".shp": "Shapefile", ".fgb": "FlatGeobuf"}[path.suffix.lower()]
        path = convert_vector(path, folder, shown=shown)
    else:
        words = f"{path.suffix.lstrip('.') or 'a folder'} file" if path.is_file() else "a folder of files"
    try:
        source = open_source(path)
    except InputError as error:
        raise InputError(str(error).replace(str(path), shown)) from None
    named = [(str(i), name) for i, name in enumerate(source.table.names) if name]
    frame = source.table.lazy.select(pl.col(at).alias(name) for at, name in named).collect()
    crs = source.crs or source.assumed
    degrees = None if crs is None else crs.degrees
    facts = {"geometry": source.table.geometry, "crs": None if crs is None else crs.name, "degrees": degrees}
    return _some_rows(frame, shown), words, None, facts


def _some_rows(frame: pl.DataFrame, shown: str) -> pl.DataFrame:
    if not frame.height:
        raise InputError(f"{shown}: the file has a header but no rows; at least one row is needed.")
    return frame


def _examples(values: pl.Series) -> tuple[str, ...]:
    if values.dtype == pl.Binary or values.dtype.is_nested():
        return ()
    return tuple(str(value) for value in values.drop_nulls().unique(maintain_order=True).head(_EXAMPLES))


class _Draft:
    """A recipe in the making: what is known, what is guessed, what must be asked."""

    def __init__(
        self,
        profile: Profile,
        spec: InputSpec,
        dialect: Dialect | None,
        facts: Mapping[str, Any],
        shown: str,
        path: Path,
    ) -> None:
        self.profile = profile
        self.spec = spec
        self.dialect = dialect
        self.facts = facts
        self.shown = shown
        self.path = path
        self.guesses = list(profile.guesses)
        self.questions: list[Question] = []
        self.input: dict[str, Any] = {"path": str(spec.path)}
        self.steps: list[dict[str, Any]] = []

    def inspection(self, words: str, examples: Mapping[str, tuple[str, ...]]) -> Inspection:
        """Return what came of it."""
        refusal = self._refusal()
        content: Mapping[str, Any] | None = None
        candidates: tuple[Candidate, ...] = ()
        if not refusal:
            self._describe_input()
            refusal = self._few_people(self._n_people()) if not self.questions else ""
            if not self.questions and not refusal:
                content, candidates = self._recipe()
        return Inspection(
            file=self.shown,
            format=words,
            profile=self.profile,
            dialect=self.dialect,
            questions=tuple(self.questions),
            refusal=refusal,
            guesses=tuple(self.guesses) if content is None else tuple(content["input"]["guesses"]),
            content=content,
            examples=examples,
            candidates=candidates,
        )

    def _refusal(self) -> str:
        """Return why there is nothing to publish, whoever the people are."""
        seen = self.profile
        if seen.layout == "places":
            return (
                f"{self.shown}: this is a table of places: it has coordinates and no times, so nobody moves in it. "
                "It can be given with --places."
            )
        if seen.layout == "unknown":
            lacking = " and ".join(word for word, there in (("when", seen.times), ("where", seen.where)) if not there)
            reason = f" {' '.join(seen.problems)}" if seen.problems else ""
            return (
                f"{self.shown}: no column says {lacking or 'where'} somebody was, so there is no movement to publish; "
                f"if one does, name it, as in --columns t=NAME,location=NAME.{reason}"
            )
        if not seen.people and not seen.trajectory and seen.layout != "trips" and "traj_id" not in self.spec.columns:
            return (
                f"{self.shown}: no column says which rows belong together (a person, a vehicle, a trip); name it with "
                "--columns user_id=NAME or traj_id=NAME."
            )
        most = max((person.people for person in seen.people), default=0)
        if seen.trajectory in self._names():
            most = max(most, seen.column(seen.trajectory).distinct)
        return self._few_people(most) if most and seen.layout != "trips" else ""

    def _few_people(self, people: int) -> str:
        if crowd_size(people):
            return ""
        who = "one person" if people == 1 else f"{people} people"
        return (
            f"{self.shown}: the file is of {who}, and nobody can be hidden in a crowd of so few: whatever is published "
            "of it is of a known person. Put files of at least three people together."
        )

    def _n_people(self) -> int:
        # Columns that have our names already are not in the mapping.
        columns = self.input.get("columns", {})
        column = columns.get("user_id", "user_id" if "user_id" in self._names() else None)
        if column is not None:
            return self.profile.column(column).distinct if column in self._names() else crowd_size(1000)
        if self.profile.layout == "trips":
            return self.profile.rows
        group = columns.get("traj_id", "traj_id")
        return self.profile.column(group).distinct if group in self._names() else self.profile.rows

    def _names(self) -> list[str]:
        return [column.name for column in self.profile.columns]

    # The input

    def _describe_input(self) -> None:
        seen = self.profile
        spec = self.spec
        trips = seen.layout == "trips"
        by_place = "location" in seen.where
        self.input["kind"] = "visits" if by_place else "points"
        who = self._who()
        columns: dict[str, str] = {}
        group = "trip" if trips else seen.trajectory or spec.columns.get("traj_id") or (who if who else "")
        if not group and seen.people:
            group = seen.people[0].column
        columns["traj_id"] = group
        if who:
            columns["user_id"] = who
        self._describe_times(columns)
        if trips:
            self.input["ends"] |= {ours: list(pair) for ours, pair in seen.where.items()}
        else:
            columns |= {ours: name for ours, name in seen.where.items() if name != ours}
        self._describe_crs()
        self.input["columns"] = {ours: name for ours, name in columns.items() if name != ours}
        if self.dialect is not None and not (self.dialect.is_plain and self._is_read_as_it_is()):
            self.input["dialect"] = {
                "encoding": self.dialect.encoding, "separator": self.dialect.separator, "decimal": self.dialect.decimal,
                "header": self.dialect.header, "skip_lines": self.dialect.skip_lines, "comment": self.dialect.comment,
                **({"names": list(spec.dialect.names)} if spec.dialect is not None and spec.dialect.names else {}),
            }  # fmt: skip
        bad = sum(time.bad for time in seen.times) + seen.facts.get("rows_without_place", 0)
        missing_who = [name for name in (who, group) if name in self._names() and self.profile.column(name).missing]
        if bad or missing_who or spec.bad_rows == "drop":
            self.input["bad_rows"] = "drop"
            self.guesses.append("Rows whose time, place or person cannot be read are left out, and counted.")
        if seen.facts.get("rows_at_the_time_of_another") or trips:
            self.input["on_duplicate_time"] = spec.on_duplicate_time or "first"
            again = seen.facts.get("rows_at_the_time_of_another", 0)
            lost = f": {again:,} of {seen.rows:,} rows are lost by that" if again else ""
            self.guesses.append(f"Of rows of one trajectory at one time, the first is kept{lost}.")
        if spec.similar_ids:
            self.input["similar_ids"] = spec.similar_ids
        for name in ("known", "places", "network", "taxonomy"):
            if getattr(spec, name) is not None:
                self.input[name] = str(getattr(spec, name))

    def _is_read_as_it_is(self) -> bool:
        name = self.path.name.lower()
        return name.endswith((".csv", ".csv.gz")) and all(time.plain for time in self.profile.times)

    def _who(self) -> str:
        """Return the column of the person, "" where somebody else says who; ask where several could be."""
        spec = self.spec
        people = self.profile.people
        if spec.each_trajectory:
            self.input["owners"] = "each-trajectory"
            self.guesses.append("Each trajectory is another person: this was declared, and the promise says so.")
            return ""
        if spec.owner_tables:
            self.input["owners"] = [str(path) for path in spec.owner_tables]
            return ""
        if "user_id" in spec.columns:
            return spec.columns["user_id"]
        named = [person for person in people if person.named]
        if len(named) == 1 and not _SHARED_THINGS & set(split_words(named[0].column)):
            self.guesses.append(f"The person is '{named[0].column}': {named[0].why}.")
            return named[0].column
        answers = [_person_answer(person) for person in people]
        if self.profile.trajectory or self.profile.layout == "trips" or not named:
            words = (
                "each trip is another person" if self.profile.layout == "trips" else "each trajectory is another person"
            )
            answers.append(Answer(words=words, option="--each-trajectory-is-a-person",
                                  changes={"owners": "each-trajectory"}))  # fmt: skip
        why = "several columns could say it" if len(named) > 1 else "no column says it for certain"
        text = f"Who is the person behind a row? ({why}; a table that says it can be given with --owners)"
        self.questions.append(Question(text=text, answers=tuple(answers)))
        return ""

    def _describe_times(self, columns: dict[str, str]) -> None:
        seen = self.profile
        answered = self.spec.times.get("t")
        trips = seen.layout == "trips"
        names = ("t_start", "t_end") if trips else ("t",)
        if trips:
            self.input["ends"] = {"t": list(names)}
        for name, time in zip(names, seen.times, strict=False):
            fits = time.fits
            form = answered.format if answered is not None and answered.format else None
            if form is None and len(fits) > 1:
                self._ask_day_or_month(time)
                continue
            form = form or (fits[0].format if fits else NUMBER)
            zone = answered.zone if answered is not None else None
            if zone is None:
                zone = OFFSET if fits and fits[0].has_offset and not form.startswith("epoch") else ""
            as_it_is = time.plain and len(time.columns) == 1 and not trips
            plain_text = self.dialect is not None and self.dialect.is_plain and answered is None
            if as_it_is and (self.dialect is None or plain_text):
                columns[name] = time.columns[0]
            else:
                self.input.setdefault("times", {})[name] = {
                    "columns": list(time.columns), "format": form, **({"zone": zone} if zone else {})
                }  # fmt: skip
            self.guesses.append(_time_words(time, form, zone))

    def _ask_day_or_month(self, time: TimeGuess) -> None:
        answers = tuple(
            Answer(words=words, option=f"--time-format {form}",
                   changes={"times": {"t": {"columns": [time.columns[0]], "format": form}}})
            for form, words in (("dmy", "the day first"), ("mdy", "the month first"))
        )  # fmt: skip
        text = f"Does the day or the month come first in '{time.columns[0]}'?"
        if all(question.text.split(" in ")[0] != text.split(" in ")[0] for question in self.questions):
            self.questions.append(Question(text=text, answers=answers))

    def _describe_crs(self) -> None:
        if "location" in self.profile.where:
            return
        if self.spec.crs is not None:
            self.input["crs"] = self.spec.crs
        elif self.facts.get("crs"):
            self.guesses.append(f"The coordinates are {self.facts['crs']}: the file says so.")
        elif self.profile.degrees is None:
            answers = (
                Answer(words="degrees", option="--crs degrees", changes={"crs": "degrees"}),
                Answer(words="metres", option="--crs planar", changes={"crs": "planar"}),
            )
            self.questions.append(
                Question(text="Are the coordinates degrees or metres? Both could be.", answers=answers)
            )
        elif self.profile.degrees:
            self.input["crs"] = "EPSG:4326"
            self.guesses.append("The coordinates are degrees (EPSG:4326): their names and ranges say so.")
        else:
            self.input["crs"] = "planar"
            self.guesses.append("The coordinates are metres: they are too large for degrees.")

    # Steps and method

    def _recipe(self) -> tuple[dict[str, Any], tuple[Candidate, ...]]:
        """Return the recipe, and what can be tried in its place; of candidates, the coarsest is the recipe."""
        seen = self.profile
        k = crowd_size(self._n_people())
        form = seen.times[0].fits[0].format if seen.times and seen.times[0].fits else NUMBER
        dated = form not in (NUMBER, CLOCK)
        rare = (seen.facts.get("seconds_between_rows") or _RARE_S) >= _RARE_S
        apart = (seen.facts.get("people_move_at_one_time") or 0.0) < _OFTEN
        visits = self.input["kind"] == "visits" or seen.layout == "trips"
        if not visits and not (dated and (apart or rare)):
            window = self._prepare_points(dated)
            words = f"The method knode with k = {k}: moderate; compare others with wayveil compare."
            return self._content(self.input, self.steps, {"name": "knode", "k": k, "window": window}, words), ()
        if not visits:
            why = (
                "People hardly ever move at the same time"
                if apart
                else "Positions are too far apart in time to be joined by lines"
            )
            self.guesses.append(f"{why}: positions become visits to zones.")
        if self._n_people() < 5 * k:
            few = f"{self._n_people()} people are few to hide among, so that only coarse zones and times are left."
            self.guesses.append(few)
        candidates = []
        for source, steps, order, words in self._rungs(form, k, sparse=visits or rare):
            known = "one visit" if order == 1 else f"{order} visits"
            hidden = f"who knows {known} of a trajectory finds {k} people"
            told = f"Resolution: {words}. The method kcl with k = {k}, l = {order}: {hidden}."
            content = self._content(source, steps, {"name": "kcl", "k": k, "l": order}, told)
            candidates.append(Candidate(content=content, words=f"{words}, l = {order}"))
        return {**candidates[-1].content}, tuple(candidates)

    def _content(
        self, source: Mapping[str, Any], steps: list[dict[str, Any]], method: dict[str, Any], words: str
    ) -> dict[str, Any]:
        content: dict[str, Any] = {
            "title": f"Publication of {self.spec.path.name}",
            "input": {**source, "guesses": [*self.guesses, words]},
            **({"prepare": steps} if steps else {}),
            "method": method,
            "output": {"path": f"{self.spec.path.name.split('.')[0] or 'published'}-published"},
        }
        make_recipe(content)
        return content

    def _rungs(
        self, form: str, k: int, *, sparse: bool
    ) -> Iterator[tuple[Mapping[str, Any], list[dict[str, Any]], int, str]]:
        """Yield inputs, steps, l and the resolution in words, the finest first.

        Places with names come first, as they are: stations are shared by many.  Where it is known where places are,
        zones with more and more people follow.  Times become wider on the way.  Only the last rung gives up l = 2.
        """
        times = [*self._time_rungs(form)]
        by_name = self.input["kind"] == "visits"
        located = self._located_input()
        if by_name:
            for steps, words in times if located is None else times[:2]:
                yield self.input, steps, 2, f"places as they are, {words}"
        if located is None:
            yield self.input, times[-1][0], 1, f"places as they are, {times[-1][1]}"
            return
        crowds = (5, 10, 20, 30, 60, 60)
        everybody = self._n_people()
        for number, crowd in enumerate(crowds):
            steps, words = times[min(number, len(times) - 1)]
            # Where there are few people, zones of all of them would be finer than the ladder can be: begin with k.
            people = min(crowd * k, everybody) if number or everybody >= 5 * k else k
            zones = {"step": "zones", "cell": _CELL_M, "people": people}
            first: list[dict[str, Any]] = []
            if located["kind"] == "points":
                first, steps = self._cells(steps, form, sparse=sparse)
                words = words if "keep" not in first[0] else f"{words}, of each part the square of most time"
            told = f"zones of {_CELL_M} m or more with at least {people} people, {words}"
            yield located, [*first, *steps, zones], 2 if number < len(crowds) - 1 else 1, told

    def _time_rungs(self, form: str) -> Iterator[tuple[list[dict[str, Any]], str]]:
        if form in (NUMBER, CLOCK):
            for width in (900, 3600, 10_800, 21_600, 172_800) if form == CLOCK else self._number_widths():
                yield [{"step": "bucket", "width": width}], f"times by {width}{' s' if form == CLOCK else ''}"
            return
        folds = (
            ("weekday-weekend", "1h"), ("weekday-weekend", "4h"), ("day", "4h"), ("day", "12h"), ("day", "1d"),
        )  # fmt: skip
        for to, part in folds:
            parts = "no time of the day" if part == "1d" else f"parts of {part}"
            yield [{"step": "fold", "to": to, "part": part}], f"dates as {_FOLDS[to]}, {parts}"

    def _number_widths(self) -> list[int]:
        """Return widths for plain numbers: at most five, the last no smaller than all the time there is."""
        span = self.profile.facts.get("numbers_of_time", 100_000)
        widths = [1]
        while widths[-1] < span:
            widths.append(widths[-1] * (5 if len(widths) % 2 else 2))
        return widths[-5:]

    def _cells(
        self, steps: list[dict[str, Any]], form: str, *, sparse: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the step that makes visits of positions, and the steps behind it.

        Of check-ins each one counts, so almost none is joined with another.  Of tracks each part of the day has the
        square of most time; its parts begin at midnight, as those of `grid` do.
        """
        step = steps[0]
        if form in (NUMBER, CLOCK):
            return [{"step": "grid", "cell": _CELL_M, "bucket": 1}], steps
        if sparse:
            return [{"step": "grid", "cell": _CELL_M, "bucket": "1min"}], steps
        return [{"step": "grid", "cell": _CELL_M, "bucket": step["part"], "keep": "longest"}], [{**step, "start": 0}]

    def _located_input(self) -> Mapping[str, Any] | None:
        """Return an input of which it is known where the places are; None where nobody knows."""
        if self.input["kind"] == "points" or "places" in self.input:
            return self.input
        beside = self.profile.beside
        if not beside or "location" in self.spec.columns:
            return None
        source: dict[str, Any] = {**self.input, "kind": "points", "crs": "EPSG:4326"}
        if self.profile.layout == "trips":
            ends: dict[str, Any] = {ours: list(pair) for ours, pair in beside.items()}
            source["ends"] = {"t": self.input["ends"]["t"], **ends}
        else:
            named: dict[str, Any] = {ours: n for ours, n in self.input["columns"].items() if ours != "location"}
            source["columns"] = {**named, **{ours: name for ours, name in beside.items() if name != ours}}
        return source

    def _split_at_gaps(self) -> None:
        if not self.profile.trajectory and self.profile.facts.get("gaps_over_30_minutes"):
            self.steps.append({"step": "split", "gap": "30min"})
            self.guesses.append("No column says where a trip ends: it ends where nothing was recorded for 30 minutes.")

    def _prepare_points(self, dated: bool) -> str | int:
        gap = self.profile.facts.get("seconds_between_rows")
        if not dated:
            self.steps.append({"step": "resample", "period": 60})
            self.guesses.append("Times are numbers, taken to be seconds; positions are put on every 60th.")
            return 3600
        self._split_at_gaps()
        period = next((name for name, seconds in _PERIODS_S.items() if gap is not None and gap <= seconds), "1h")
        self.steps.append({"step": "resample", "period": period})
        width = "1h" if self.profile.facts.get("days", 1) <= 1 else "1d"
        self.guesses.append(f"Positions are put on every {period}; trips that begin within {width} can be one group.")
        return width


def _person_answer(person: Person) -> Answer:
    return Answer(
        words=f"'{person.column}' is the person",
        option=f"--columns 'user_id={person.column}'",
        changes={"columns": {"user_id": person.column}},
    )


def _time_words(time: TimeGuess, form: str, zone: str) -> str:
    names = " and ".join(f"'{name}'" for name in time.columns)
    if form == NUMBER:
        return f"The time in {names} is a plain number."
    if form == CLOCK:
        return f"The time in {names} is a time of day without a date, in seconds since midnight."
    if form.startswith("epoch"):
        return f"The time in {names} counts from 1970 ({form}), in UTC."
    if zone == OFFSET:
        return f"The time in {names} is a date ({form}) with its own UTC offset."
    where = f"in {zone}" if zone else "by the clock on the wall; a zone can be given with --time-zone"
    return f"The time in {names} is a date ({form}), {where}."
