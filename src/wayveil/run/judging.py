"""Judge a published folder again, from its manifest and its files alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Stops, Verdict
from wayveil.run import catalog
from wayveil.run.manifest import Manifest, file_facts, read_manifest
from wayveil.run.reading import find_public, load_boxes, load_parts
from wayveil.run.scores import verdict_json
from wayveil.run.shares import judge_together
from wayveil.run.staging import MANIFEST
from wayveil.verify import Need, apart, class_keys, join_verdicts

__all__ = ["Judgement", "judge"]


_NOT_ALONE = (
    "the claim speaks of true positions, so the published files alone cannot show whether it holds; it held at "
    "publication, and whoever has the original can publish again with the same recipe and seed and compare the bytes"
)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was found wrong with a folder (nothing: it is fine), and the verdict on its data."""

    folder: Path
    manifest: Manifest
    manifest_sha256: str
    failures: tuple[str, ...]
    verdict: Verdict | None

    @property
    def holds(self) -> bool:
        """Whether the files are those of the manifest and keep its claim, as far as they can show."""
        return not self.failures

    def to_json(self) -> dict[str, Any]:
        """The judgement as JSON can hold it."""
        return {
            "holds": self.holds,
            "failures": list(self.failures),
            "manifest_sha256": self.manifest_sha256,
            "method": self.manifest.method,
            "promise": self.manifest.promise,
            "verdict": None if self.verdict is None else verdict_json(self.verdict, witness=True),
            "verdict_at_publication": self.manifest.verdict.model_dump(mode="json"),
        }


def judge(folder: Path) -> Judgement:
    """Check every file against the manifest and judge the claim; every failure is reported, not just the first.

    The claim is judged from the data even when a hash differs, and a correct hash does not excuse data that violate
    the claim.  Whoever can change the folder can also change the manifest: its own sha256 should travel separately.
    """
    public = find_public(folder)
    manifest, sha256 = read_manifest(public)
    failures = _file_failures(public, manifest)
    verdict = None
    try:
        verdict, rows, trajectories = _judged(public, manifest)
    except InputError as error:
        failures.append(f"the table cannot be read: {error}")
    else:
        failures += _count_failures(rows, trajectories, manifest)
        if verdict is None:
            failures.append(_NOT_ALONE)
        elif not verdict.holds:
            failures.append(f"the data do not keep the claim: {verdict.reason}")
    if not manifest.verdict.holds:
        failures.append("the manifest itself says that the claim did not hold")
    return Judgement(
        folder=public, manifest=manifest, manifest_sha256=sha256, failures=tuple(failures), verdict=verdict
    )


def _file_failures(folder: Path, manifest: Manifest) -> list[str]:
    failures = []
    for name, expected in sorted(manifest.files.items()):
        try:
            found = file_facts(folder / name)
        except OSError:
            failures.append(f"{name} is missing or cannot be read")
            continue
        if found.bytes != expected.bytes:
            failures.append(f"the size of {name} differs: {found.bytes:,} bytes instead of {expected.bytes:,}")
        if found.sha256 != expected.sha256:
            failures.append(f"the hash of {name} differs: the file was changed after publication")
    extra = sorted(path.name for path in folder.iterdir() if path.name not in (MANIFEST, *manifest.files))
    if extra:
        failures.append(f"{len(extra)} unlisted in the manifest: {', '.join(extra)}")
    return failures


def _count_failures(rows: int, trajectories: int, manifest: Manifest) -> list[str]:
    failures = []
    if rows != manifest.rows:
        failures.append(f"the table has {rows:,} rows instead of {manifest.rows:,}")
    if trajectories != manifest.trajectories:
        failures.append(f"the table has {trajectories:,} trajectories instead of {manifest.trajectories:,}")
    return failures


def _judged(folder: Path, manifest: Manifest) -> tuple[Verdict | None, int, int]:
    """Return the verdict, if files alone can give one, and the number of rows and trajectories."""
    claim, together = manifest.guarantee, manifest.table.parts == "together"
    verdicts, classes, rows, trajectories = [], [], 0, 0
    for number, part in enumerate(load_parts(folder, manifest)):
        rows, trajectories = rows + part.data.n_rows, trajectories + len(part.data)
        if claim.judged_alone and not together:
            boxes = load_boxes(folder, manifest, part, number)
            verdicts.append(catalog.verify(part.data, claim, boxes=boxes))
        if isinstance(part.data, Stops):
            classes.append(np.unique(class_keys(part.data)))
    if not claim.judged_alone:
        return None, rows, trajectories
    if together:
        return judge_together(folder, manifest), rows, trajectories
    met: list[Need] = ["classes apart"] if classes and apart(classes) else []
    return join_verdicts(verdicts, met=met), rows, trajectories
