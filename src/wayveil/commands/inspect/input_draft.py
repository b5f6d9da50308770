"""The input of a recipe in the making: what the profile says, what is taken to be so, and what must be asked."""

from __future__ import annotations

import math
import re
from typing import Any

from wayveil.commands.inspect.file_frame import FileFrame
from wayveil.commands.inspect.inspection import Answer, Question
from wayveil.io.formats.file_formats import has_format
from wayveil.io.intake.column_words import column_meaning
from wayveil.io.intake.convert import OFFSET, TRIP, position_names
from wayveil.io.intake.person_candidates import Hint, Person, crowd_size
from wayveil.io.intake.profile import Profile
from wayveil.io.intake.text_folder import FILE
from wayveil.io.intake.time_columns import TimeGuess
from wayveil.io.tabular.time_formats import CLOCK, FORMAT_WORDS, NUMBER
from wayveil.pipeline.plain_input import list_input
from wayveil.recipe.recipe import InputSpec

__all__ = ["InputDraft"]

_SIDE_FILES = ("known", "places", "zones", "network", "taxonomy")
_MADE_NAME = re.compile(r" \(\d+\)$|^column_\d+$")
_PERIODS_S = (1, 5, 15, 30, 60)
_FORM_WORDS = {
    "degrees": "plain degrees",
    "e5": "hundred-thousandths of a degree",
    "e6": "millionths of a degree",
    "e7": "ten-millionths of a degree",
    "semicircles": "semicircles (2^31 of them are 180 degrees)",
    "sexagesimal": "degrees with minutes, seconds or the letter of the hemisphere",
    "pair": "two numbers in one text",
    "wkb": "WKB in hexadecimal digits",
}


