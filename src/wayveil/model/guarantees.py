"""The claims a publication can make, each a frozen class that says itself in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.errors import ParameterError, UsageError, closest
from wayveil.model.claims import Claim, Guarantee
from wayveil.model.parameters import Sensitive, parameter
from wayveil.model.route_guarantees import StrictK, SubsequenceK
from wayveil.model.stop_guarantees import CSafety

__all__ = [
    "GUARANTEES",
    "KCL",
    "AttackGraph",
    "BreachBound",
    "CSafety",
    "Guarantee",
    "KAnonymity",
    "KDelta",
    "StrictK",
    "SubsequenceK",
    "guarantee_from_json",
]


@dataclass(frozen=True, kw_only=True)
class KCL(Claim):
    """(K,C)_L-privacy: what is known of at most `l` visits, or of `"all"`, fits `k` people and tells little of them.

    Every non-empty sequence of at most `l` visits that occurs in the published data occurs in trajectories of at
    least `k` distinct owners, and for every sensitive value at most a share `c` of these owners have it.

    References
    ----------
    Chen, Fung, Mohammed, Desai, Wang: Privacy-preserving trajectory data publishing by local suppression.
    Information Sciences 231 (2013), Definition 3.1.

    Examples
    --------
    >>> claim = KCL(k=2, c=0.5, l=2, sensitive={"diagnosis": ["HIV"]})
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

    name: ClassVar[str] = "KCL"

    @property
    def promise(self) -> str:
        known = self._known("any number of visits")
        people = "1 person" if self.k == 1 else f"{self.k} people"
        text = (
            f"Whoever knows {known} (place and time) of a person finds either no published trajectory that fits, "
            f"or trajectories of at least {people}"
        )
        if not self.sensitive:
            return text + "."
        share = f"{float(self.c) * 100:.4g} %"
        values = "; ".join(f"{attribute}: {', '.join(values)}" for attribute, values in self.sensitive)
        return f"{text}, of whom at most {share} have any one sensitive value ({values})."

    @property
    def covered(self) -> tuple[str, ...]:
        found = [f"identity linkage by someone who knows {self._known('any visits')} of the victim: at most 1/{self.k}"]
        if self.sensitive:
            found.append(f"attribute linkage by the same attacker: confidence at most {float(self.c) * 100:.4g} %")
        return tuple(found)

    @property
    def not_covered(self) -> tuple[str, ...]:
        known = f"more than {self._known('').removeprefix('at most ')}"
        return (
            *(() if self.l == "all" else (f"an attacker who knows {known} of the victim",)),
            "an attacker who knows where the victim was not: only presence counts as knowledge here",
            "an attacker who reasons about what is missing: a known visit that fits nothing was suppressed",
            "an attacker who knows other attributes that are published along with the trajectory",
            "an attacker who can tell which trajectories belong to the same person",
            "inference about values that were not declared sensitive",
        )

    def _known(self, everything: str) -> str:
        if self.l == "all":
            return everything
        return "one visit" if self.l == 1 else f"at most {self.l} visits"


@dataclass(frozen=True, kw_only=True)
class KDelta(Claim):
    """(k,delta)-anonymity: every published trajectory moves together with those of at least `k` - 1 other people.

    Every published trajectory belongs to a set of published trajectories of at least `k` distinct owners that have the
    same timestamps, and any two of the set are at most `delta` metres apart at each of them.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> claim = KDelta(k=5, delta=100)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who move together")
    delta: float = parameter(kind="number", low=0, help="largest distance between any two of them, in metres")

    name: ClassVar[str] = "KDelta"

    @property
    def promise(self) -> str:
        if self.delta == 0:
            return f"Every published trajectory is the same, point by point, for at least {self.k} people."
        return (
            f"Every published trajectory belongs to a set of at least {self.k} people whose published positions are "
            f"at most {self.delta:g} m apart at every published time."
        )

    @property
    def covered(self) -> tuple[str, ...]:
        if self.delta == 0:
            return (
                f"whoever links a person to a published trajectory links {self.k} people to it: at most 1/{self.k}",
            )
        return (f"whoever sees positions with an error of {self.delta:g} m or more cannot tell the {self.k} apart",)

    @property
    def not_covered(self) -> tuple[str, ...]:
        strict = (
            "an attacker who knows true positions more exactly: published points are moved no further than needed, so "
            "the nearest one is likely to be the victim's own; the measured success of this attack is in the report",
        )
        return (
            *(() if self.delta == 0 else strict),
            "a published trajectory may be the true one of one of its people (w4m publishes it so): who recognises an "
            "exact position in it learns where that person went",
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who can tell which trajectories belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return () if self.delta == 0 else ("nearest_positions",)


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Claim):
    """Trajectory k-anonymity: every published sequence of boxes is that of at least `k` people.

    Every published trajectory is, box by box, the same as those of at least `k` distinct owners, and every box contains
    a true position of its trajectory in its time, a later one for each box.  Where points are published, they were
    drawn from such boxes, one from each, and the boxes are published with them.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> claim = KAnonymity(k=3)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published trajectory")

    name: ClassVar[str] = "KAnonymity"
    about_truth: ClassVar[bool] = True

    @property
    def promise(self) -> str:
        return (
            f"Every published sequence of boxes is the same for at least {self.k} people, and in the time of each box "
            "each of them really was in it."
        )

    @property
    def covered(self) -> tuple[str, ...]:
        return (f"identity linkage by someone who knows any true positions of the victim: at most 1/{self.k}",)

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "the sides of a box are positions of its people: in a group of two, each side is an exact one",
            "an attacker who reasons about the people who were left out, or who knows how many own a group",
            "an attacker who can tell which trajectories belong to the same person",
        )


