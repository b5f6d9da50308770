"""The head of a result: what it came to in one honest sentence, computed once and shown everywhere alike.

Three states.  *Kept and low* is for a promise kept, data left for their purpose, and nobody exposed: an attack that is
measured, whether or not the promise speaks of it, must not find anybody with more than the risk that is accepted.
*Kept, but* says what exceeds that, how much is lost, or that not every attack was run, and what to try.  *Not
published* is the third.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wayveil.model import AttackResult, Number, Score
from wayveil.model.numbers import ABOUT, threshold_text
from wayveil.recipe.purpose import Use, lost_share, telling_score
from wayveil.report.text.wording import words

__all__ = ["LABELS", "Exposure", "Head", "StrongestAttack", "exposures", "make_head"]

State = Literal["kept", "but", "refused"]

LABELS: dict[State, str] = {"kept": "Kept and low", "but": "Kept, but", "refused": "Not published"}
"""The three states in words."""

_HALF = 0.5
_RULE_OF_THREE = 3.0  # nothing seen in n draws: with 95 % confidence the share is at most 3 / n
_FAR = 0.25  # of a distribution that synthetic trips should have and do not; a kept half of true trips is still true
_TITLES: dict[State, str] = {
    "kept": "Published and verified",
    "but": "Published and verified, but",
    "refused": "Not published",
}


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """An attack that finds people, or infers something of them, with more than the risk that is tolerated.

    `share` are the people above the limit; `mean` and `largest` are the risk on average and of the person most at risk.
    `adversary` says what the attacker knows, where the promise stops one who plays the same attack and knows less.
    """

    attack: str
    about: str
    limit: float
    share: Number
    mean: Number | None
    largest: Number | None
    counted: str = "people"
    adversary: str = ""

    @property
    def sentence(self) -> str:
        """The exposure in words, without a full stop."""
        # What the attacker then does, in words that fit "can".
        does = ABOUT[self.share.about][1] or "succeed"
        worst = "" if self.largest is None or self.largest.value is None else f", at worst {self.largest.text}"
        limit = threshold_text(self.limit, odds=self.share.about == "identity")
        chance = f"can {does} with a chance above {limit} for {self.share.text} of the {self.counted}{worst}"
        return f"the attack {_named(self.attack, self.adversary)} {chance}"

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
class StrongestAttack:
    """The attack that says most of what is published: the one that exposes most people, or else the largest mean."""

    attack: str
    raw: Number | None
    mean: Number
    largest: Number | None
    above: Number | None
    adversary: str = ""

    @property
    def sentence(self) -> str:
        """What the attacker achieves, before and after, on average and at worst, and for how many above the limit."""
        does = ABOUT[self.mean.about][1] or "succeeds"
        before = "" if self.raw is None or self.raw.value is None else f"{self.raw.text} -> "
        text = f"{_named(self.attack, self.adversary)}: {does} with {before}{self.mean.text} on average"
        if self.mean.interval_text:
            text += f" ({self.mean.interval_text})"
        if self.largest is not None and self.largest.value is not None:
            text += f", {self.largest.text} at worst"
        if self.above is not None and self.above.value is not None and self.above.threshold is not None:
            text += f"; {self.above.text} above {threshold_text(self.above.threshold)}"
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the attack as JSON can hold it."""
        numbers = {"raw": self.raw, "mean": self.mean, "largest": self.largest, "above": self.above}
        content = {name: None if number is None else number.to_json() for name, number in numbers.items()}
        return {"attack": self.attack, **content, "sentence": _spaced(self.sentence)}


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a publication came to: kept and low, kept but something, or refused.

    `reasons` say what is behind a "but": first how little is left, then the attack that exposes most people.  `risk` is
    the attack that says most, `loss` the score that tells most for what the data are for, and `left` what is left of
    rows, trips and people, `sizes` how coarse it is in metres and minutes, and `not_stopped` the attackers of whom the
    promise does not speak.  `limit` is the risk that the publisher accepts, None where it is that of the promise.
    `missing` are the attacks that were not run.  Where some were played on a few people only, `drawn` says on how many.
    """

    state: State
    reasons: tuple[str, ...] = ()
    exposed: tuple[Exposure, ...] = ()
    remedies: tuple[str, ...] = ()
    risk: StrongestAttack | None = None
    loss: Score | None = None
    left: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    use: Use | None = None
    missing: tuple[str, ...] = ()
    drawn: int = 0
    sizes: str = ""
    not_stopped: tuple[str, ...] = ()

    @property
    def not_stopped_sentence(self) -> str:
        """The first of the attackers who are not stopped, and how many others there are; or nothing."""
        if not self.not_stopped:
            return ""
        others = len(self.not_stopped) - 1
        more = f" (and {others} more in the report)" if others else ""
        return f"{self.not_stopped[0]}{more}"

    @property
    def next_step(self) -> str:
        """What to do now."""
        if self.state == "kept":
            return "read the report, then hand out the public folder; README.html in it tells recipients the rest"
        return "; ".join(self.remedies) or "see the report"

    @property
    def label(self) -> str:
        """The state in words."""
        return LABELS[self.state]

    @property
    def loss_sentence(self) -> str:
        """The telling loss in words, or nothing."""
        if self.loss is None:
            return ""
        word = "lost" if self.loss.better == "lower" else "kept"
        return f"{words(self.loss.name)}: {self.loss.number.text} {word if self.loss.percent else ''}".rstrip()

    @property
    def title(self) -> str:
        """The first words."""
        return _TITLES[self.state]

    @property
    def sentence(self) -> str:
        """The whole head in one sentence."""
        first = f"{self.title} {'; '.join(self.reasons)}." if self.reasons else f"{self.title}."
        return f"{first} {self.drawn_sentence}" if self.drawn_sentence else first

    @property
    def drawn_sentence(self) -> str:
        """What attacks on a few people leave open, where the risk is called low; or nothing."""
        if not self.drawn or self.exposed or self.state == "refused":
            return ""
        # If a share s were above, n draws would all miss it with (1 - s)^n, which is 5 % at s = 3 / n.
        return (
            f"Attackers outside of the promise were played on {self.drawn:,} people who were drawn, none of them above "
            f"the limit: of all people at most {_percent(_RULE_OF_THREE / self.drawn)} are, with 95 % confidence."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the head as JSON can hold it."""
        return {
            "state": self.state,
            "label": self.label,
            "title": self.title,
            "sentence": _spaced(self.sentence),
            "reasons": [_spaced(reason) for reason in self.reasons],
            "exposed": [one.to_json() for one in self.exposed],
            "remedies": list(self.remedies),
            "risk": None if self.risk is None else self.risk.to_json(),
            "loss": None if self.loss is None else self._loss_json(self.loss),
            "left": dict(self.left),
            "limit": self.limit,
            "use": self.use,
            "sizes": self.sizes,
            "not_stopped": list(self.not_stopped),
            "next": self.next_step,
            **({"missing": list(self.missing)} if self.missing else {}),
            **({"drawn": self.drawn} if self.drawn else {}),
        }

    def _loss_json(self, loss: Score) -> dict[str, Any]:
        return {
            "name": loss.name,
            "meaning": loss.meaning,
            "number": loss.number.to_json(),
            "sentence": _spaced(self.loss_sentence),
        }


