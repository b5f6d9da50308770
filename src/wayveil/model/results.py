"""What methods, verifiers, attacks and metrics return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wayveil.model.claims import Guarantee
from wayveil.model.data.boxes import Boxes
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.data.trajectories import Trajectories
from wayveil.model.numbers import Number, Numbers, Unit, amount, flatten

__all__ = ["AttackResult", "Chart", "Data", "MethodResult", "Score", "Series", "Verdict"]


Data = Trajectories
"""Every kind of movement data."""


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """What a method made: data in the order of the input, the claim, and what was done in numbers.

    `data` has one trajectory per input trajectory, in the same order and with the same owners and attributes,
    possibly without rows.  Ids, order and owners are removed on writing, not here.

    Where points were drawn from boxes, `boxes` are these, one per point of `data`: they are published beside the
    points, as the proof of the claim.  Where a method cuts trajectories into parts or adds dummies, `source` says which
    input trajectory each one is of, -1 for a dummy, and `data` has one trajectory per entry instead.  Where it hides
    people in groups that `data` do not show, `groups` has the group of each trajectory of `data`, negative for none; it
    stays private.  Where `data` are numbers about many people, `counted` says which rows of the input are in them.
    """

    data: Data
    claim: Guarantee
    facts: Mapping[str, int | float | str] = field(default_factory=dict)
    boxes: Boxes | None = None
    source: IntArray | None = None
    groups: IntArray | None = None
    counted: BoolArray | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether published data keep a claim, with the evidence.

    Parameters
    ----------
    holds : bool
        Whether everything that could be judged keeps the claim.
    claim : Guarantee
        What was judged.
    counted : {"owners", "trajectories"}
        What every count below counts.
    measured : mapping
        The measured values, for example the smallest support and the largest confidence.
    witness : mapping or None
        A smallest counter-example, when there is one.  It holds published values only, and is shown to the data
        owner, never written to a public file.
    reason : str
        One sentence that a person can read.
    not_judged : tuple of str
        Parts of the claim that this evidence cannot decide, in plain words.
    """

    holds: bool
    claim: Guarantee
    counted: Literal["owners", "trajectories"]
    measured: Mapping[str, int | float | str | None]
    reason: str
    witness: Mapping[str, Any] | None = None
    not_judged: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, Number]:
        """What was measured, with the units and labels that the claim declares; exact forms and notes stand inside.

        What a claim does not declare is told as it is: a plain amount under its own name.
        """
        by_name: dict[str, Number] = {}
        for name, value in self.measured.items():
            # `name_exact` and `name_note` are said beside `name`, not as numbers of their own.
            whole, _, part = name.rpartition("_")
            if part in ("exact", "note") and whole in self.measured:
                continue
            declared = self.claim.quantities.get(name)
            number = amount(None, name.replace("_", " ").capitalize()) if declared is None else declared
            if isinstance(value, str):  # a number that is only known as a text, such as a fraction
                by_name[name] = replace(number, exact=value, note=str(self.measured.get(f"{name}_note") or ""))
                continue
            by_name[name] = replace(
                number,
                value=value,
                exact=str(self.measured.get(f"{name}_exact") or ""),
                note=str(self.measured.get(f"{name}_note") or ""),
            )
        return by_name


@dataclass(frozen=True, kw_only=True)
class Series:
    """One named line or set of bars of a chart; None where there is nothing to show.

    `people` says how many people are behind each value, at least; None where that is not known, empty where nobody
    counted them.
    """

    name: str
    values: tuple[float | None, ...]
    people: tuple[int | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Numbers that want to be seen: one value per label and series; drawn by whoever shows them.

    A map has one straight line per label, as (x, y, x, y) in metres with y to the north.

    `names` says for every label which places or roads of the original it names: one, several of one trip, or one with
    its time as a further name; an empty entry names none.  Who shows the chart counts the people behind a label by it.
    """

    title: str
    kind: Literal["bars", "line", "map"]
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""
    percent: bool = False
    lines: tuple[tuple[float, float, float, float], ...] = ()
    names: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """What an attacker learns from a data set: one number per victim, summed up.

    `numbers` holds means, maxima and shares, each with its unit; `charts` the distributions behind them.
    """

    name: str
    adversary: str
    victims: int
    sampled: bool
    numbers: Numbers
    charts: tuple[Chart, ...] = ()

    @property
    def measured(self) -> dict[str, int | float | None]:
        """The plain values by name, with the ends of intervals and the thresholds."""
        return flatten(self.numbers)


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a publication lost, by one metric: the headline value with its unit, further numbers, and charts."""

    name: str
    meaning: str
    value: float | None
    better: Literal["lower", "higher"]
    unit: Unit
    numbers: Numbers = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()

    @property
    def measured(self) -> dict[str, int | float | None]:
        """The plain values of `numbers` by name."""
        return flatten(self.numbers)

    @property
    def number(self) -> Number:
        """The headline as a number."""
        return Number(value=self.value, unit=self.unit, label=self.meaning, better=self.better)

    @property
    def percent(self) -> bool:
        """Whether the headline is told in percent."""
        return self.number.percent
