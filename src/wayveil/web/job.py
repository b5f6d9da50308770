"""One run in a process of its own: ``python -m wayveil.web.job FOLDER THREADS``; see `wayveil.web.jobs`.

Says how it goes in ``progress.json`` and how it ended in ``end.json``.  The files that are read are called by their
ids; in every text that a person may see, the ids become the names that people know.
"""

from __future__ import annotations

import sys
import threading
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayveil.advice import advise
from wayveil.commands.risk import risk, write_risk_page
from wayveil.comparison.finished_runs import headline, risk_headline, yardstick_of
from wayveil.errors import WayveilError, describe_bug
from wayveil.pipeline.folder.staging import write_private
from wayveil.pipeline.publish import NotPublished, publish
from wayveil.recipe.catalog import build, make_engine
from wayveil.recipe.recipe import Recipe, make_input, make_recipe
from wayveil.report.attack_section import raw_risk_rows
from wayveil.report.results_json import RESULTS_FILE, results_json, to_text
from wayveil.web.answers import plainly
from wayveil.web.request import with_uploads
from wayveil.web.server.disk import read_json, write_json

__all__ = ["main"]

_EVERY_S = 0.2


def main(arguments: list[str]) -> int:
    """Run a job; 0 done, 1 the verdict failed, 2 anything else."""
    place = Path(arguments[0])
    threads = int(arguments[1])
    job = _Job(place, threads)
    try:
        end = {"publish": job.publish, "risk": job.risk, "advise": job.advise}[job.request["what"]]()
    except NotPublished as refusal:
        end = {"state": "refused", "error": job.refusal(refusal), "headline": None}
    except WayveilError as error:
        end = {"state": "failed", "error": job.named(str(error))}
    except MemoryError:
        end = {"state": "failed", "error": "There is not enough memory for these data; nothing was published."}
    except OSError:
        end = {"state": "failed", "error": "The system refused to read or write a file; nothing was published."}
    except Exception as error:
        end = {"state": "failed", "error": describe_bug(error)}
    job.progress.close()
    write_json(place / "end.json", end)
    return {"done": 0, "refused": 1}.get(end["state"], 2)


class _Job:
    """What was asked for, and the files that it reads."""

    def __init__(self, place: Path, threads: int) -> None:
        self.place = place
        self.request: Mapping[str, Any] = read_json(place / "job.json")
        self.names: Mapping[str, str] = self.request["names"]
        folder = place.parent.parent / "files"
        self.paths = {id: _file_in(folder / id) for id in self.names}
        self.progress = _ProgressFile(place / "progress.json")
        self.engine = make_engine(progress=self.progress, workers=threads)

    def recipe(self) -> Recipe:
        """Return the recipe with the paths of uploads."""
        recipe = make_recipe(tomllib.loads((self.place / "recipe.toml").read_text(encoding="utf-8")))
        source = with_uploads(recipe.input, self.request["uploads"], self.paths)
        target = recipe.output.model_copy(update={"path": self.place / "out"})
        return recipe.model_copy(update={"input": source, "output": target})

    def publish(self) -> dict[str, Any]:
        recipe = self.recipe()
        outcome = publish(recipe, engine=self.engine, yardstick=yardstick_of(recipe))
        self._rename(outcome.private)
        return {"state": "done", "error": None, "headline": headline(self._keep_scores(outcome.private))}

    def advise(self) -> dict[str, Any]:
        """Search for settings; the page offers those that were found."""
        # Lines of progress tell settings and what they leave: the page shows the last, and how many there will be.
        advice = advise(self.recipe(), progress=self.progress, engine=self.engine, **self.request["content"])
        result = advice.to_json()
        write_private(self.place / "result.json", to_text({**result, "reason": self.named(result["reason"])}))
        return {"state": "done", "error": None, "headline": None}

    def refusal(self, refusal: NotPublished) -> str:
        """Return why nothing was published, after keeping the private files that say so."""
        outcome = refusal.outcome
        if outcome is None:
            return self.named(str(refusal))
        self._rename(outcome.private)
        self._keep_scores(outcome.private)
        return self.named(f"Nothing was published: {outcome.verdict.reason}")

    def risk(self) -> dict[str, Any]:
        content = self.request["content"]
        spec = with_uploads(make_input(content["input"]), self.request["uploads"], self.paths)
        steps = tuple(build("step", s["step"], {k: v for k, v in s.items() if k != "step"}) for s in content["prepare"])
        sensitive = tuple((name, tuple(values)) for name, values in content["sensitive"].items())
        self.progress("read and prepare")
        answer = risk(spec, sensitive=sensitive, steps=steps, seed=content["seed"], engine=self.engine)
        out = self.place / "out"
        out.mkdir(mode=0o700, exist_ok=True)
        write_risk_page(answer, Path(self.request["file"]), out / "report.html", overwrite=True)
        results = results_json(answer.results)
        result = {
            "attacks": [{"raw": one, "published": None} for one in results],
            "risks": raw_risk_rows(answer.results),
            "notes": [self.named(note) for note in answer.notes],
            "facts": answer.facts,
            "input_facts": {"File": self.request["file"]},
        }
        write_private(self.place / "result.json", to_text(result))
        return {"state": "done", "error": None, "headline": risk_headline(results)}

    def named(self, text: str) -> str:
        """Return a sentence with the names of files in place of their paths, and without words of the command line."""
        return plainly(self._with_names(text))

    def _with_names(self, text: str) -> str:
        for id, path in self.paths.items():
            text = text.replace(str(path), self.names[id]).replace(path.name, self.names[id])
        return text.replace(str(self.place), "the result").replace(str(self.place.parent.parent), "")

    def _rename(self, private: Path) -> None:
        """Put the names of files into the private texts; names hold no sign that means something in HTML."""
        for name in ("report.html", RESULTS_FILE, "log.txt"):
            path = private / name
            path.write_text(self._with_names(path.read_text(encoding="utf-8")), encoding="utf-8")

    def _keep_scores(self, private: Path) -> dict[str, Any]:
        scores: dict[str, Any] = read_json(private / RESULTS_FILE)
        scores["notes"] = [plainly(note) for note in scores["notes"]]
        write_json(self.place / "result.json", scores)
        return scores


class _ProgressFile:
    """Progress on disk: the steps so far with their seconds, and how far the last one is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._steps: list[dict[str, Any]] = []
        self._began = self._written = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        with self._lock:
            new = not self._steps or self._steps[-1]["step"] != step
            now = self._end_last()
            if new:
                self._steps.append({"step": step, "seconds": 0.0})
                self._began = now
            if new or now - self._written >= _EVERY_S:
                self._written = now
                write_json(self._path, {"step": step, "done": done, "total": total, "steps": self._steps})

    def close(self) -> None:
        """End the last step."""
        with self._lock:
            self._end_last()
            write_json(self._path, {"step": None, "done": None, "total": None, "steps": self._steps})

    def _end_last(self) -> float:
        now = time.monotonic()
        if self._steps:
            self._steps[-1]["seconds"] = round(now - self._began, 3)
        return now


def _file_in(folder: Path) -> Path:
    """Return the file in the folder of an upload; where it is gone, the reader will say so."""
    facts = read_json(folder / "facts.json") or {"file": folder.name}
    return folder / str(facts["file"])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