def _named(attack: str, adversary: str) -> str:
    return f"{attack} (an attacker who {adversary})" if adversary else attack


def exposures(
    published: Sequence[AttackResult], counted: str = "people", promised: Collection[str] = ()
) -> tuple[Exposure, ...]:
    """Return the attacks on published data that exceed their limit, those that expose most people first.

    Of attacks that are `promised` to be stopped for some of what can be known, it is said what this attacker knows.
    """
    exposures_left: list[Exposure] = []
    for result in published:
        # Each number that counts people above a limit is an exposure, if anybody is above it.
        for share in result.numbers.values():
            if share.statistic != "share above" or share.threshold is None or not share.value:
                continue
            exposures_left.append(
                Exposure(
                    attack=result.name,
                    about=share.about,
                    limit=share.threshold,
                    share=share,
                    mean=_find(result, share.about, "mean"),
                    largest=_find(result, share.about, "largest"),
                    counted=counted,
                    adversary=result.adversary if result.name in promised else "",
                )
            )
    return tuple(sorted(exposures_left, key=_rank))


def make_head(
    *,
    holds: bool,
    published: Sequence[AttackResult],
    remaining: Any,
    raw: Sequence[AttackResult] = (),
    scores: Sequence[Score] = (),
    limit: float | None = None,
    use: Use | None = None,
    missing: Sequence[str] = (),
    drawn: int = 0,
    counted: str = "people",
    not_stopped: Sequence[str] = (),
    promised: Collection[str] = (),
) -> Head:
    """Return the head of a publication.

    Parameters
    ----------
    holds : bool
        The verdict.
    published, raw : sequence of AttackResult
        The same attacks on the published and on the raw data.
    remaining : Remaining
        What is left of the file: see `pipeline.remaining`.
    scores : sequence of Score
        What was lost.
    limit : float, optional
        The risk that the publisher accepts; the attacks were run with it.
    use : Use, optional
        What the data are for.
    missing : sequence of str
        Attacks that fit the data and were not run: nobody can call a risk low that was not measured.
    drawn : int
        On how many people some attacks were played, because the data are large; 0 where all were played as usual.
    counted : str
        What the promise counts: "people", or "trajectories" where each is taken to be a person.
    not_stopped : sequence of str
        The attackers of whom the promise does not speak.
    promised : collection of str
        The attacks that the promise speaks of: where one of them exposes people all the same, its attacker knows more
        than the promise allows, and is told.
    """
    exposed = exposures(published, counted, promised)
    loss = telling_score(scores, use)
    content: dict[str, Any] = {
        "exposed": exposed,
        "risk": _strongest(published, raw, exposed, promised),
        "loss": loss,
        "left": {} if remaining.synthetic else remaining.shares,
        "limit": limit,
        "use": use,
        "sizes": remaining.sizes,
        "not_stopped": tuple(not_stopped),
        "missing": tuple(missing),
        "drawn": drawn,
    }
    # Three states: refused, kept but with reasons, kept and low.  A reason is something the publisher should decide
    # about, with what to try.
    if not holds:
        return Head(state="refused", **content)
    reasons: list[str] = []
    remedies: tuple[str, ...] = ()
    lost = None if loss is None else lost_share(loss)
    # What is left comes first: a promise that is kept by publishing nothing is of no use.
    if remaining.below_half:
        took = ", ".join(f"{name} took {_percent(share)}" for name, share in remaining.list_reasons())
        reasons.append(f"only {_percent(remaining.shares[remaining.worst])} of the {remaining.worst} are left: {took}")
        remedies = tuple(remaining.remedies)
    elif remaining.synthetic:
        # Nothing of the data is left in synthetic trips: what counts is how far they are from them.
        reasons += _distance_reasons(loss, lost)
        remedies = tuple(remaining.remedies) if reasons else ()
    elif loss is not None and lost is not None and lost > _HALF:
        purpose = f" for {use}" if use is not None else ""
        reasons.append(f"most of the use{purpose} is lost ({words(loss.name).lower()} {loss.number.text})")
        remedies = tuple(remaining.remedies)
    if exposed:
        others = len({one.attack for one in exposed} - {exposed[0].attack})
        more = f" ({others} other attack{'s' if others > 1 else ''} above the limit, too)" if others else ""
        reasons.append(exposed[0].sentence + more)
        remedies += ("coarser times or places, or a larger k; the report lists who is not stopped",)
    if not published and not missing:
        # No attack of ours fits, as with noisy counts: then the promise is all that is known, and it is not called low.
        reasons.append("no attack fits what is published, so nothing but the promise bounds the risk")
    if missing:
        reasons.append(f"{len(missing)} attack{'s were' if len(missing) > 1 else ' was'} not run")
        remedies += ("wayveil measure, which runs the attacks and metrics that were left out",)
    return Head(state="but" if reasons else "kept", reasons=tuple(reasons), remedies=remedies, **content)


