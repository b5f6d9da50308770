"""Movement that is written into tables as publishers ship them, and whether it is read back from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.commands.inspect import inspect_file
from wayveil.pipeline.input import load
from wayveil.recipe.recipe import make_input

DAY = datetime(2024, 3, 18)  # the 18th can be no month
EACH = ("--each-trajectory-is-a-person",)
_EPOCH = datetime(1970, 1, 1)
_PEOPLE = {"points": 12, "visits": 40}
_TICKS = {"utc": 1, "local": 1, "epoch": 10**6, "integer": 10**6}


def walks(base: tuple[float, float]) -> list[tuple[int, datetime, float, float]]:
    """Return positions of twelve people who move at the same time, every minute."""
    rng = random.Random(11)
    rows = []
    for who in range(12):
        x = base[0] + rng.random() / 100
        y = base[1] + rng.random() / 100
        for step in range(30):
            x += rng.uniform(-4e-4, 4e-4)
            y += rng.uniform(-4e-4, 4e-4)
            rows.append((who, DAY + timedelta(hours=9, minutes=step, seconds=who), round(x, 6), round(y, 6)))
    return rows


def visits() -> list[tuple[int, datetime, int]]:
    """Return visits of forty people to six places in the order of time; nobody is at two places at once."""
    rng = random.Random(5)
    rows = {}
    for i in range(400):
        hour = rng.choice((7, 8, 9, 13, 17, 18, 21))
        day = rng.randrange(5)
        t = DAY + timedelta(days=day, hours=hour, minutes=rng.randrange(60), seconds=rng.randrange(60))
        rows[i % 40, t] = rng.randrange(6)
    return sorted(((who, t, place) for (who, t), place in rows.items()), key=lambda row: row[1])


def trips() -> list[tuple[int, datetime, datetime, int, int]]:
    """Return trips of fifty vehicles between four places, in the order of their starts."""
    rng = random.Random(7)
    found = []
    for i in range(300):
        start = DAY + timedelta(days=rng.randrange(5), hours=rng.choice((8, 13, 17, 22)), minutes=rng.randrange(30))
        end = start + timedelta(minutes=rng.randrange(5, 25))
        found.append((i % 50, start, end, rng.randrange(4), rng.randrange(4)))
    return sorted(found, key=lambda trip: trip[1])


def lon(place: int, base: float = -73.98) -> float:
    return round(base + place * 0.011234, 6)


def lat(place: int, base: float = 40.72) -> float:
    return round(base + place * 0.007123, 6)


def iso(t: datetime) -> str:
    return t.strftime("%Y-%m-%d %H:%M:%S")


def ep(t: datetime) -> int:
    return int(t.replace(tzinfo=UTC).timestamp())


def put(
    path: Path, head: str, rows: Iterable[Iterable[Any]], sep: str = ",", enc: str = "utf-8", eol: str = "\n"
) -> Path:
    """Write a text table."""
    lines = [head] if head else []
    lines += [sep.join(str(value) for value in row) for row in rows]
    path.write_bytes((eol.join(lines) + eol).encode(enc))
    return path


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table: how it is written, what it says, and the one answer that it needs.

    `shift` is added to true times, in seconds; `clock` says that the table has times of day only, `metres` that it
    has no degrees; `refusal` is what is said of a table that cannot be published.
    """

    write: Callable[[Path], Path]
    kind: str
    truth: list[Any]
    answer: tuple[str, ...] = ()
    shift: int = 0
    clock: bool = False
    metres: bool = False
    coordinates: bool = False
    refusal: str = ""

    def __str__(self) -> str:
        return self.write.__name__


def collect(cases: list[Case]) -> Callable[..., Any]:
    """Return a decorator that adds a case to a list."""

    def case(kind: str, truth: list[Any], answer: tuple[str, ...] = (), **more: Any) -> Any:
        def add(write: Callable[[Path], Path]) -> Callable[[Path], Path]:
            cases.append(Case(write=write, kind=kind, truth=truth, answer=answer, **more))
            return write

        return add

    return case


def said(answer: tuple[str, ...]) -> dict[str, Any]:
    """Return what options say, as keys of [input]."""
    if answer == EACH:
        return {"owners": "each-trajectory"}
    options = dict(zip(answer[::2], answer[1::2], strict=True))
    columns = dict(pair.split("=") for pair in options.get("--columns", "").split(",") if pair)
    given: dict[str, Any] = {"columns": columns}
    if "--crs" in options:
        given["crs"] = options["--crs"]
    if "--position-order" in options:
        given["positions"] = {"point": {"order": options["--position-order"]}}
    return given


def check_case(case: Case, folder: Path) -> None:
    """Inspect the table of a case, give the answer, and compare what its recipe reads with what was written."""
    path = case.write(folder)
    seen = inspect_file(make_input({"path": str(path)}))
    if case.refusal:
        assert case.refusal in seen.refusal
        return
    assert seen.refusal == ""
    assert len(seen.questions) == (1 if case.answer else 0), [question.text for question in seen.questions]
    if case.answer:
        options = [answer.option.replace("'", "") for answer in seen.questions[0].answers]
        assert " ".join(case.answer) in options
        seen = inspect_file(make_input({"path": str(path), **said(case.answer)}))
    assert seen.content is not None, seen.question_sentence() if seen.questions else seen.refusal
    content = seen.candidates[0].content if seen.candidates else seen.content
    assert content["input"]["kind"] == case.kind
    assert content["input"]["guesses"]
    data = load(make_input(dict(content["input"])), attributes=()).data
    if case.kind in _PEOPLE:
        assert len(np.unique(data.owner)) == _PEOPLE[case.kind]
    _COMPARE[case.kind](case, data)


def _seconds(case: Case, data: Any, t: Any) -> list[int]:
    found: list[int] = (t * _TICKS[data.time_format] // 10**6).tolist()
    return found


def _true(case: Case, t: datetime) -> int:
    return int((t - _EPOCH).total_seconds()) + case.shift


def _compare_points(case: Case, data: Any) -> None:
    x, y = data.frame.to_file(data.x, data.y)
    found = sorted(zip(_seconds(case, data, data.t), x.tolist(), y.tolist(), strict=True))
    truth = sorted((_true(case, t), x, y) for _, t, x, y in case.truth)
    assert [row[0] for row in found] == [row[0] for row in truth]
    if not case.metres:
        off = [max(abs(a[1] - b[1]), abs(a[2] - b[2])) for a, b in zip(found, truth, strict=True)]
        assert max(off) < 5e-5


def _compare_visits(case: Case, data: Any) -> None:
    assert sorted(_seconds(case, data, data.t)) == sorted(_true(case, t) for _, t, _ in case.truth)
    assert len(data.locations) == 6


def _compare_trips(case: Case, data: Any) -> None:
    ends = data.ends()
    found = sorted(zip(_seconds(case, data, ends.t_start), _seconds(case, data, ends.t_end), strict=True))
    truth = sorted((_true(case, start), _true(case, end)) for _, start, end, _, _ in case.truth)
    if case.clock:
        truth = sorted((start % 86_400, end - start + start % 86_400) for start, end in truth)
    assert found == truth
    assert len(ends.places) in ((4, 8, 16) if case.coordinates else (4, 8))


_COMPARE = {"points": _compare_points, "visits": _compare_visits, "trips": _compare_trips}
