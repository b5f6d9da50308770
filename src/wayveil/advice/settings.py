"""What advice tries: preparation steps, methods and parameters for one recipe, none with a weaker promise unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.errors import UsageError
from wayveil.metrics.movement import round_up
from wayveil.model import Data, Trips, seconds_per_unit
from wayveil.recipe.catalog import kinds_of, plain_parameters
from wayveil.recipe.recipe import Recipe, make_recipe
from wayveil.yardstick.fair_loss import Resolution

__all__ = ["RECIPE", "Setting", "list_settings"]

RECIPE = "recipe"
"""The family of the recipe as it is."""

_COARSENING = ("bucket", "fold", "zones", "grid", "window", "resample", "slices", "ends")
"""Steps that advice chooses; all others of a recipe stay, in front."""

_FOLDS = (
    ("week", "1h"), ("weekday-weekend", "1h"), ("weekday-weekend", "4h"), ("day", "1h"), ("day", "4h"), ("day", "12h"),
    ("day", "1d"),
)  # fmt: skip
_FOLD_WORDS = {"week": "days of the week", "weekday-weekend": "working days and weekends", "day": "a typical day"}
_CROWDS = (2, 4, 10, 25, 60)
_PERIODS = (("10s", 10), ("30s", 30), ("1min", 60), ("5min", 300), ("15min", 900), ("1h", 3600))
_RARE_S = 900
_H3_EDGE_M = ((9, 350.0), (8, 920.0), (7, 2400.0), (6, 6400.0))

Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Steps and a method that may be taken, in words, with the kind of setting it is (`family`).

    `weaker` says what of the recipe's promise it gives up; "" where it gives up nothing.
    """

    steps: tuple[Step, ...]
    method: Step
    words: str
    family: str
    weaker: str = ""

    def apply(self, recipe: Recipe) -> Recipe:
        """Return the recipe with these steps and this method; UsageError where they do not fit.

        Attacks, metrics and blocks of a recipe are for its method, and stay with it alone.
        """
        # Attacks and metrics were chosen for one method; another gets those that fit it.
        same = self.method["name"] == recipe.method.name
        return make_recipe(
            {
                "title": recipe.title,
                **({} if recipe.seed is None else {"seed": recipe.seed}),
                "input": recipe.input,
                "prepare": list(self.steps),
                "method": self.method,
                "output": recipe.output,
                "engine": recipe.engine,
                "max_risk": recipe.max_risk,
                "use": recipe.use,
                **({"attacks": recipe.attacks, "metrics": recipe.metrics, "blocks": recipe.blocks} if same else {}),
            }
        )


def list_settings(recipe: Recipe, raw: Data, resolution: Resolution) -> tuple[Setting, ...]:
    """Return what to try for a recipe, each setting once, the recipe's own first."""
    builder = _Builder(recipe, raw, resolution)
    settings: dict[str, Setting] = {}
    for setting in builder.settings():
        try:
            chosen = setting.apply(recipe)
        except UsageError:
            continue  # steps and method do not fit the kind of data, or each other
        # Settings that come to the same are tried once: defaults are written out by now, so that they compare as equal.
        parts = [_part(step) for step in chosen.prepare], chosen.method.name, plain_parameters(chosen.method)
        settings.setdefault(repr(parts), setting)
    return tuple(settings.values())


