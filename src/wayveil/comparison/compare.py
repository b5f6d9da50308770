"""Several methods and parameters on one data set: the frontier between measured risk and measured loss.

See ``docs/research/compare.md`` for what is comparable and what is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from wayveil.comparison.comparison_files import candidates_of, write_comparison
from wayveil.comparison.comparison_measures import ComparisonMeasures, choose_measures
from wayveil.comparison.comparison_recipe import Plan, Setting, load_plan
from wayveil.comparison.comparison_runs import (
    ComparisonRun,
    input_hashes,
    make_run,
    private_text,
    ready_to_run,
    run_cell,
)
from wayveil.comparison.frontier import advice, choose, dominated
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, UsageError, check_fraction
from wayveil.model import Data, Engine, Progress
from wayveil.pipeline.folder.manifest import versions
from wayveil.pipeline.folder.staging import open_workspace, reporting_disk_errors
from wayveil.pipeline.input import load, prepare
from wayveil.recipe.catalog import kinds_needed, plain_parameters
from wayveil.report.results_json import is_percent, measured_values
from wayveil.report.text.number_format import format_percent, format_value
from wayveil.report.text.wording import duration, sentence, words

__all__ = ["Comparison", "compare"]

_SEED = "seed.txt"
_RISK_WORDS = {
    "identity_mean": "mean probability that a person is found",
    "identity_max": "probability that the person most at risk is found",
    "identity_share_above": "share of people who are found with more than the threshold",
    "attribute_mean": "mean confidence in a sensitive value of a person",
    "attribute_max": "confidence in a sensitive value of the person most at risk",
    "unique_share": "share of people who are singled out",
}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a comparison came to.

    `content` is what ``comparison.json`` holds; `ran` counts the publications that were not finished before;
    `recommended` is the recipe to run, None where no verified setting keeps the limit or no limit was given.
    """

    out: Path
    content: Mapping[str, Any]
    ran: int
    recommended: Path | None

    @property
    def sentence(self) -> str:
        """Which setting to take."""
        return str(self.content["sentence"])

    @property
    def settings(self) -> list[dict[str, Any]]:
        """One entry per setting, in the order of the recipe."""
        return list(self.content["settings"])

    @property
    def report(self) -> Path:
        """The page, one self-contained file."""
        return self.out / "comparison.html"


