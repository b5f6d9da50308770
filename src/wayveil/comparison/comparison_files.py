"""The files of a comparison: JSON, CSV, and a page of HTML that says nothing else."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wayveil.commands.table_files import write_file
from wayveil.comparison.frontier import Candidate
from wayveil.report.figures import Drawn, page_parts
from wayveil.report.page_templates import environment, page_style
from wayveil.report.results_json import to_text
from wayveil.report.text.wording import date_words, words

__all__ = ["candidates_of", "write_comparison"]

_COLUMNS = (
    "number", "setting", "title", "method", "status", "risk", "risk_low", "risk_high", "risk_raw", "loss", "kept",
    "seconds", "dominated", "recommended", "reason", "folder",
)  # fmt: skip


def write_comparison(out: Path, content: dict[str, Any]) -> None:
    """Write the content as JSON, its settings as CSV, and the page; each appears in one step."""
    texts = {
        # JSON is the whole result; CSV and page are two views of it.
        "comparison.json": to_text(content),
        "comparison.csv": _csv(content["settings"]),
        "comparison.html": _html(content),
    }
    for name, text in texts.items():
        write_file(out / name, lambda path, text=text: path.write_text(text, encoding="utf-8", newline=""))  # type: ignore[misc]


def candidates_of(rows: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """Return the settings that can be compared: verified, with both numbers."""
    return [
        Candidate(number=row["number"], name=row["setting"], risk=row["risk"], loss=row["loss"])
        for row in rows
        if row["status"] == "verified"
    ]


def _csv(rows: list[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow(["" if row[name] is None else row[name] for name in _COLUMNS])
    return file.getvalue()


def _html(content: dict[str, Any]) -> str:
    """Return the page; all that it says is in `content`."""
    risk = content["risk"]
    loss = content["loss"]
    number = "" if loss["number"] == "value" else f" ({words(loss['number']).lower()})"
    compared = [row for row in content["settings"] if row["status"] == "verified"]
    raw = [row["risk_raw"] for row in compared if row["risk_raw"] is not None]
    frontier = {
        "spots": [
            {
                "name": str(row["number"]),
                "title": f"{row['number']}: {row['title'] + ', ' if row['title'] else ''}{row['setting']}",
                "risk": row["risk"],
                "loss": row["loss"],
                "dominated": row["dominated"],
                "chosen": row["recommended"],
            }
            for row in compared
        ],
        "raw": max(raw, default=None),
        "limit": content["max_risk"],
        "riskLabel": risk["meaning"],
        "lossLabel": f"{'100 % less ' if loss['turned'] else ''}{words(loss['metric']).lower()}{number}",
        "percent": loss["percent"],
    }
    view = {
        "content": content,
        "created": date_words(content["created"]),
        "drawn": Drawn(frontier=frontier),
        "page": page_parts(page_style("report.css", "compare.css")),
        "words": words,
    }
    return environment().get_template("compare.html.j2").render(view)