@dataclass(frozen=True, kw_only=True)
class AttackGraph(Claim):
    """k candidates: whoever knows the declared positions of everybody can rule out no more than all but `k` people.

    Draw an edge from every person I to every published trajectory O whose boxes contain the true positions of I at all
    times that are declared as known of I, and take away every edge that is in no perfect matching of people with
    trajectories.  Then every person has edges to trajectories of at least `k` distinct owners, every trajectory has
    edges to at least `k` distinct people, and the trajectory of each person contains where that person was.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> claim = AttackGraph(k=5)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of trajectories that can be a person's")

    name: ClassVar[str] = "AttackGraph"
    about_truth: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False

    @property
    def promise(self) -> str:
        return (
            f"Whoever knows where everybody was at the times declared as known is left with at least {self.k} "
            "people for every published trajectory, and as many trajectories for every person."
        )

    @property
    def covered(self) -> tuple[str, ...]:
        return (
            "an attacker who knows the declared positions of everybody, and that each person has one published "
            f"trajectory: at least {self.k} candidates remain",
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            f"{self.k} candidates is not a chance of 1/{self.k}: one candidate can be likelier than the others; the "
            "measured chance is in the report",
            "an attacker who knows a position at a time that was not declared: these positions are published as cells",
            "what all candidates have in common is disclosed",
            "an attacker who reasons about the people who were left out",
            "an attacker who can tell which trajectories belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ("attack_graph", "nearest_positions")


@dataclass(frozen=True, kw_only=True)
class BreachBound(Claim):
    """A bound on what adversaries infer who each know what happened at places of their own.

    An adversary knows, for every person, the part of their sequence of places that lies in places of his own.  Among
    the published trajectories that agree in this part, and also among those in which it is empty, no place outside his
    own occurs with more than a share `p` of the distinct owners, or of the trajectories.  With ``times="keep"`` he
    knows the times as well.

    References
    ----------
    Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008.

    Examples
    --------
    >>> claim = BreachBound(p=0.5, adversaries={"shop": ["a", "b"], "bank": ["c"]})
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    p: Fraction = parameter(kind="fraction", low=0, high=1, help="largest share of the people who fit with one place")
    adversaries: Sensitive = parameter(kind="groups", help="the places of each adversary")
    times: str = parameter(
        kind="choice", choices=("order", "keep"), default="order", help="whether adversaries know the times of visits"
    )

    name: ClassVar[str] = "BreachBound"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_disjoint(self.name, self.adversaries)

    @property
    def promise(self) -> str:
        known = "when and in which order" if self.times == "keep" else "in which order"
        return (
            f"Each of {len(self.adversaries)} adversaries knows who was at places of his own, and {known}. Of the "
            f"people who fit what he knows, at most {float(self.p) * 100:.4g} % were at any one place that is not his."
        )

    @property
    def covered(self) -> tuple[str, ...]:
        return (
            "an adversary who knows everybody's visits to his own places, and counts: at most "
            f"{float(self.p) * 100:.4g} %",
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            *(() if self.times == "keep" else ("an adversary who knows the times of visits, not only their order",)),
            "adversaries who put together what they know: declare them as one",
            "an adversary who was not declared, or who knows other places than declared",
            "an attacker who can tell which trajectories belong to the same person",
            "an attacker who knows at which places a person was not",
        )


def _check_disjoint(who: str, adversaries: Sensitive) -> None:
    """Refuse no adversary, and places of two adversaries."""
    if not adversaries:
        raise ParameterError(f"{who}: adversaries must name at least one adversary and the places that are his.")
    places = [place for _, listed in adversaries for place in listed]
    if len(set(places)) < len(places):
        raise ParameterError(f"{who}: a place can belong to one adversary only; give them disjoint places.")


GUARANTEES: dict[str, type[Guarantee]] = {
    cls.name: cls for cls in (KCL, KDelta, KAnonymity, AttackGraph, BreachBound, StrictK, SubsequenceK, CSafety)
}


def guarantee_from_json(claim: Any) -> Guarantee:
    """Return the guarantee that `to_json` wrote; anything else is a UsageError."""
    name = claim.get("name") if isinstance(claim, dict) else None
    if name not in GUARANTEES:
        raise UsageError(f"The claim names no guarantee that is known here.{closest(str(name), list(GUARANTEES))}")
    cls: Any = GUARANTEES[name]
    try:
        found: Guarantee = cls(**{key: value for key, value in claim.items() if key != "name"})
    except TypeError:
        raise UsageError(f"The claim {name} has missing or unknown parameters.") from None
    return found
