"""(K,C)_L-privacy, the claim on visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import percent, row_share_parameter, share_text
from wayveil.model.claims.verdict_numbers import KCL_PRIVACY
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import Sensitive, parameter

__all__ = ["KclPrivacy"]

EVERYBODY = 10**9
"""How many people are attacked where nobody may be left out: a share of people who are drawn is only about right."""


@dataclass(frozen=True, kw_only=True)
class KclPrivacy(GroupClaim):
    """(K,C)_L-privacy: what is known of at most `l` visits, or of `"all"`, fits `k` people and tells little of them.

    Every non-empty sequence of at most `l` visits that occurs in the published data occurs in trajectories of at
    least `k` distinct owners, none of whom owns more than a share `row_share` of these trajectories; and for every
    sensitive value at most a share `c` of these owners, and of these trajectories, have it.

    With `hide_absence` the sets of one visit, and of `l`, that fit nothing tell no sensitive value with more than `c`,
    or than its share among all where that is more.  This is about the original as well, so it is confirmed by the
    attack that is run when data are published, not by the verdict on the published data.

    Where it is `about` "ends", visits are the ends of trips, and what is known of one is its place, its time, and
    whether the trip began or ended there, because a published trip shows that.

    References
    ----------
    Chen, Fung, Mohammed, Desai, Wang: Privacy-preserving trajectory data publishing by local suppression.
    Information Sciences 231 (2013), Definition 3.1.

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = KclPrivacy(k=2, c=0.5, l=2, sensitive={"diagnosis": ["HIV"]})
    >>> claim.c, claim.sensitive
    (Fraction(1, 2), (('diagnosis', ('HIV',)),))
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=1, help="smallest number of people who must share what an attacker knows")
    c: Fraction = parameter(kind="fraction", low=0, high=1, help="largest share of them with one sensitive value")
    l: int | str = parameter(
        kind="int", low=1, choices=("all",), help="largest number of visits of one person that an attacker knows"
    )
    sensitive: Sensitive = parameter(kind="sensitive", default=(), help="attributes and their sensitive values")
    row_share: Fraction | str = row_share_parameter()
    hide_absence: str = parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="yes: known visits that fit nothing tell no value with more than c or its share among all",
    )
    about: str = parameter(
        kind="choice",
        choices=("visits", "ends"),
        default="visits",
        help="what an attacker knows: visits, or ends of trips",
    )

    name: ClassVar[str] = "KCL"
    quantities: ClassVar[Numbers] = KCL_PRIVACY
    public_numbers: ClassVar[tuple[str, ...]] = (
        "min_support",
        "min_support_note",
        "max_owner_share",
        "max_owner_share_exact",
        "max_owner_share_note",
        "max_confidence",
        "max_confidence_exact",
        "max_confidence_note",
        "max_confidence_trajectories",
        "max_confidence_trajectories_exact",
        "max_confidence_trajectories_note",
        "sequences",
        "trajectories",
        "visits",
    )

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {"m": self.l, "threshold": self.owner_share, "confidence": self.c}

    @property
    def promise(self) -> str:
        known = self._known(f"any number of {self._word}s")
        what = "place and time" if self.about == "visits" else "place, time, and whether a trip began or ended there"
        people = "1 person" if self.k == 1 else f"{self.k} people"
        text = (
            f"Whoever knows {known} ({what}) of a person finds either no published trajectory that fits, "
            f"or trajectories of at least {people}"
        )
        if self.owner_share < 1:
            text += f", none of whom has more than {share_text(self.owner_share)} of them"
        if not self.sensitive:
            return text + "."
        values = "; ".join(f"{attribute}: {', '.join(values)}" for attribute, values in self.sensitive)
        return (
            f"{text}, and at most {percent(self.c)} of the people and of the trajectories have any one sensitive value "
            f"({values})."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        knowing = f"someone who knows {self._known(f'any {self._word}s')} of the victim"
        settings = (("m", self.l), ("choice", "worst"))
        protections = [
            Protection(
                sentence=f"identity linkage by {knowing}: at most {share_text(self.owner_share)}",
                attack="known_visits",
                settings=settings,
                measured=("identity_max",),
                bound=self.owner_share,
            )
        ]
        if self.sensitive:
            protections.append(
                Protection(
                    sentence=f"attribute linkage by the same attacker: confidence at most {percent(self.c)}",
                    attack="known_visits",
                    settings=settings,
                    measured=("attribute_max",),
                    bound=self.c,
                )
            )
        if self._hides_absence:
            several = "" if self.l == 1 else f", or {self.l} {self._word}s,"
            protections.append(
                Protection(
                    sentence=f"attribute linkage by someone who knows one {self._word}{several} of a random person "
                    "that fit nothing, and how often such people have a value: at most "
                    f"{percent(self.c)}, or the share of all who have it where that is more",
                    attack="absence",
                    settings=(("m", self.l), ("confidence", self.c), ("victims", EVERYBODY)),
                    measured=("posterior_excess",),
                    bound=Fraction(0),
                    judged=False,
                )
            )
        return tuple(protections)

    @property
    def _hides_absence(self) -> bool:
        return self.hide_absence == "yes" and bool(self.sensitive)

    @property
    def not_covered(self) -> tuple[str, ...]:
        known = f"more than {self._known('').removeprefix('at most ')}"
        missing = (
            "an attacker who reasons about what is missing and knows more of this very place and time, such as who "
            "goes there: a known visit that fits nothing may tell a sensitive value; attack 'absence' measures it"
            if self._hides_absence
            else "an attacker who reasons about what is missing: a known visit that fits nothing was suppressed, which "
            "may tell a sensitive value; attack 'absence' measures it"
        )
        vague = (
            "an attacker who knows that a visit was the first or the last of a trip; attack 'first_last_visits' "
            "measures it"
            if self.about == "visits"
            else "an attacker who knows place and time of an end, but not whether the trip began or ended there: as "
            "many people fit, but one person, or a sensitive value, may have up to twice the share of them"
        )
        return (
            *(() if self.l == "all" else (f"an attacker who knows {known} of the victim",)),
            "an attacker who knows where the victim was not: only presence counts as knowledge here",
            missing,
            vague,
            f"an attacker who knows {'a visit' if self.about == 'visits' else 'an end'} less exactly than it is "
            "published, such as the place without the time: as many people fit, but one person, or a sensitive value, "
            "may have a larger share of them; attacks 'known_locations' and 'known_order' measure who is found so",
            "an attacker who knows how often the victim is at a place, or which places the victim visits most; attacks "
            "'known_frequencies', 'top_places' and 'home_work' measure it",
            "an attacker who knows other attributes that are published along with the trajectory",
            "an attacker who can tell which trajectories belong to the same person",
            "inference about values that were not declared sensitive",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        others = ("first_last_visits", "known_frequencies", "top_places", "home_work")
        return ("absence", *others) if self.sensitive and not self._hides_absence else others

    def to_json(self) -> dict[str, Any]:
        """The claim as JSON can hold it; what it does not promise is not mentioned."""
        content = super().to_json()
        if self.hide_absence == "no":
            del content["hide_absence"]
        if self.about == "visits":
            del content["about"]
        return content

    @property
    def _word(self) -> str:
        return "visit" if self.about == "visits" else "end"

    def _known(self, everything: str) -> str:
        if self.l == "all":
            return everything
        if self.about == "ends":
            return "one end of a trip" if self.l == 1 else f"at most {self.l} ends of trips"
        return "one visit" if self.l == 1 else f"at most {self.l} visits"