class InputDraft:
    """The [input] of a recipe in the making.

    Parameters
    ----------
    profile : Profile
        What the table is.
    spec : InputSpec
        What somebody said of it already.
    file : FileFrame
        What the file itself says.
    shown : str
        How the user calls the file.
    notes : tuple of str
        What was taken from what lies beside the file.

    Attributes
    ----------
    content : dict
        The input as far as it is known; complete where there are no `questions` and no `refusal`.
    guesses : list of str
        What was taken to be so.
    """

    def __init__(
        self, profile: Profile, spec: InputSpec, file: FileFrame, shown: str, notes: tuple[str, ...] = ()
    ) -> None:
        self.profile = profile
        self.spec = spec
        self.file = file
        self.dialect = file.dialect
        self.shown = shown
        self.guesses = [*notes, *profile.guesses]
        self.questions: list[Question] = []
        self.content: dict[str, Any] = {"path": str(spec.path)}
        # In this order: a kind without recipes, columns that nobody can tell, data that cannot be published; each makes
        # the next question moot.
        self.refusal = self._other_kind()
        if not self.refusal:
            self._ask_hints()
            self.refusal = "" if self.questions else self._refusal()
        if not self.refusal and not self.questions:
            self._describe_input()
            self.refusal = self._few_people(self.n_people) if not self.questions else ""

    def _other_kind(self) -> str:
        """Return what to do with a table of a kind for which no recipe is written: boxes, routes, stops."""
        # Told by the columns that Wayveil itself writes.
        names = set(self._names())
        if {"seq", "t_min", "t_max"} <= names:
            return (
                f"{self.shown}: this is a published table of boxes, of which no method makes another publication; "
                "wayveil verify, risk and utility take the whole published folder."
            )
        if {"zone", "to_zone", "count"} <= names:
            return (
                f"{self.shown}: this is a published table of counts: a row is a number of people, nobody's visit, so "
                "no method makes another publication of it; wayveil verify takes the whole published folder."
            )
        if {"traj_id", "seq", "road"} <= names:
            return (
                f"{self.shown}: this is a table of routes on a road network, which inspect has no recipe for: wayveil "
                "publish icba FILE --network ROADS --out DIR takes it as it is."
            )
        if {"traj_id", "seq", "place"} <= names and not self.profile.times:
            return (
                f"{self.shown}: this is a table of stops in their order, which inspect has no recipe for: wayveil "
                "publish cast FILE --taxonomy TREE --out DIR takes it as it is."
            )
        return ""

    def _ask_hints(self) -> None:
        """Ask which column says when or where, where no name says it and something could."""
        hints = self.profile.hints
        if self.profile.layout != "unknown" or len(hints) != 1:
            return  # of a table that says neither when nor where nothing is to be asked
        for what, candidates in hints.items():
            answers = tuple(_hint_answer(hint) for hint in candidates)
            text = f"Which column says {what} somebody was? No name says it for certain."
            if answers:
                self.questions.append(Question(text=text, answers=answers))

    def _refusal(self) -> str:
        """Return why there is nothing to publish, whoever the people are."""
        seen = self.profile
        unread = [column.name for column in seen.columns if column.role == "" and _says_time(column.name)]
        if seen.layout == "places" and unread:
            return (
                f"{self.shown}: the times in '{unread[0]}' are of no form that is known, so nobody can say when "
                "somebody was where; write them as 2024-05-31 08:15:00."
            )
        if seen.layout == "places":
            return (
                f"{self.shown}: this is a table of places: it has coordinates and no times, so nobody moves in it. "
                "It can be given with --places."
            )
        if seen.layout == "unknown":
            lacking = " and ".join(
                word for word, columns in (("when", seen.times), ("where", seen.where)) if not columns
            )
            # Problems first (a column that nearly fits), then what is likeliest.
            reason = f" {' '.join(seen.problems)}" if seen.problems else ""
            likely = [hints[0].why for hints in seen.hints.values() if hints]
            reason += f" The likeliest: {'; '.join(likely)}." if likely else ""
            return (
                f"{self.shown}: no column says {lacking or 'where'} somebody was, so there is no movement to publish; "
                f"if one does, name it, as in --columns t=NAME,location=NAME.{reason}"
            )
        if not seen.people and not seen.trajectory and seen.layout != "trips" and "traj_id" not in self.spec.columns:
            return (
                f"{self.shown}: no column says which rows belong together (a person, a vehicle, a trip), and none has "
                "values that come again; name it with --columns user_id=NAME or traj_id=NAME. If all rows are of one "
                "person, nobody can be hidden among them."
            )
        day = seen.facts.get("tells_times_apart")
        if day:
            # Such a table has the hour and the day in two columns; the hour alone puts days on top of each other.
            return (
                f"{self.shown}: the time in '{seen.times[0].columns[0]}' comes again for the same person in many rows, "
                f"and '{day}' tells them apart, as a count of days does: make one column of both, such as the day "
                "times 24 plus the hour, and name it with --columns t=NAME."
            )
        # The most people that any reading gives: if even these are too few, no answer would help.
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

    @property
    def n_people(self) -> int:
        """How many people there are, as far as it is known who they are."""
        # Columns that have our names already are not in the mapping.
        columns = self.content.get("columns", {})
        column = columns.get("user_id", "user_id" if "user_id" in self._names() else None)
        if column is not None:
            # A person from another table cannot be counted here; it is taken that there are enough.
            return self.profile.column(column).distinct if column in self._names() else crowd_size(1000)
        # Each trip is a row, and without a column of people another person.
        if self.profile.layout == "trips":
            return self.profile.rows
        group = columns.get("traj_id", "traj_id")
        return self.profile.column(group).distinct if group in self._names() else self.profile.rows

    def _names(self) -> list[str]:
        return [column.name for column in self.profile.columns]

    def _describe_input(self) -> None:
        seen = self.profile
        spec = self.spec
        trips = seen.layout == "trips"
        # Names of places win over coordinates.
        self.content["kind"] = "trips" if trips else "visits" if "location" in seen.where else "points"
        who = self._who()
        columns: dict[str, str] = {}
        group = ""
        # A trip is one row: it has no column that puts rows together.
        if not trips:
            group = self._trajectory(who)
            columns["traj_id"] = group
        if who:
            columns["user_id"] = who
        self._describe_times(columns)
        # After the times and before positions: `_describe_positions` takes out what it describes itself.
        columns |= self._place_columns(seen.where)
        self._describe_positions(columns)
        if trips:
            columns |= self._place_columns(seen.beside)
        elif self._is_located():
            columns |= {f"location_{axis}": name for axis, name in seen.beside.items()}
        self._describe_crs()
        self._ask_longitude()
        self._describe_line()
        # Columns that have our names already need no mapping.
        self.content["columns"] = {ours: name for ours, name in columns.items() if name != ours}
        # A plain CSV file needs no dialect, and the recipe stays short.
        if self.dialect is not None and not (self.dialect.is_plain and self._is_read_as_it_is()):
            self._describe_dialect()
        self._describe_bad_rows(who, group)
        if seen.facts.get("rows_at_the_time_of_another") and not trips:
            self.content["on_duplicate_time"] = spec.on_duplicate_time or "first"
            again = seen.facts["rows_at_the_time_of_another"]
            lost = f": {again:,} of {seen.rows:,} rows are lost by that"
            self.guesses.append(f"Of rows of one trajectory at one time, the first is kept{lost}.")
        if spec.similar_ids:
            self.content["similar_ids"] = spec.similar_ids
        for name in _SIDE_FILES:
            if getattr(spec, name, None) is not None:
                self.content[name] = str(getattr(spec, name))

    def _trajectory(self, who: str) -> str:
        """Return the column of trajectories: what says so, the lines of trips, the person."""
        # What the profile found, what somebody said, the row itself where each row is a whole line, the person.
        group = self.profile.trajectory or self.spec.columns.get("traj_id", "")
        if not group and self.file.line is not None:
            group = TRIP
        if not group:
            group = who
        return group or (self.profile.people[0].column if self.profile.people else "")

    def _is_located(self) -> bool:
        """Whether named places have coordinates beside them, so that they can become zones; a table may say it, too."""
        return self.content["kind"] == "visits" and self.profile.fixed and self.spec.places is None

    def _place_columns(self, where: Any) -> dict[str, str]:
        """Return the columns that say where, by the names of the kind."""
        if self.profile.layout != "trips":
            return {ours: name for ours, name in where.items() if name != ours}
        # A trip has both ends in one row, so each of our names has a pair of columns.
        ends = {"location": ("origin", "destination"), "x": ("origin_x", "destination_x"),
                "y": ("origin_y", "destination_y")}  # fmt: skip
        return {end: name for ours, pair in where.items() for end, name in zip(ends[ours], pair, strict=True)}

    def _describe_dialect(self) -> None:
        dialect = self.dialect
        assert dialect is not None
        names = () if self.spec.dialect is None else self.spec.dialect.names
        if list_input(self.spec.path) and self.spec.dialect is None:
            return  # each file may have its own
        self.content["dialect"] = {
            "encoding": dialect.encoding, "separator": dialect.separator, "decimal": dialect.decimal,
            "header": dialect.header, "skip_lines": dialect.skip_lines, "comment": dialect.comment,
            **({"names": list(names)} if names else {}),
        }  # fmt: skip

    def _describe_bad_rows(self, who: str, group: str) -> None:
        """Leave bad rows out where there are any, and say so."""
        facts = self.profile.facts
        wrong = ["positions_that_are_no_numbers", "positions_outside_degrees", "trips_that_end_before_they_begin"]
        # Metres may be 0; degrees (0, 0) are in the sea, and mean that there was no fix.
        if self.profile.degrees is not False:
            wrong.append("positions_at_zero")
        bad = sum(time.bad for time in self.profile.times) + sum(facts.get(name, 0) for name in wrong)
        if self.content["kind"] != "trips":  # a trip may lack an end, and stays
            bad += facts.get("rows_without_place", 0) + sum(time.empty for time in self.profile.times)
        # Rows without a person or a trajectory cannot be given to anybody.
        missing_who = [name for name in (who, group) if name in self._names() and self.profile.column(name).missing]
        if bad or missing_who or self.spec.bad_rows == "drop":
            self.content["bad_rows"] = "drop"
            self.guesses.append("Rows whose time, place or person cannot be read are left out, and counted.")

    def _is_read_as_it_is(self) -> bool:
        if any(_MADE_NAME.search(name) for name in self._names()):
            return False  # two columns have one name, or one has none
        return has_format(self.spec.path, "csv") and all(time.plain for time in self.profile.times)

    def _describe_line(self) -> None:
        line = self.file.line
        if line is None:
            return
        text = f"How many seconds are there between two positions in '{line.column}'?"
        # The line says no period: everything in it depends on the answer.
        if math.isinf(line.every):
            answers = tuple(
                Answer(words=f"{seconds} s", option=f"--line-every {seconds}",
                       changes={"line": {"column": line.column, "every": float(seconds)}})
                for seconds in _PERIODS_S
            )  # fmt: skip
            self.questions.append(Question(text=text, answers=answers))
            return
        self.content["line"] = {"column": line.column, "every": line.every}
        self.guesses.append(
            f"Each row is a trip with all positions in '{line.column}', one every {line.every:g} s from its time on."
        )

    def _who(self) -> str:
        """Return the column of the person, "" where somebody else says who; ask where several could be."""
        spec = self.spec
        people = self.profile.people
        if spec.each_trajectory:
            self.content["owners"] = "each-trajectory"
            self.guesses.append("Each trajectory is another person: this was declared, and the promise says so.")
            return ""
        if spec.owner_tables:
            self.content["owners"] = [str(path) for path in spec.owner_tables]
            return ""
        if "user_id" in spec.columns:
            return spec.columns["user_id"]
        # Only where exactly one name says so is a column taken unasked: with a wrong person the promise would not be
        # true.
        named = [person for person in people if person.named and not person.shared]
        if len(named) == 1:
            self.guesses.append(f"The person is '{named[0].column}': {named[0].why}.")
            return named[0].column
        answers = [_person_answer(person) for person in people]
        if self.profile.trajectory or self.profile.layout == "trips" or not named or self.file.line is not None:
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
        answered = self.spec.times.get("t")
        trips = self.profile.layout == "trips"
        names = ("t_start", "t_end") if trips else ("t",)
        times = self.profile.times if self.file.line_time is None else (self.file.line_time,)
        for name, time in zip(names, times, strict=False):
            fits = time.fits
            form = answered.format if answered is not None and answered.format else None
            # Several forms fit, as day and month do until one is above 12: it is asked, and not guessed.
            if form is None and len(fits) > 1:
                self._ask_day_or_month(time)
                continue
            form = form or (fits[0].format if fits else NUMBER)
            zone = answered.zone if answered is not None else None
            if zone is None:
                # Seconds since 1970 have no zone; texts with +02:00 bring theirs.
                zone = OFFSET if fits and fits[0].has_offset and not form.startswith("epoch") else ""
            # What can be read without a conversion is named as a column; all else is described.
            plain_text = self.dialect is None or (self.dialect.is_plain and answered is None)
            as_it_is = time.plain and len(time.columns) == 1 and plain_text and not time.offset
            if as_it_is and not trips and self.file.line is None:
                columns[name] = time.columns[0]
            else:
                self.content.setdefault("times", {})[name] = {
                    "columns": list(time.columns),
                    "format": form,
                    **({"zone": zone} if zone else {}),
                    **({"minutes": time.offset} if time.offset else {}),
                }
            self.guesses.append(_time_words(time, form, zone))

    def _ask_day_or_month(self, time: TimeGuess) -> None:
        answers = tuple(
            Answer(words=words, option=f"--time-format {form}",
                   changes={"times": {"t": {"columns": [time.columns[0]], "format": form}}})
            for form, words in (("dmy", "the day first"), ("mdy", "the month first"))
        )  # fmt: skip
        text = f"Does the day or the month come first in '{time.columns[0]}'?"
        # Start and end of a trip are asked about together: an answer is for both.
        if all(question.text.split(" in ")[0] != text.split(" in ")[0] for question in self.questions):
            self.questions.append(Question(text=text, answers=answers))

    def _describe_positions(self, columns: dict[str, str]) -> None:
        """Say how coordinates are written that are no plain numbers; ask where they can be read in several ways."""
        for end, guess in self.profile.positions.items():
            # These columns are described here, with their form, and so are no plain columns any more.
            for ours in position_names(end) if end != "point" else ("x", "y", "geometry"):
                columns.pop(ours, None)
            where = " and ".join(f"'{name}'" for name in guess.columns)
            if len(guess.forms) > 1:
                answers = tuple(_position_answer("format", form, _FORM_WORDS[form]) for form in guess.forms)
                self._ask_once(f"What do the whole numbers in {where} count?", answers)
            if len(guess.orders) > 1:
                orders = (("latlon", "the latitude"), ("lonlat", "the longitude"))
                answers = tuple(_position_answer("order", order, words) for order, words in orders)
                self._ask_once(f"Which comes first in {where}? Both are possible.", answers)
            # One column holds both numbers, so their order matters.
            order = {"order": guess.orders[0]} if len(guess.columns) == 1 else {}
            self.content.setdefault("positions", {})[end] = {
                "columns": list(guess.columns),
                "format": guess.forms[0],
                **order,
            }
            self.guesses.append(f"The position in {where} is written as {_FORM_WORDS[guess.forms[0]]}.")

    def _ask_once(self, text: str, answers: tuple[Answer, ...]) -> None:
        if all(question.answers != answers for question in self.questions):
            self.questions.append(Question(text=text, answers=answers))

    def _describe_crs(self) -> None:
        # Places by name have no system, except where coordinates stand beside the names.
        named = "location" in self.profile.where
        if named and not (self.profile.layout == "trips" and self.profile.beside) and not self._is_located():
            return
        if self._is_located():
            self.guesses.append("The coordinates beside the places say where they are, so that they can become zones.")
        if self.spec.crs is not None:
            self.content["crs"] = self.spec.crs
        elif self.file.crs:
            self.guesses.append(f"The coordinates are {self.file.crs}: the file says so.")
        elif "location" in self.profile.where or self.file.line is not None:
            self.content["crs"] = "EPSG:4326"
        # Numbers that could be both are asked about: a mistake would be one by a factor of 100,000.
        elif self.profile.degrees is None:
            answers = (
                Answer(words="degrees", option="--crs degrees", changes={"crs": "degrees"}),
                Answer(words="metres", option="--crs planar", changes={"crs": "planar"}),
            )
            self.questions.append(
                Question(text="Are the coordinates degrees or metres? Both could be.", answers=answers)
            )
        elif self.profile.degrees:
            self.content["crs"] = "EPSG:4326"
            self.guesses.append("The coordinates are degrees (EPSG:4326): their names and ranges say so.")
        else:
            self.content["crs"] = "planar"
            self.guesses.append("The coordinates are metres: they are too large for degrees.")

    def _ask_longitude(self) -> None:
        pair = self.profile.unordered
        if pair is None:
            return
        first, second = pair
        answers = tuple(
            Answer(words=f"'{lon}' is the longitude, '{lat}' the latitude", option=f"--columns x={lon},y={lat}",
                   changes={"columns": {"x": lon, "y": lat}})
            for lon, lat in ((first, second), (second, first))
        )  # fmt: skip
        self.questions.append(Question(text="Which column is the longitude? Both ranges could be.", answers=answers))