def compare(
    recipe_path: Path,
    *,
    out: Path | None = None,
    max_risk: Fraction | float | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Run every setting of a compare recipe that is not finished yet, and say which one to take.

    Parameters
    ----------
    recipe_path : Path
        A compare recipe.
    out : Path, optional
        Folder for the result, instead of that of the recipe.
    max_risk : number from 0 to 1, optional
        The risk that is accepted, instead of that of the recipe.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.

    Notes
    -----
    Every setting is an ordinary publication in ``OUT/cells``, verified or refused as always.  One that fails is shown
    with its reason and does not stop the others.
    """
    engine = engine or LocalEngine()
    plan = load_plan(recipe_path, out)
    limit = plan.max_risk
    if max_risk is not None:
        limit = float(check_fraction("compare", "max_risk", max_risk, low=0, high=1))
    # One yardstick is chosen for all settings before any is run; if there is none, nothing is.
    measures = choose_measures(plan.settings, plan.risk, plan.loss, fair=plan.fair)
    hashes = input_hashes(plan.input)
    # The folder is locked: two comparisons in one would delete each other's cells.
    with open_workspace(plan.out, overwrite=False, private=True):
        work = _Work(plan=plan, measures=measures, seed=_seed(plan), engine=engine, hashes=hashes)
        # One after the other: each run takes all cores, and times are told.
        rows = [work.row(number, setting) for number, setting in enumerate(plan.settings, 1)]
        content, chosen = _content(plan, measures, rows, limit, work.adversary)
        recommended = plan.out / "recommended.toml"
        with reporting_disk_errors(plan.out):
            recommended.unlink(missing_ok=True)
            if chosen is not None:
                cell = work.cells[chosen]
                private_text(recommended, ready_to_run(cell.recipe, plan.out, Path("recommended")))
        write_comparison(plan.out, content)
    return Comparison(out=plan.out, content=content, ran=work.ran, recommended=None if chosen is None else recommended)


@dataclass(kw_only=True)
class _Work:
    """Runs the cells one after the other; the original is read when a cell first needs it."""

    plan: Plan
    measures: ComparisonMeasures
    seed: int
    engine: Engine
    hashes: Mapping[str, Any]
    ran: int = 0
    adversary: str = ""

    def __post_init__(self) -> None:
        self.cells: dict[int, ComparisonRun] = {}
        self._original: Data | None = None

    def row(self, number: int, setting: Setting) -> dict[str, Any]:
        """Return what is known of a setting after running it."""
        runs: list[dict[str, Any]] = []
        wrong = setting.wrong
        cells: list[ComparisonRun] = []
        # Repeated with other seeds; a setting is as risky as its riskiest run.
        for turn in range(0 if wrong else self.plan.repeat):
            try:
                cell = make_run(self.plan, setting, self.measures, self.seed + turn, self.hashes)
            except UsageError as error:
                wrong = str(error)
                break
            measured, new = run_cell(cell, self.measures, self.original, self.engine, self._progress(number, setting))
            self.ran += new
            cells.append(cell)
            runs.append(self._numbers(cell, measured))
        row = _row(number, setting, runs, wrong)
        # Recommended is the run whose risk is shown, with its seed.
        if row["risk"] is not None:  # of several runs the riskiest is recommended: its risk is the one that is shown
            self.cells[number] = cells[[run["risk"] for run in runs].index(row["risk"])]
        return row

    def original(self) -> Data:
        """Return the input after the steps that all settings begin with."""
        if self._original is None:
            first = next(s for s in self.plan.settings if not s.wrong)
            loaded = load(self.plan.input, attributes=(), kinds=kinds_needed(first.steps, first.method))
            self._original = prepare(loaded, first.steps[: self.measures.n_common], self.plan.input).data
        return self._original

    def _progress(self, number: int, setting: Setting) -> Progress:
        settings = len(self.plan.settings)

        def tell(step: str, done: int = 0, total: int | None = None) -> None:
            self.engine.progress(f"{number} of {settings}, {setting.name}: {step}", number - 1, settings)

        return tell

    def _numbers(self, cell: ComparisonRun, measured: dict[str, Any]) -> dict[str, Any]:
        attack = measured.get("attack")
        score = measured.get("score")
        raw, published = (measured_values(attack[side]) for side in ("raw", "published")) if attack else ({}, {})
        self.adversary = attack["published"]["adversary"] if attack else self.adversary
        risk = self.measures
        return {
            "status": measured["status"],
            "reason": measured["reason"],
            "risk": risk.risk_of(published) if attack else None,
            "risk_low": risk.risk_of(published, "_low"),
            "risk_high": risk.risk_of(published, "_high"),
            "risk_raw": risk.risk_of(raw) if attack else None,
            "loss": risk.loss_of(score) if score else None,
            "percent": _is_percent(risk, score) if score else None,
            "turned": score is not None and risk.is_turned(score),
            "seconds": measured["seconds"],
            "kept": measured.get("shares", {}).get("trips"),
            "verdict": measured.get("verdict", {}).get("measured"),
            "folder": str(cell.folder.relative_to(self.plan.out)),
        }


def _is_percent(measures: ComparisonMeasures, score: Mapping[str, Any]) -> bool:
    return is_percent(score["numbers"][measures.loss] if measures.loss else score)


def _row(number: int, setting: Setting, runs: list[dict[str, Any]], wrong: str) -> dict[str, Any]:
    """Return a setting as JSON can hold it: of several runs the largest risk, the mean loss and the mean time."""
    # Of several runs the first that failed explains the setting.
    failed = next((run["reason"] for run in runs if run["status"] != "verified"), wrong)
    verified = bool(runs) and not wrong and all(run["status"] == "verified" for run in runs)
    unmeasured = verified and any(run["risk"] is None or run["loss"] is None for run in runs)
    if unmeasured:
        failed = "Published and verified, but the risk or the loss has no value for it, so it cannot be compared."
    riskiest = max(runs, key=lambda run: run["risk"]) if verified and not unmeasured else None
    return {
        "number": number,
        "setting": setting.name,
        "title": setting.title,
        "method": setting.name.split(" ")[0],
        "parameters": {} if setting.method is None else plain_parameters(setting.method),
        "prepare": [{"step": step.name, **plain_parameters(step)} for step in setting.steps],
        "status": "failed" if not verified else "unmeasured" if unmeasured else "verified",
        "reason": failed or runs[0]["reason"],
        **{key: None if riskiest is None else riskiest[key] for key in ("risk", "risk_low", "risk_high", "risk_raw")},
        "loss": None if riskiest is None else sum(run["loss"] for run in runs) / len(runs),
        "kept": None if riskiest is None else riskiest.get("kept"),
        "seconds": sum(run["seconds"] for run in runs) / len(runs) if runs else None,
        "dominated": None,
        "recommended": False,
        "folder": riskiest["folder"] if riskiest else runs[0]["folder"] if runs else None,
        "runs": runs,
    }


def _content(
    plan: Plan, measures: ComparisonMeasures, rows: list[dict[str, Any]], limit: float | None, adversary: str
) -> tuple[dict[str, Any], int | None]:
    """Return what ``comparison.json`` holds, and the number of the setting that is recommended."""
    # Only settings that were verified and measured can beat each other.
    candidates = candidates_of(rows)
    beaten = dominated(candidates)
    percent = next((run["percent"] for row in rows for run in row["runs"] if run["percent"] is not None), True)
    chosen = None if limit is None else choose(candidates, limit)
    for row in rows:
        row["dominated"] = row["number"] in beaten if row["status"] == "verified" else None
        row["recommended"] = chosen is not None and row["number"] == chosen.number
        row["shown"] = {
            "risk": format_percent(row["risk"]),
            "risk_raw": format_percent(row["risk_raw"]),
            "interval": _interval(row),
            "loss": format_value(row["loss"], percent=percent),
            "kept": format_percent(row["kept"]),
            "time": "–" if row["seconds"] is None else duration(row["seconds"]),
        }
    content = {
        "title": plan.title,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "input": plan.input.path.name,
        "risk": {
            "attack": measures.attack.name,
            "parameters": plain_parameters(measures.attack),
            "number": measures.risk,
            "meaning": _RISK_WORDS.get(measures.risk, words(measures.risk).lower()),
            "adversary": sentence(adversary),
        },
        "loss": {
            "metric": measures.metric.name,
            "parameters": plain_parameters(measures.metric),
            "number": measures.loss or "value",
            "meaning": measures.metric.summary,
            "turned": any(run["turned"] for row in rows for run in row["runs"]),
            "percent": percent,
            "against": _against(plan, measures),
        },
        "max_risk": limit,
        "max_risk_shown": None if limit is None else format_percent(limit),
        "repeat": plan.repeat,
        "counts": {
            "settings": len(rows),
            "verified": sum(row["status"] != "failed" for row in rows),
            "failed": sum(row["status"] == "failed" for row in rows),
            "undominated": len(candidates) - len(beaten),
        },
        "sentence": advice(candidates, limit, settings=len(rows), percent=percent),
        "settings": rows,
    }
    return content, None if chosen is None else chosen.number


def _interval(row: Mapping[str, Any]) -> str:
    if row["risk_low"] is None or row["risk_high"] is None:
        return ""
    return f"{format_percent(row['risk_low'])} to {format_percent(row['risk_high'])}"


def _against(plan: Plan, measures: ComparisonMeasures) -> str:
    steps = next(s for s in plan.settings if not s.wrong).steps[: measures.n_common]
    return "the input" + (f" after {', '.join(step.name for step in steps)}" if steps else "")


def _seed(plan: Plan) -> int:
    """Return the seed of the recipe, or else a secret one that is kept, so that what is finished stays finished."""
    # Drawn once and kept: another seed would make every finished cell a new one.
    if plan.seed is not None:
        return plan.seed
    path = plan.out / _SEED
    try:
        return int(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        seed = secrets.randbits(128)
    except (OSError, ValueError):
        raise InputError(f"The seed in {str(path)!r} cannot be read; remove the file to begin anew.") from None
    with reporting_disk_errors(plan.out):
        private_text(path, f"{seed}\n")
    return seed