class _Builder:
    """Settings for one recipe and the data that it reads."""

    def __init__(self, recipe: Recipe, raw: Data, resolution: Resolution) -> None:
        self.recipe = recipe
        self.raw = raw
        self.resolution = resolution
        self.method = {"name": recipe.method.name, **plain_parameters(recipe.method)}
        # Methods call the number of people k or m; 2 where a promise has neither.
        self.k = int(self.method.get("k") or self.method.get("m") or 2)
        # What makes places and times coarser is what is varied.  All else, such as cutting at gaps, was meant.
        self.fixed = [_part(step) for step in recipe.prepare if step.name not in _COARSENING]
        self.own = [_part(step) for step in recipe.prepare]
        self.dated = seconds_per_unit(raw.time_format) is not None
        self.cell = resolution.metres

    def settings(self) -> Iterator[Setting]:
        """Yield the recipe itself, then what fits the kind of data that its fixed steps give."""
        yield Setting(
            steps=tuple(self.own), method=self.method, words=f"as it is: {self._words(self.own, self.method)}",
            family=RECIPE,
        )  # fmt: skip
        for settings in self._by_kind().get(self._kind().kind, ()):
            yield from settings()

    def _by_kind(self) -> Mapping[str, tuple[Callable[[], Iterator[Setting]], ...]]:
        """Return what makes settings for each kind of data; of a kind that is not here the recipe alone is tried."""
        return {
            "points": (self._tracks, self._cells_of_tracks),
            "visits": (self._coarse_visits,),
            "trips": (self._coarse_visits,),
            "routes": (self._routes,),
            "stops": (self._stops,),
        }

    def _cells_of_tracks(self) -> Iterator[Setting]:
        return self._visits(points=True)

    def _coarse_visits(self) -> Iterator[Setting]:
        return self._visits(points=False)

    def _kind(self) -> type[Data]:
        """Return the kind of data behind the fixed steps."""
        kind: type[Data] = type(self.raw)
        # The steps are not run for this: each declares what it gives.
        for step in self.recipe.prepare:
            if step.name in _COARSENING:
                continue
            accepted = kinds_of(step)
            if kind.kind == accepted[0]:
                kind = step.gives
            elif kind.kind in step.also_gives:
                kind = step.also_gives[kind.kind]
        return kind

    def _make(self, steps: Sequence[Step], method: Step, family: str, weaker: str = "") -> Setting:
        every = [*self.fixed, *steps]
        return Setting(
            steps=tuple(every), method=method, words=self._words(every, method), family=family, weaker=weaker
        )

    def _visits(self, *, points: bool) -> Iterator[Setting]:
        """Yield coarser places and times for `kcl`, from fine to coarse."""
        method, weaker = self._kcl()
        if method is None:
            return
        # Visits with names alone have no zones: only their times can become coarser.
        located = points or getattr(self.raw, "place_x", None) is not None
        places = [*self._zones()] if located else []
        for time_steps in self._times():
            # Positions must become places; visits may keep those that they have.
            for place_steps in places if points else [[], *places]:
                steps = [*self._cells(time_steps), *place_steps] if points else [*time_steps, *place_steps]
                named = place_steps[0] if place_steps else {}
                family = (
                    "places" if not named else "crowds" if "people" in named else "h3" if "h3" in named else "cells"
                )
                yield self._make(steps, method, f"kcl {family}", weaker)
        timed = self.dated and not issubclass(self._kind(), Trips)  # a trip has two times
        for steps in self._spacetime(points=points) if located and timed else ():
            yield self._make(steps, method, "kcl spacetime", weaker)

    def _spacetime(self, *, points: bool) -> Iterator[list[Step]]:
        """Yield zones of space and time: short where many people are, long where few are; on dates, or folded ones."""
        # One list for all three kinds of time: dates as they are, hours of the week, and hours of the day.
        cell = round(self.cell) if self.cell >= 1 else self.cell
        bases: list[Step] = [{"step": "bucket", "width": "1h"}]
        bases += [{"step": "fold", "to": to, "part": "1h"} for to in ("week", "day")]
        for base in bases:
            for crowd in self._crowds():
                zones = {"step": "zones", "cell": cell, "people": crowd, "time": "1h"}
                yield [*(self._cells([base]) if points else [base]), zones]

    def _kcl(self) -> tuple[Step | None, str]:
        """Return `kcl` with the promise of the recipe, and what a recipe with another promise gives up by it."""
        if self.method["name"] == "kcl":
            return self.method, ""
        if self.method["name"] in ("gsup", "cast"):
            return None, ""  # their attackers know something else altogether
        weakness = "it hides people from who knows any two visits, not from who knows all of a trip"
        return {"name": "kcl", "k": self.k, "l": 2}, weakness

    def _zones(self) -> Iterator[list[Step]]:
        cell = round(self.cell) if self.cell >= 1 else self.cell
        for crowd in self._crowds():
            yield [{"step": "zones", "cell": cell, "people": crowd}]
        # Then cells of one size everywhere: once, twice and four times that at which losses are measured.
        for times in (1, 2, 4):
            yield [{"step": "zones", "cell": cell * times}]
        sites = self.raw.sites()
        frame = None if sites is None else sites.frame
        if frame is not None and frame.degrees:
            # The finest level whose hexagons are not smaller than what is asked for.
            edge = next(((r, e) for r, e in _H3_EDGE_M if e >= self.cell), _H3_EDGE_M[-1])[0]
            yield [{"step": "zones", "h3": edge}]
        if self.recipe.input.zones is not None:
            own = [step for step in self.own if step["step"] == "zones" and step.get("cell") == "none"]
            yield [own[0] if own and own[0].get("h3") == "none" else {"step": "zones"}]

    def _crowds(self) -> Iterator[int]:
        """Yield how many people a zone has, as far as there are so many."""
        people = len(np.unique(self.raw.owner))
        for crowd in _CROWDS:
            # A zone of more people than there are says nothing; with few people one size is tried all the same.
            if crowd * self.k <= max(people, 2 * self.k):
                yield crowd * self.k

    def _times(self) -> Iterator[list[Step]]:
        if self.dated:
            yield from ([{"step": "bucket", "width": width}] for width in ("1h", "1d"))
            yield from ([{"step": "fold", "to": to, "part": part}] for to, part in _FOLDS)
            return
        yield from ([{"step": "bucket", "width": width}] for width in self._number_widths())

    def _number_widths(self) -> list[int]:
        t = self.raw.times() if self.raw.n_rows else None
        if t is None or not len(t):
            return [1]
        # Times that are numbers have no hours, so widths are round parts of the whole span: about 100, 24, 6 and 2 of
        # them.
        span = int(t.max()) - int(t.min()) + 1
        widths = {max(1, round(round_up(span / parts))) for parts in (100, 24, 6, 2)}
        # The last one puts all times into one, where none is negative.
        return [*sorted(widths), int(t.max()) + 1 if int(t.min()) >= 0 else span]

    def _cells(self, time_steps: list[Step]) -> list[Step]:
        """Return the steps that make visits of positions: of check-ins each counts, of tracks the cell of most time."""
        cell = round(self.cell) if self.cell >= 1 else self.cell
        if not self.dated:
            # Plain numbers have no minutes: each moment is a visit, and `time_steps` puts moments together.
            return [{"step": "grid", "cell": cell, "bucket": 1}, *time_steps]
        if self._is_rare():
            return [{"step": "grid", "cell": cell, "bucket": "1min"}, *time_steps]
        step = time_steps[0]
        width = step.get("part", step.get("width"))
        grid = {"step": "grid", "cell": cell, "bucket": width, "keep": "longest"}
        # A day of `fold` begins at 4:00 by default, which would cut buckets of the grid in two; from midnight on it
        # does not.
        return [grid] if step["step"] == "bucket" else [grid, {**step, "start": 0}]

    def _is_rare(self) -> bool:
        """Whether positions are so far apart in time that each is a visit of its own."""
        t = self.raw.times()
        # Steps from one row to the next, without those from one trajectory into another.
        inside = np.diff(t)[np.diff(np.repeat(np.arange(len(self.raw)), self.raw.lengths)) == 0]
        unit = seconds_per_unit(self.raw.time_format) or 1.0
        return not len(inside) or float(np.median(inside)) * unit >= _RARE_S

    def _tracks(self) -> Iterator[Setting]:
        """Yield methods on tracks: k-anonymous boxes, and points that move together (delta = 0)."""
        own = self.method if self.recipe.method.accepts.kind == "points" else None
        resampling = [step for step in self.own if step["step"] == "resample"]
        periods: list[Any] = [step["period"] for step in resampling]
        if self.dated:
            gap = self._gap_s()
            # Never more often than the median gap: positions in between would be made up.  The two finest periods that
            # remain are tried.
            periods += [name for name, seconds in _PERIODS if seconds >= gap][:2]
            windows: list[list[Step]] = [[], [{"step": "window", "width": "1h"}]]
            joins: list[Any] = ["1h", "1d"]
        else:
            span = self._number_widths()
            periods += [max(1, span[-1] // 1000)] if not periods else []
            windows = [[]]
            joins = span[-2:]
        # A period may come from the recipe and from the list; it is tried once.
        for period in dict.fromkeys(periods):
            for window in windows:
                steps = [{"step": "resample", "period": period}, *window]
                for join in joins:
                    yield self._make(steps, {"name": "knode", "k": self.k, "window": join}, "knode")
                # The recipe's own method keeps its parameters; others promise points that coincide (delta = 0).
                for name in ("nwa", "w4m"):
                    mine = own if own is not None and own["name"] == name else {"name": name, "k": self.k, "delta": 0}
                    yield self._make(steps, mine, name)
        # Boxes of tga hold positions as they come: nothing has to be resampled.
        for window in windows:
            yield self._make(window, {"name": "tga", "k": self.k}, "tga")
        if own is not None and own["name"] == "qid":
            for steps in ([{"step": "resample", "period": period}] for period in dict.fromkeys(periods)):
                yield self._make(steps, own, "qid")

    def _gap_s(self) -> float:
        t = self.raw.times()
        inside = np.diff(t)[np.diff(np.repeat(np.arange(len(self.raw)), self.raw.lengths)) == 0]
        return float(np.median(inside)) * (seconds_per_unit(self.raw.time_format) or 1.0) if len(inside) else 60.0

    def _routes(self) -> Iterator[Setting]:
        widths: list[Any] = ["1h", "4h", "1d", "7d"] if self.dated else [str(w) for w in self._number_widths()[-2:]]
        # Routes without times are all 0, and cannot be cut by them.
        timed = self.raw.n_rows and bool(np.any(self.raw.times()))
        for steps in [[], *([{"step": "slices", "width": width}] for width in widths if timed)]:
            for name in ("icba", "cba"):
                own = self.method if self.method["name"] == name else {"name": name, "k": self.k}
                yield self._make(steps, own, name)
            if self.method["name"] == "prefix":
                yield self._make(steps, self.method, "prefix")

    def _stops(self) -> Iterator[Setting]:
        if self.method["name"] != "cast":
            return
        for distance in ("hops", "leaves"):
            yield self._make([], {**self.method, "distance": distance}, "cast")
            if self.dated and not any(step["step"] == "days" for step in self.fixed):
                yield self._make([{"step": "days"}], {**self.method, "distance": distance}, "cast")

    def _words(self, steps: Sequence[Step], method: Step) -> str:
        words = [word for step in steps if (word := _step_words(step))]
        claim = ", ".join(f"{key} = {method[key]}" for key in ("k", "c", "m", "l", "delta", "window") if key in method)
        return f"{'; '.join(words) or 'as read'}; {method['name']} ({claim})"


def _step_words(step: Step) -> str:
    name = step["step"]
    if name == "fold":
        part = "any time of the day" if step["part"] == "1d" else f"parts of {step['part']}"
        return f"{_FOLD_WORDS[step['to']]}, {part}"
    if name == "zones":
        if step.get("people", "none") != "none":
            lasting = step.get("time", "none")
            return f"zones with {step['people']}+ people" + ("" if lasting == "none" else f" for {lasting} or longer")
        if step.get("h3", "none") != "none":
            return f"H3 cells of level {step['h3']}"
        return f"cells of {step['cell']:g} m" if step.get("cell", "none") != "none" else "zones of the file"
    if name == "grid":
        return f"the cell of most time in {step['bucket']}" if step.get("keep") == "longest" else ""
    words = {"bucket": "times by {width}", "window": "windows of {width}", "resample": "every {period}",
             "slices": "slices of {width}"}  # fmt: skip
    return words[name].format(**step) if name in words else str(name)


def _part(step: Any) -> Step:
    return {"step": step.name, **plain_parameters(step)}
