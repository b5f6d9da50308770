"""Recipes for an input, from fine to coarse: places and times become coarser until enough people share them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wayveil.commands.inspect.input_draft import InputDraft
from wayveil.commands.ladder import Candidate
from wayveil.io.intake.person_candidates import crowd_size
from wayveil.io.tabular.columns import LOCATION_COORDINATES
from wayveil.io.tabular.time_formats import CLOCK, NUMBER
from wayveil.recipe.recipe import make_recipe

__all__ = ["draft_recipes"]

_PERIODS_S = {"10s": 10, "30s": 30, "1min": 60, "5min": 300, "15min": 900, "1h": 3600}
_OFTEN = 0.5
_RARE_S = 900
_CELL_M = 500
_CROWDS = (5, 10, 20, 30, 60, 60)
_FOLDS = {"weekday-weekend": "working days and weekends", "day": "one typical day"}
_CLOCK_WIDTHS_S = (900, 3600, 10_800, 21_600, 172_800)

Steps = list[dict[str, Any]]


def draft_recipes(draft: InputDraft) -> tuple[dict[str, Any], tuple[Candidate, ...]]:
    """Return the recipe, and what can be tried in its place; of candidates, the coarsest is the recipe."""
    return _Resolutions(draft).recipes()


class _Resolutions:
    """The ladder of settings for one input, the finest first."""

    def __init__(self, draft: InputDraft) -> None:
        self.draft = draft
        self.profile = draft.profile
        self.input = draft.content
        self.guesses = draft.guesses
        self.people = draft.n_people
        self.k = crowd_size(self.people)
        fits = self.profile.times[0].fits if self.profile.times else ()
        self.form = fits[0].format if fits else NUMBER
        self.dated = self.form not in (NUMBER, CLOCK)
        self.rare = (self.profile.facts.get("seconds_between_rows") or _RARE_S) >= _RARE_S

    def recipes(self) -> tuple[dict[str, Any], tuple[Candidate, ...]]:
        """Return the recipe and the candidates."""
        apart = (self.profile.facts.get("people_move_at_one_time") or 0.0) < _OFTEN
        points = self.input["kind"] == "points"
        if points and not (self.dated and (apart or self.rare)):
            steps, window = self._prepare_points()
            words = f"The method knode with k = {self.k}: moderate; compare others with wayveil compare."
            return self._content(self.input, steps, {"name": "knode", "k": self.k, "window": window}, words), ()
        if points:
            why = (
                "People hardly ever move at the same time"
                if apart
                else "Positions are too far apart in time to be joined by lines"
            )
            self.guesses.append(f"{why}: positions become visits to zones.")
        if self.people < 5 * self.k:
            few = f"{self.people} people are few to hide among, so that only coarse zones and times are left."
            self.guesses.append(few)
        candidates = []
        for source, steps, order, words in self._rungs():
            known = "one visit" if order == 1 else f"{order} visits"
            if self.input["kind"] == "trips":
                known = "one end" if order == 1 else "both ends"
            whose = "a trip" if self.input["kind"] == "trips" else "a trajectory"
            comment = (
                f"Resolution: {words}. The method kcl with k = {self.k}, l = {order}: who knows {known} of {whose} "
            )
            comment += f"finds {self.k} people."
            content = self._content(source, steps, {"name": "kcl", "k": self.k, "l": order}, comment)
            candidates.append(Candidate(content=content, words=f"{words}, l = {order}"))
        return {**candidates[-1].content}, tuple(candidates)

    def _content(self, source: Mapping[str, Any], steps: Steps, method: dict[str, Any], words: str) -> dict[str, Any]:
        path = self.draft.spec.path
        stem = "".join(sign for sign in path.name.split(".")[0] if sign not in "*?[]").strip(" -_")
        content: dict[str, Any] = {
            "title": f"Publication of {path.name}",
            "input": {**source, "guesses": [*self.guesses, words]},
            **({"prepare": steps} if steps else {}),
            "method": method,
            "output": {"path": f"{stem or 'tables'}-published"},
        }
        make_recipe(content)
        return content

    def _rungs(self) -> Iterator[tuple[Mapping[str, Any], Steps, int, str]]:
        """Yield inputs, steps, l and the resolution in words, the finest first.

        Places with names come first, as they are: stations are shared by many.  Where it is known where places are,
        zones with more and more people follow.  Times become wider on the way.  Only the last rung gives up l = 2.
        """
        times = [*self._time_rungs()]
        located = self._located_input()
        if self._has_names():
            for steps, words in times if located is None else times[:2]:
                yield self.input, steps, 2, f"places as they are, {words}"
        if located is None:
            yield self.input, times[-1][0], 1, f"places as they are, {times[-1][1]}"
            return
        for number, crowd in enumerate(_CROWDS):
            steps, words = times[min(number, len(times) - 1)]
            # Where there are few people, zones of all of them would be finer than the ladder can be: begin with k.
            people = min(crowd * self.k, self.people) if number or self.people >= 5 * self.k else self.k
            zones = {"step": "zones", "cell": _CELL_M, "people": people}
            first: Steps = []
            if located["kind"] == "points":
                first, steps = self._cells(steps)
                words = words if "keep" not in first[0] else f"{words}, of each part the square of most time"
            comment = f"zones of {_CELL_M} m or more with at least {people} people, {words}"
            yield located, [*first, *steps, zones], 2 if number < len(_CROWDS) - 1 else 1, comment

    def _has_names(self) -> bool:
        """Whether places have names, and are no mere coordinates."""
        return self.input["kind"] == "visits" or "origin" in self.input["columns"]

    def _time_rungs(self) -> Iterator[tuple[Steps, str]]:
        if not self.dated:
            for width in _CLOCK_WIDTHS_S if self.form == CLOCK else self._number_widths():
                yield [{"step": "bucket", "width": width}], f"times by {width}{' s' if self.form == CLOCK else ''}"
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

    def _cells(self, steps: Steps) -> tuple[Steps, Steps]:
        """Return the step that makes visits of positions, and the steps behind it.

        Of check-ins each one counts, so almost none is joined with another.  Of tracks each part of the day has the
        square of most time; its parts begin at midnight, as those of `grid` do.
        """
        step = steps[0]
        if not self.dated:
            return [{"step": "grid", "cell": _CELL_M, "bucket": 1}], steps
        if self.rare or self.input["kind"] == "visits":
            return [{"step": "grid", "cell": _CELL_M, "bucket": "1min"}], steps
        return [{"step": "grid", "cell": _CELL_M, "bucket": step["part"], "keep": "longest"}], [{**step, "start": 0}]

    def _located_input(self) -> Mapping[str, Any] | None:
        """Return an input of which it is known where the places are; None where nobody knows."""
        if self.input["kind"] == "points" or "places" in self.input or "origin_x" in self.input["columns"]:
            return self.input
        beside = self.profile.beside
        if not beside or self.input["kind"] == "trips" or "location" in self.draft.spec.columns:
            return None
        # Where names do not keep enough, positions do as well, and methods for tracks can be tried, too.
        named: dict[str, Any] = {
            ours: n for ours, n in self.input["columns"].items() if ours not in ("location", *LOCATION_COORDINATES)
        }
        columns = {**named, **{ours: name for ours, name in beside.items() if name != ours}}
        return {**self.input, "kind": "points", "crs": "EPSG:4326", "columns": columns}

    def _prepare_points(self) -> tuple[Steps, str | int]:
        """Return the steps and the window for people who move at the same time."""
        gap = self.profile.facts.get("seconds_between_rows")
        steps: Steps = []
        if not self.dated:
            self.guesses.append("Times are numbers, taken to be seconds; positions are put on every 60th.")
            return [{"step": "resample", "period": 60}], 3600
        if not self.profile.trajectory and self.profile.facts.get("gaps_over_30_minutes"):
            steps.append({"step": "split", "gap": "30min"})
            self.guesses.append("No column says where a trip ends: it ends where nothing was recorded for 30 minutes.")
        period = next((name for name, seconds in _PERIODS_S.items() if gap is not None and gap <= seconds), "1h")
        steps.append({"step": "resample", "period": period})
        width = "1h" if self.profile.facts.get("days", 1) <= 1 else "1d"
        self.guesses.append(f"Positions are put on every {period}; trips that begin within {width} can be one group.")
        return steps, width