def _distance_reasons(loss: Score | None, lost: float | None) -> list[str]:
    """Return why synthetic trips may not be called useful: too far from the data, or nobody measured it."""
    if loss is None or lost is None:
        return ["how far the synthetic trips are from the data was not measured"]
    if lost <= _FAR:
        return []
    return [f"the synthetic trips are far from the data ({words(loss.name).lower()}: {loss.number.text} differ)"]


def _strongest(
    published: Sequence[AttackResult],
    raw: Sequence[AttackResult],
    exposed: Sequence[Exposure],
    promised: Collection[str],
) -> StrongestAttack | None:
    """Return the attack of the first exposure, or else the one with the largest mean."""
    ranked: list[tuple[tuple[float, float], StrongestAttack]] = []
    before = dict(enumerate(raw))
    for position, result in enumerate(published):
        for about in ABOUT:
            mean = _find(result, about, "mean")
            if not about or mean is None or mean.value is None:
                continue
            above = _find(result, about, "share above")
            strongest = StrongestAttack(
                attack=result.name,
                raw=None if position not in before else _find(before[position], about, "mean"),
                mean=mean,
                largest=_find(result, about, "largest"),
                above=above,
                adversary=result.adversary if exposed and result.name in promised else "",
            )
            share = 0.0 if above is None or above.value is None else float(above.value)
            # With exposures the attack with most exposed people is the strongest; without, the largest mean.
            ranked.append(((share if exposed else 0.0, float(mean.value)), strongest))
    return max(ranked, key=lambda one: one[0])[1] if ranked else None


def _find(result: AttackResult, about: str, statistic: str) -> Number | None:
    numbers = result.numbers.values()
    return next((one for one in numbers if one.about == about and one.statistic == statistic), None)


def _rank(one: Exposure) -> tuple[float, float, str]:
    mean = 0.0 if one.mean is None or one.mean.value is None else float(one.mean.value)
    return -float(one.share.value or 0), -mean, one.attack


def _spaced(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def _percent(share: float) -> str:
    """Return a share in percent that never rounds a loss away."""
    if share >= 1:
        return "100 %"
    return f"{min(share * 100, 99.9):.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"
