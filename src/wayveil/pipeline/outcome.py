"""What a publication came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wayveil.errors import VerdictFailed
from wayveil.model import AttackResult, Score, Verdict
from wayveil.pipeline.remaining import Remaining
from wayveil.recipe.measuring import DRAWN
from wayveil.recipe.purpose import Use
from wayveil.report.text.head import Head, make_head

__all__ = ["NotPublished", "Outcome"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a publication came to; `public` and `manifest_sha256` are None where nothing was published.

    `promise` is the claim in words, with the declaration of the publisher where each trajectory counts as a person.
    `max_risk` is the risk that the publisher accepts, and `use` what the data are for.  `missing_attacks` fit the data
    but were not run, because less than everything was to be measured; `sampled_attacks` were played on a few people.
    """

    public: Path | None
    private: Path
    verdict: Verdict
    promise: str
    attacks: tuple[tuple[AttackResult, AttackResult], ...]
    scores: tuple[Score, ...]
    notes: tuple[str, ...]
    counted: str
    output_facts: Mapping[str, str]
    timings: Mapping[str, float]
    manifest_sha256: str | None
    remaining: Remaining = field(default_factory=Remaining)
    max_risk: float | None = None
    use: Use | None = None
    missing_attacks: tuple[str, ...] = ()
    sampled_attacks: tuple[str, ...] = ()

    @property
    def head(self) -> Head:
        """What it came to, in one honest sentence: the same on the terminal, in the report and as JSON."""
        return make_head(
            holds=self.verdict.holds,
            published=tuple(after for _, after in self.attacks),
            raw=tuple(before for before, _ in self.attacks),
            remaining=self.remaining,
            scores=self.scores,
            limit=self.max_risk,
            use=self.use,
            missing=self.missing_attacks,
            drawn=DRAWN if self.sampled_attacks else 0,
            counted="people" if self.verdict.counted == "owners" else "trajectories",
            not_stopped=self.verdict.claim.not_covered,
            promised={protection.attack for protection in self.verdict.claim.protects},
        )

    @property
    def report(self) -> Path:
        """The report, one self-contained file."""
        return self.private / "report.html"


class NotPublished(VerdictFailed):
    """The claim does not hold for what the method made, or nothing is left of it, so nothing was published."""

    def __init__(self, message: str, outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome
