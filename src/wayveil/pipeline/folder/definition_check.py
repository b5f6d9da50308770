"""A second opinion on a small publication: the claim judged by its definition, beside the fast verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from wayveil.model import Boxes, Verdict, concat
from wayveil.pipeline.folder.manifest import Manifest
from wayveil.pipeline.input import load_boxes, load_parts
from wayveil.recipe.verdict_record import JudgedData
from wayveil.verifiers import NEED_TRUTH, find_break_by_definition

__all__ = ["Answer", "SecondOpinion", "judge_files_by_definition", "judge_truth_by_definition"]

Answer = Literal["holds", "fails", "not judged"]


@dataclass(frozen=True, kw_only=True)
class SecondOpinion:
    """What the definition says of a publication, and each sentence about what is wrong."""

    answer: Answer
    failures: tuple[str, ...] = ()

    @classmethod
    def of(cls, sentence: str, verdict: Verdict, *, comparable: bool) -> SecondOpinion:
        """Compare how the definition is broken, "" if it is not, with the verdict of the fast verifier.

        Where they are not `comparable`, a verdict that fails may do so for a reason that is none by the definition.
        """
        # Four cases of two programs.  If both find it broken, or both do not, they agree; if they differ, it is said
        # which of the two found it, and the folder fails either way.
        failures = []
        if sentence:
            failures.append(f"by its definition the claim is broken: {sentence}")
            if verdict.holds:
                failures.append(
                    "the verifier and the definition disagree: only the definition finds the claim broken; one of the "
                    "two programs is wrong, so do not rely on this verdict, and report it"
                )
        elif comparable and not verdict.holds:
            failures.append(
                "the verifier and the definition disagree: only the verifier finds the claim broken; until it is known "
                "which of the two programs is wrong, take the data as unsafe, and report it"
            )
        return cls(answer="fails" if sentence else "holds", failures=tuple(failures))

    def join(self, with_truth: SecondOpinion) -> SecondOpinion:
        """Return both opinions as one: that on the files alone, and that with owners and true positions."""
        failures = tuple(dict.fromkeys((*self.failures, *with_truth.failures)))
        return SecondOpinion(answer="fails" if self.answer == "fails" else with_truth.answer, failures=failures)


def judge_files_by_definition(folder: Path, manifest: Manifest, verdict: Verdict) -> SecondOpinion:
    """Judge all parts of a public folder together, as its files show them."""
    # Claims about true positions cannot be judged from the files.
    if manifest.guarantee.name in NEED_TRUTH:
        return SecondOpinion(answer="not judged")
    parts: list[Any] = []
    boxes: list[Any] = []
    # Codes of owners begin anew in every part; they are shifted, as nobody can know that two parts share a person.
    n_trajectories = 0
    for number, part in enumerate(load_parts(folder, manifest)):
        beside = load_boxes(folder, manifest, part, number)
        parts.append(_number_owners(part.data, n_trajectories))
        if beside is not None:
            boxes.append(_number_owners(beside, n_trajectories))
        n_trajectories += len(part.data)
    joined: Boxes | None = concat(boxes) if boxes else None
    sentence = find_break_by_definition(concat(parts), manifest.guarantee, boxes=joined)
    # Parts are judged one by one: one that fails may be saved by the others, which the fast verifier does not look for.
    return SecondOpinion.of(sentence, verdict, comparable=len(parts) == 1)


def judge_truth_by_definition(judged: Sequence[JudgedData]) -> SecondOpinion:
    """Judge what a publication of the original gave to the verifier, with owners and true positions, part by part."""
    if not judged:
        return SecondOpinion(answer="not judged")
    opinions = []
    for one in judged:
        sentence = find_break_by_definition(one.published, one.claim, original=one.original, boxes=one.boxes)
        opinions.append(SecondOpinion.of(sentence, one.verdict, comparable=True))
    fails = any(opinion.answer == "fails" for opinion in opinions)
    sentences = dict.fromkeys(sentence for opinion in opinions for sentence in opinion.failures)
    return SecondOpinion(answer="fails" if fails else "holds", failures=tuple(sentences))


def _number_owners(data: Any, first: int) -> Any:
    """Return a part whose owners are other people than those of the parts before it: files do not say who they are."""
    return replace(data, owner=data.owner + first)
