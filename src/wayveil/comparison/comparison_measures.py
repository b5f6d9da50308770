"""One yardstick for all settings: the same attack, the same metric, and the same original.

Risk is what an attacker achieves who knows true facts of a person *as exactly as the publication tells them*: the
attack of an ordinary run, with the same parameters for all settings.  Loss is measured from the file on, by the one
ruler for fine and coarse data (`yardstick`).  Where somebody names a metric, it is measured against the original, which
is the input after the preparation steps that all settings begin with; what a setting prepares beyond that is part of
its loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.comparison.comparison_recipe import Measure, Setting
from wayveil.errors import UsageError
from wayveil.model import Boxes, Score, Visits, duration_units
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.input import load_published
from wayveil.recipe import catalog
from wayveil.recipe.defaults import fits, is_ready
from wayveil.recipe.recipe import InputSpec
from wayveil.report.results_json import is_percent, measured_values
from wayveil.yardstick.fair_metric import FairMetric

__all__ = ["ComparisonMeasures", "as_boxes", "choose_measures", "common_steps"]

_RISK = {"visits": "known_visits", "points": "nearest_positions", "routes": "seen_on_roads", "stops": "known_places"}
_LOSS = {"visits": "instance_loss", "points": "range_queries", "routes": "traffic", "stops": "generalization_cost"}
_LOSS_PREPARED = {"visits": "visit_support", "points": "range_queries"}  # these see what a preparation loses
_NUMBER = {"known_places": "attribute_mean", "inference_routes": "exposed_people_share"}  # of others identity_mean
_BLIND = ("instance_loss",)  # these do not, although they fit
_KEPT = ("kept", "exact", "overlap", "correlation", "agreement", "after")  # numbers of which more is better


@dataclass(frozen=True, kw_only=True)
class ComparisonMeasures:
    """What every setting is measured with.

    `risk` and `loss` name the numbers; `n_common` is how many steps make the original.  With `prepared`, settings go on
    from there in different ways, so that the loss is measured here and not by the run.
    """

    attack: Any
    risk: str
    metric: Any
    loss: str
    n_common: int
    prepared: bool

    @property
    def metrics(self) -> tuple[Any, ...]:
        """The metrics that an ordinary run measures itself."""
        return () if self.prepared else (self.metric,)

    @property
    def fair(self) -> bool:
        """Whether loss is measured from the file on, at one resolution for all settings."""
        return isinstance(self.metric, FairMetric)

    def measure(self, original: Any, public: Path, setting: Setting, spec: InputSpec) -> Score:
        """Return what a publication lost of the original."""
        if isinstance(self.metric, FairMetric):
            counted = self.metric.count_raw(original)
            return self.metric.score_folder(original, counted, public, spec, setting.steps, setting.method)
        manifest, _ = read_manifest(public)
        published: Any = load_published(public, manifest).data
        # Visits to cells of a grid say squares; only so can they be compared with points.
        if original.coordinates and not published.coordinates:
            published = as_boxes(published, original, setting.steps)
        score: Score = self.metric.run(original, published)
        return score

    def loss_of(self, score: dict[str, Any]) -> float | None:
        """Return the loss in a score (as JSON holds it): less is better; UsageError if there is no such number."""
        if self.loss:
            return _number(self.metric.name, measured_values(score), self.loss)
        value: float | None = score["value"]
        if not self.is_turned(score) or value is None:
            # A metric that is better the larger it is tells what is kept: the loss is the rest.
            return value
        if not is_percent(score):
            raise UsageError(f"{self.metric.name} is better the larger it is; name a number of it that is lost.")
        return 1 - value

    def is_turned(self, score: dict[str, Any]) -> bool:
        """Return whether the main number of a score tells what was kept, so that the loss is the rest of it."""
        return not self.loss and score["better"] == "higher"

    def risk_of(self, measured: dict[str, Any], end: str = "") -> float | None:
        """Return the risk, or with `end` "_low" or "_high" an end of its interval (None where there is none)."""
        if end:
            return measured.get(f"{self.risk}{end}")
        return _number(self.attack.name, measured, self.risk)


def _number(name: str, measured: dict[str, Any], number: str) -> float | None:
    if number not in measured:
        known = ", ".join(key for key in measured if not key.endswith("_threshold"))
        raise UsageError(f"{name} gives no number {number!r}; known: {known}.")
    value: float | None = measured[number]
    return value


def choose_measures(
    settings: Sequence[Setting], risk: Measure | None, loss: Measure | None, *, fair: FairMetric | None = None
) -> ComparisonMeasures:
    """Return the yardstick for settings; UsageError if there is none that means the same for all of them.

    With `fair`, loss is measured by it where nobody named a metric.
    """
    ready = [setting for setting in settings if not setting.wrong]
    kinds = {catalog.kind_of(type(setting.method)): setting.method.name for setting in ready}
    if len(kinds) > 1:
        # Two kinds of data have no attack in common that would mean the same.
        (one, first), (other, second), *_ = kinds.items()
        raise UsageError(
            f"{first} works on {one} and {second} on {other}: no attack means the same on both, so their risks cannot "
            "be compared. Compare them in two recipes."
        )
    kind = next(iter(kinds))
    n_common = common_steps(ready)
    prepared = any(len(setting.steps) > n_common for setting in ready)
    attack = _attack(kind, risk, ready)
    number = risk.number if risk is not None and risk.number else _NUMBER.get(attack.name, "identity_mean")
    _check_sensitive(number, ready)
    if loss is None and fair is not None:
        return ComparisonMeasures(attack=attack, risk=number, metric=fair, loss="", n_common=0, prepared=True)
    metric = _metric_prepared(loss, ready, n_common) if prepared else _metric(kind, loss, ready)
    number_name = "" if loss is None else loss.number
    # A number that counts what is kept would make the worst setting look best.
    if set(number_name.split("_")) & set(_KEPT):
        raise UsageError(
            f"[compare] loss: {number_name!r} is better the larger it is; name a number that is lost, not kept."
        )
    return ComparisonMeasures(
        attack=attack, risk=number, metric=metric, loss=number_name, n_common=n_common, prepared=prepared
    )


def common_steps(settings: Sequence[Setting]) -> int:
    """Return with how many equal steps all settings begin."""
    shortest = min(len(setting.steps) for setting in settings)
    first = settings[0].steps
    # The first step in which any two settings differ.
    return next((i for i in range(shortest) if any(s.steps[i] != first[i] for s in settings)), shortest)


def as_boxes(visits: Visits, original: Any, steps: Sequence[Any]) -> Boxes:
    """Return visits to the cells of a grid as what they say of the points: a square for the length of a bucket.

    Examples
    --------
    >>> from wayveil.model import Points
    >>> from wayveil.steps import Grid
    >>> original = Points.from_records([[(3, 120.0, -5.0)]])
    >>> step = Grid(cell=100, bucket=10)
    >>> as_boxes(step.run(original)[0], original, [step]).record(0)
    [(0, 9, 100.0, 200.0, -100.0, 0.0)]
    """
    grid = next(step for step in reversed(steps) if step.name == "grid")
    # The coarsest bucket decides how long a visit may have been.
    widths = [grid.bucket, *(step.width for step in steps[steps.index(grid) :] if step.name == "bucket")]
    width = max(duration_units("grid", "bucket", text, original.time_format) for text in widths)
    # Names of cells say column and row: x3_y-2.
    cells = np.array([name[1:].split("_y") for name in visits.locations], np.float64).reshape(-1, 2)
    x, y = (cells[visits.location] * grid.cell).T
    return Boxes(
        offsets=visits.offsets,
        t_min=visits.t,
        t_max=visits.t + width - 1,
        x_min=x,
        x_max=x + grid.cell,
        y_min=y,
        y_max=y + grid.cell,
        owner=visits.owner,
        frame=original.frame,
        time_format=visits.time_format,
        owners=visits.owners,
    )


def _attack(kind: str, named: Measure | None, settings: Sequence[Setting]) -> Any:
    name = named.name if named is not None else _RISK.get(kind) or _first("attack", settings)
    cls: Any = catalog.entry("attack", name)
    if named is not None and not is_ready(cls, named.given):
        raise UsageError(f"The attack {name} needs {cls.asks!r}: give [compare] risk as a table with it.")
    for method in (setting.method for setting in settings):
        if not fits(cls, method.accepts, method.publishes, **_told(method)):
            raise UsageError(
                f"The attack {name} cannot be made on what {method.name} publishes here ({_words(method)}), so its "
                "risk cannot be compared. Name another attack in [compare] risk, or leave this method out."
            )
    return catalog.build("attack", name, {**_cells_counted("attack", name, settings), **_given(named)})


def _metric(kind: str, named: Measure | None, settings: Sequence[Setting]) -> Any:
    """Return the metric for settings that all prepare the data in the same way."""
    name = named.name if named is not None else _LOSS.get(kind) or _first("metric", settings)
    cls: Any = catalog.entry("metric", name)
    for method in (setting.method for setting in settings):
        if not fits(cls, method.accepts, method.publishes, **_told(method)):
            raise UsageError(
                f"The metric {name} cannot be taken of what {method.name} publishes here ({_words(method)}), so its "
                "loss cannot be compared. Name another metric in [compare] loss, or leave this method out."
            )
    return catalog.build("metric", name, {**_cells_counted("metric", name, settings), **_given(named)})


def _given(named: Measure | None) -> dict[str, Any]:
    return {} if named is None else dict(named.given)


def _cells_counted(family: catalog.Family, name: str, settings: Sequence[Setting]) -> dict[str, Any]:
    """Return what a cell is, where tables of counts are compared; UsageError where settings count different cells."""
    methods = [setting.method for setting in settings]
    if all(method.publishes.individual for method in methods):
        return {}
    known = {p.name for p in catalog.parameters(family, name)} - {"k"}
    rows = [
        method.claim.settings_of(name) if family == "attack" else method.metric_settings.get(name, {})
        for method in methods
    ]
    cells = [{key: value for key, value in one.items() if key in known and key != "threshold"} for one in rows]
    if any(one != cells[0] for one in cells):
        raise UsageError(
            "The settings count different cells (tally, count or every), so their numbers cannot be compared. Compare "
            "those that count the same."
        )
    return cells[0]


def _metric_prepared(named: Measure | None, settings: Sequence[Setting], n_common: int) -> Any:
    """Return the metric for settings that prepare the data in different ways, measured against the original."""
    original = _original_kind(settings, n_common)
    kind = original.__name__.lower()
    advice = "Give all settings the same steps, or compare them in two recipes."
    if kind not in _LOSS_PREPARED:
        raise UsageError(f"The settings prepare {kind} in different ways, and no metric sees what that loses. {advice}")
    name = _LOSS_PREPARED[kind] if named is None else named.name
    cls: Any = catalog.entry("metric", name)
    if name in _BLIND:
        raise UsageError(
            f"The settings prepare the data in different ways, and {name} does not see what that loses: the coarsest "
            f"would look best. {advice}"
        )
    if cls.matched:
        raise UsageError(
            f"{name} follows every trajectory from the original to the publication, which is not possible where "
            f"settings prepare the data in different ways. {advice}"
        )
    for setting in settings:
        method = setting.method
        published = Boxes if _is_gridded(original, setting, n_common) else method.publishes
        if not fits(cls, original, published, matched=False, timed=_told(method)["timed"]):
            raise UsageError(
                f"The metric {name} cannot compare the original {kind} with what {method.name} publishes here "
                f"({_words(method)}). {advice}"
            )
    return catalog.build("metric", name, {} if named is None else named.given)


def _original_kind(settings: Sequence[Setting], n_common: int) -> Any:
    """Return the kind of data that the original is: what the first step or method that differs takes."""
    kinds = {(*setting.steps, setting.method)[n_common].accepts: setting.name for setting in settings}
    if len(kinds) > 1:
        (one, first), (other, second), *_ = ((cls.__name__.lower(), name) for cls, name in kinds.items())
        raise UsageError(f"The settings need different inputs: {first!r} takes {one}, {second!r} takes {other}.")
    return next(iter(kinds))


def _is_gridded(original: Any, setting: Setting, n_common: int) -> bool:
    """Return whether a setting publishes visits to cells of a grid on points of the original."""
    grids = any(step.name == "grid" for step in setting.steps[n_common:])
    return grids and original.coordinates and not setting.method.publishes.coordinates


def _told(method: Any) -> dict[str, bool]:
    """Return whether it is known which published trajectory is which, and whether its times are published."""
    return {"matched": not method.splits_trajectories or method.parts_in_time, "timed": method.keeps_times}


def _words(method: Any) -> str:
    words = _told(method)
    parts = "" if words["matched"] else ", parts of trajectories"
    return catalog.kind_published(method) + parts + ("" if words["timed"] else ", without times")


def _first(family: catalog.Family, settings: Sequence[Setting]) -> str:
    """Return the first attack or metric that fits all settings."""
    methods = [setting.method for setting in settings]
    for name in catalog.entries(family):
        cls: Any = catalog.entry(family, name)
        needs = any(p.required for p in catalog.parameters(family, name)) or cls.asks
        if not needs and all(fits(cls, m.accepts, m.publishes, **_told(m)) for m in methods):
            return name
    raise UsageError(f"There is no {family} that fits all settings; compare them in two recipes.")


def _check_sensitive(number: str, settings: Sequence[Setting]) -> None:
    """Refuse to compare inferences of sensitive values where settings do not call the same values sensitive.

    For stops the taxonomy says what is sensitive, which all settings share.
    """
    if settings[0].method.accepts.shared == "taxonomy":
        return
    named = {setting.method.claim.sensitive for setting in settings}
    if number.startswith("attribute") and (len(named) > 1 or () in named):
        raise UsageError(f"[compare] risk {number!r} needs the same sensitive values in every setting.")
