"""The schema of ``private/results.json``: everything that was measured, once, for terminal, report and web page.

`scripts/results-types` writes the same types in TypeScript; a test says whether they are up to date.  A new or changed
field is a new `VERSION`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from wayveil.model.numbers import Unit

__all__ = ["VERSION", "ChartData", "MapData", "MapLayer", "MapLines", "MapMarks", "MapSlice", "Results", "RiskRow"]

VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NumberData(_Part):
    """A measured number with its unit, its label and its text."""

    value: float | None
    unit: Unit
    label: str
    text: str
    interval: tuple[float, float] | None = None
    interval_text: str = ""
    of: str = ""
    better: str = ""
    about: str = ""
    statistic: str = ""
    threshold: float | None = None
    keeps: str = ""
    exact: str = ""
    note: str = ""


class SeriesData(_Part):
    """One named line or set of bars; null where there is nothing to show, or too few people.

    `people` are behind each value, at least; null where nobody counted them.
    """

    name: str
    values: list[float | None]
    people: list[int | None] = []


class ChartData(_Part):
    """A chart as data; `at` places the labels on a real scale, where they are numbers or times of the day in hours."""

    title: str
    finding: str
    kind: Literal["bars", "line", "map"]
    labels: list[str]
    series: list[SeriesData]
    x_label: str
    y_label: str
    percent: bool
    scale: Literal["names", "numbers", "clock"]
    at: list[float]
    lines: list[tuple[float, float, float, float]]


class MapLines(_Part):
    """Lines through the plane: `x` and `y` are whole steps from the origin, each told as the change to the one before.

    Line `i` has the corners ``offsets[i]:offsets[i + 1]``.
    """

    offsets: list[int]
    x: list[int]
    y: list[int]


class MapLayer(MapLines):
    """Trajectories of one data set: lines, or boxes that lie between two corners each; `shown` of `total`.

    `slices` says in which slice of time each corner, or each box, is; -1 for none, and empty where there are no slices.
    """

    name: str
    raw: bool
    kind: Literal["lines", "boxes"]
    total: int
    shown: int
    slices: list[int] = []


class MapMarks(_Part):
    """What is counted on a map: cells, roads, places, zones or flows, with values and people before and after.

    Cells, roads and flows go from (x, y) to (x2, y2), in whole steps from the origin; places are at (x, y).  Zones have
    an outline each, in `outlines`, and their middle is at (x, y).  `withheld` says of each of the two sides whether
    null is "none, or fewer than five people"; where it is not, null is what `missing` says.
    """

    kind: Literal["cells", "roads", "places", "zones", "flows"]
    labels: list[str]
    x: list[int]
    y: list[int]
    x2: list[int]
    y2: list[int]
    raw: list[float | None]
    published: list[float | None]
    raw_people: list[int | None]
    published_people: list[int | None]
    outlines: MapLines | None = None
    withheld: tuple[bool, bool] = (True, False)
    missing: str = "none"


class MapSlice(_Part):
    """The same marks in one part of the time; only those with a value, by their positions in `marks`."""

    label: str
    marks: list[int]
    raw: list[float | None]
    published: list[float | None]


class MapData(_Part):
    """One map before and after, in metres of a plane: ``origin + step * whole number``."""

    title: str
    finding: str
    below: str
    names: tuple[str, str]
    what: str
    percent: bool
    origin: tuple[float, float]
    step: float
    extent: tuple[float, float, float, float]
    marks: MapMarks | None
    slices: list[MapSlice]
    background: MapLines | None
    layers: list[MapLayer]


class ExposureData(_Part):
    """An attack above the limit."""

    attack: str
    about: str
    limit: float
    share_above: float | None
    mean: float | None
    largest: float | None
    sentence: str


class StrongestData(_Part):
    """The attack that says most."""

    attack: str
    raw: NumberData | None
    mean: NumberData
    largest: NumberData | None
    above: NumberData | None
    sentence: str


class LossData(_Part):
    """The loss that tells most for what the data are for."""

    name: str
    meaning: str
    number: NumberData
    sentence: str


class HeadData(_Part):
    """What it came to: the same everywhere."""

    state: Literal["kept", "but", "refused"]
    label: str
    title: str
    sentence: str
    reasons: list[str]
    exposed: list[ExposureData]
    remedies: list[str]
    risk: StrongestData | None
    loss: LossData | None
    left: dict[str, float]
    limit: float | None
    use: str | None
    missing: list[str] = []
    drawn: int = 0
    next: str = ""
    not_stopped: list[str] = []
    sizes: str = ""


class VerdictData(_Part):
    """Whether the promise holds, with the evidence."""

    holds: bool
    claim: dict[str, Any]
    counted: Literal["owners", "trajectories"]
    numbers: dict[str, NumberData]
    measured: dict[str, float | str | None]
    reason: str
    not_judged: list[str]
    witness: dict[str, Any] | None = None


class AttackData(_Part):
    """What an attacker learns from one data set."""

    name: str
    adversary: str
    victims: int
    sampled: bool
    numbers: dict[str, NumberData]
    measured: dict[str, float | None]
    charts: list[ChartData]


class AttackPair(_Part):
    """The same attack on the raw and on the published data."""

    raw: AttackData
    published: AttackData


class RiskRow(_Part):
    """What one attack does, before and after: the mean over people, the person most at risk, who is above the limit.

    The rows are sorted: what finds most people in the published data comes first.
    """

    attack: str
    name: str
    adversary: str
    what: str
    raw: NumberData | None
    published: NumberData | None
    raw_worst: NumberData | None
    published_worst: NumberData | None
    raw_above: NumberData | None
    published_above: NumberData | None
    limit: float | None
    limit_text: str


class ScoreData(_Part):
    """What was lost, by one metric."""

    name: str
    meaning: str
    value: float | None
    better: Literal["lower", "higher"]
    unit: Unit
    percent: bool
    text: str
    numbers: dict[str, NumberData]
    measured: dict[str, float | None]
    charts: list[ChartData]


class ComparedData(_Part):
    """What runs of one kind are compared by, whatever each promises; the head does not speak of it."""

    attack: AttackPair
    score: ScoreData


class MarkData(_Part):
    """A key number beside what was promised."""

    label: str
    value: str
    unit: str
    promised: str
    meaning: str
    state: Literal["kept", "broken", "plain"]


class QuestionData(_Part):
    """An everyday question of use, and what was measured about it."""

    question: str
    answer: str
    value: str
    kept: str
    meaning: str


class StageData(_Part):
    """What there is after one step: the flow of losses from the file to the publication."""

    name: str
    rows: int
    row_word: str
    trips: int | None
    people: int | None
    note: str = ""


class Results(_Part):
    """Everything that was measured of one run."""

    version: Literal[1]
    created: str
    title: str
    method: str
    parameters: dict[str, Any]
    promise: str
    counted: str
    manifest_sha256: str | None
    head: HeadData
    marks: list[MarkData]
    questions: list[QuestionData]
    verdict: VerdictData
    risks: list[RiskRow]
    attacks: list[AttackPair]
    scores: list[ScoreData]
    views: list[ChartData]
    maps: list[MapData]
    flow: list[StageData]
    balance: dict[str, dict[str, int | None]]
    input_facts: dict[str, str]
    output_facts: dict[str, str]
    notes: list[str]
    timings_s: dict[str, float]
    usage: dict[str, dict[str, float]] = {}
    total_s: float
    versions: dict[str, str]
    compared_by: ComparedData | None = None