def _says_time(name: str) -> bool:
    meaning = column_meaning(name)
    return meaning is not None and meaning.role == "time"


def _position_answer(key: str, value: str, words: str) -> Answer:
    return Answer(words=words, option=f"--position-{key} {value}", changes={"positions": {"point": {key: value}}})


def _hint_answer(hint: Hint) -> Answer:
    named = ",".join(f"{ours}={name}" for ours, name in hint.columns.items())
    degrees = "x" in hint.columns
    return Answer(
        words=hint.why,
        option=f"--columns '{named}'" + (" --crs degrees" if degrees else ""),
        changes={"columns": dict(hint.columns), **({"crs": "degrees"} if degrees else {})},
    )


def _person_answer(person: Person) -> Answer:
    words = "each file is a person" if person.column == FILE else f"'{person.column}' is the person"
    return Answer(
        words=f"{words}: {person.why}",
        option=f"--columns 'user_id={person.column}'",
        changes={"columns": {"user_id": person.column}},
    )


def _time_words(time: TimeGuess, form: str, zone: str) -> str:
    words = FORMAT_WORDS[form]
    names = " and ".join(f"'{name}'" for name in time.columns)
    if form == NUMBER:
        return f"The time in {names} is a plain number."
    if form == CLOCK:
        return f"The time in {names} is a time of day without a date, in seconds since midnight."
    if time.offset:
        return f"The time in {names} is UTC ({words}); local time is taken, by the minutes in '{time.offset}'."
    if form.startswith("epoch"):
        return f"The time in {names} is in {words}, UTC."
    if zone == OFFSET:
        return f"The time in {names} is {words}, with its own UTC offset."
    where = f"in {zone}" if zone else "local time; a zone can be given with --time-zone"
    if time.fits and time.fits[0].has_abbreviation and not zone:
        where = "local time; the letters behind it, such as CET, are not heeded: --time-zone says a zone"
    return f"The time in {names} is {words}, {where}."
