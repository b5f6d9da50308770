"""Several finished runs on one pair of axes."""

from __future__ import annotations

import tomllib
from typing import Any

from wayveil.comparison.finished_runs import Finished, compare_finished
from wayveil.errors import UsageError
from wayveil.recipe.recipe import make_recipe
from wayveil.web.answers import Refused, plainly
from wayveil.web.request import source_of
from wayveil.web.runs import Runs
from wayveil.web.server.disk import read_json

__all__ = ["compare_runs"]

_MOST = 100


def compare_runs(posted: Any, runs: Runs) -> dict[str, Any]:
    """Return risk and loss of the runs that can be compared with the first that published, and why not the others."""
    ids = posted.get("runs") if isinstance(posted, dict) else None
    if not isinstance(ids, list) or not 0 < len(ids) <= _MOST or not all(isinstance(id, str) for id in ids):
        raise Refused(400, f"Give the ids of 1 to {_MOST} runs to compare.")
    finished = []
    refused = []
    for id in dict.fromkeys(ids):
        job = runs.job(id)
        state = runs.state(id)
        scores = read_json(runs.place(id) / "result.json")
        if job["what"] != "publish" or state["state"] != "done" or scores is None:
            refused.append({"id": id, "why": "It has not published anything."})
            continue
        recipe = make_recipe(tomllib.loads((runs.place(id) / "recipe.toml").read_text(encoding="utf-8")))
        source = source_of(recipe, job["uploads"])
        finished.append(Finished(id=id, title=job["title"], recipe=recipe, scores=scores, source=source))
    if not finished:
        raise UsageError("None of these runs has published anything, so there is nothing to compare.")
    comparison = compare_finished(finished)
    for entry in comparison["refused"]:
        entry["why"] = plainly(entry["why"])
    return {**comparison, "refused": [*refused, *comparison["refused"]]}
