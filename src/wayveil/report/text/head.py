"""The head of a result: what it came to in one honest sentence, the same on the terminal, in the report and as JSON.

Green is for a promise kept *and* data left *and* nobody exposed: an attack that is measured, whether or not the promise
speaks of it, must not find anybody with more than the risk that the promise tolerates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wayveil.model import AttackResult, Number
from wayveil.model.numbers import ABOUT, threshold_text

__all__ = ["Exposure", "Head", "exposures", "make_head"]

State = Literal["kept", "but", "refused"]

_TITLES: dict[State, str] = {
    "kept": "Published and verified",
    "but": "Published and verified, but",
    "refused": "Not published",
}


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """An attack that finds people, or infers something of them, with more than the risk that is tolerated.

    `share` are the people above the limit; `mean` and `largest` are the risk on average and of the person most at risk.
    """

    attack: str
    about: str
    limit: float
    share: Number
    mean: Number | None
    largest: Number | None

    @property
    def sentence(self) -> str:
        """The exposure in words, without a full stop."""
        does = ABOUT[self.share.about][1] or "succeed"
        worst = "" if self.largest is None or self.largest.value is None else f", at worst {self.largest.text}"
        limit = threshold_text(self.limit, odds=self.share.about == "identity")
        return f"{self.attack} can {does} with a chance above {limit} for {self.share.text} of the people{worst}"

    def to_json(self) -> dict[str, Any]:
        """Return the exposure as JSON can hold it."""
        return {
            "attack": self.attack,
            "about": self.about,
            "limit": self.limit,
            "share_above": self.share.value,
            "mean": None if self.mean is None else self.mean.value,
            "largest": None if self.largest is None else self.largest.value,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a publication came to: kept and low, kept but something, or refused.

    `reasons` say what is behind a "but": first how little is left, then the attack that exposes most people.
    """

    state: State
    reasons: tuple[str, ...] = ()
    exposed: tuple[Exposure, ...] = ()
    remedies: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The first words."""
        return _TITLES[self.state]

    @property
    def sentence(self) -> str:
        """The whole head in one sentence."""
        return f"{self.title} {'; '.join(self.reasons)}." if self.reasons else f"{self.title}."

    def to_json(self) -> dict[str, Any]:
        """Return the head as JSON can hold it."""
        return {
            "state": self.state,
            "title": self.title,
            "sentence": self.sentence.replace("\N{NO-BREAK SPACE}", " "),
            "reasons": [reason.replace("\N{NO-BREAK SPACE}", " ") for reason in self.reasons],
            "exposed": [one.to_json() for one in self.exposed],
            "remedies": list(self.remedies),
        }


def exposures(published: Sequence[AttackResult]) -> tuple[Exposure, ...]:
    """Return the attacks on published data that exceed their limit, those that expose most people first."""
    found: list[Exposure] = []
    for result in published:
        for share in result.numbers.values():
            if share.statistic != "share above" or share.threshold is None or not share.value:
                continue
            same = [number for number in result.numbers.values() if number.about == share.about]
            found.append(
                Exposure(
                    attack=result.name,
                    about=share.about,
                    limit=share.threshold,
                    share=share,
                    mean=next((number for number in same if number.statistic == "mean"), None),
                    largest=next((number for number in same if number.statistic == "largest"), None),
                )
            )
    return tuple(sorted(found, key=_rank))


def make_head(*, holds: bool, published: Sequence[AttackResult], remaining: Any) -> Head:
    """Return the head of a publication from its verdict, its attacks and what is left (`pipeline.remaining`)."""
    if not holds:
        return Head(state="refused")
    exposed = exposures(published)
    reasons: list[str] = []
    remedies: tuple[str, ...] = ()
    if remaining.below_half:
        took = ", ".join(f"{name} took {_percent(share)}" for name, share in remaining.list_reasons())
        reasons.append(f"only {_percent(remaining.shares[remaining.worst])} of the {remaining.worst} are left: {took}")
        remedies = tuple(remaining.remedies)
    if exposed:
        others = len({one.attack for one in exposed} - {exposed[0].attack})
        more = f" ({others} other attack{'s' if others > 1 else ''} above the limit, too)" if others else ""
        reasons.append(exposed[0].sentence + more)
        remedies += ("coarser times or places, or a larger k; who is not stopped stands in the report",)
    return Head(state="but" if reasons else "kept", reasons=tuple(reasons), exposed=exposed, remedies=remedies)


def _rank(one: Exposure) -> tuple[float, float, str]:
    mean = 0.0 if one.mean is None or one.mean.value is None else float(one.mean.value)
    return -float(one.share.value or 0), -mean, one.attack


def _percent(share: float) -> str:
    """Return a share in percent that never rounds a loss away."""
    if share >= 1:
        return "100 %"
    return f"{min(share * 100, 99.9):.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"
