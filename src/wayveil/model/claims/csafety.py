"""c-safety, the claim on stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.model.claims.base import Claim, Protection
from wayveil.model.claims.counting import percent, row_share_parameter, share_text, share_value
from wayveil.model.claims.verdict_numbers import CSAFETY
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["CSafety", "grouping_parameter", "place_people_parameter", "weights_parameter"]


def weights_parameter() -> Any:
    """Declare how the leaves below a published node are weighed."""
    return parameter(
        kind="choice",
        choices=("worst", "uniform"),
        default="worst",
        help="how places below a published kind are weighed: all stops at the same one, or all equally likely",
    )


def place_people_parameter() -> Any:
    """Declare how many people there must be at a sensitive node that is published."""
    return parameter(
        kind="int",
        low=1,
        choices=("m",),
        default="m",
        help="smallest number of people with a published stop at the same sensitive place or kind",
    )


def grouping_parameter(default: str) -> Any:
    """Declare whether groups are formed with a look at sensitive places."""
    return parameter(
        kind="choice",
        choices=("apart", "blind"),
        default=default,
        help="with weights=worst: blind: groups are formed without a look at sensitive places, and of too many at one "
        "some are left out; apart: they go to different groups",
    )


@dataclass(frozen=True, kw_only=True)
class CSafety(Claim):
    """c-safety: nobody who knows places where a person was learns of a sensitive one with more than probability `c`.

    A published stop is at a node of the taxonomy.  The stops at nodes that are not sensitive are what an attacker may
    know; published trajectories with the same sequence of such nodes form a class.  In every class:

    1. there are at least `m` distinct owners, and nobody owns more than a share `row_share` of the trajectories;
    2. the probability of every sensitive leaf is at most `c`, as the mean over the people of the class and as the mean
       over its trajectories.  A person counts once, with the stops of all their trajectories in the class.

    With ``weights="worst"`` the probability of a leaf is the share of those who may have been there: who have a stop at
    the leaf or at a node above it, or a stop at the leaf that was left out.  So it is a bound whatever is known of the
    popularity of places, and of how the method chooses nodes and stops.  With ``weights="uniform"``, the reading of the
    paper, a stop at a node stands for each of the leaves below it with the same probability; then no sensitive node of
    a class is above another one of the same class, and an attacker who knows the method is not covered.

    Sensitive nodes are published with stops of at least `place_people` people, in all classes together: a place where
    only one person goes would link the trips of this person.

    With ``grouping="blind"`` (and the weights "worst") classes were formed without a look at sensitive places, and who
    was left out because too many were at a place was drawn.  So whoever knows the other stops of everybody, and works
    out the groups, still finds people of a class who can be exchanged.  Files do not show it.

    Against the original: every published trajectory is an original one, from which stops may be left out, with places
    replaced by nodes above them; a sensitive place is never published as a node that is not sensitive.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 5 to 9.

    Examples
    --------
    >>> CSafety(c="0.3").weights, CSafety(c="0.3").to_json()["grouping"]
    ('worst', 'apart')
    """

    c: Fraction = parameter(kind="fraction", low=0, high=1, help="largest probability of any sensitive place")
    m: int = parameter(
        kind="int", low=2, default=2, help="smallest number of people who share the places that are not sensitive"
    )
    row_share: Fraction | str = row_share_parameter("m")
    weights: str = weights_parameter()
    place_people: int | str = place_people_parameter()
    grouping: str = grouping_parameter("apart")

    name: ClassVar[str] = "CSafety"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = CSAFETY
    public_numbers: ClassVar[tuple[str, ...]] = (
        "max_probability",
        "max_probability_exact",
        "max_probability_people",
        "max_probability_trajectories",
        "min_people",
        "max_owner_share",
        "min_place_people",
        "classes",
        "small_classes",
        "dominated_classes",
        "rare_places",
        "nested_classes",
        "trajectories",
        "rows",
        "sensitive_rows",
        "generalized_rows",
    )

    @property
    def owner_share(self) -> Fraction:
        """The largest share of trajectories that look alike which one person may own."""
        return share_value(self.row_share, self.m)

    @property
    def least_people(self) -> int:
        """The smallest number of people with a published stop at the same sensitive node."""
        return self.m if isinstance(self.place_people, str) else self.place_people

    @property
    def group_size(self) -> int:
        return self.m

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {"threshold": self.c}

    @property
    def promise(self) -> str:
        beside = "whatever else is known of how popular places are, and why a kind was published or a stop left out"
        whatever = f" {beside}," if self._worst else ""
        weighed = "" if self._worst else " if all places of a published kind are equally likely,"
        people = "1 person" if self.least_people == 1 else f"{self.least_people} people"
        return (
            "Whoever knows places that are not sensitive and where a person stopped on a published trip, and in which "
            f"order, learns of no sensitive place of this trip with a probability of more than {percent(self.c)},"
            f"{whatever}{weighed} counted over all trips that fit, and over the people of those that are published "
            f"with the same places; at least {self.m} people share all the places of a trip that are not sensitive, "
            f"nobody has more than {share_text(self.owner_share)} of these trips, and a sensitive place or kind is "
            f"published only with stops of at least {people}."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        known = "an attacker who knows some or all stops of a trip at places that are not sensitive, and the taxonomy"
        one = max(self.owner_share, Fraction(1, self.m))
        equally = "" if self._worst else " if those below a node are equally likely,"
        linking = Protection(
            sentence=f"semantic trajectory linking: {known}: at most {percent(self.c)} for every sensitive place,"
            f"{equally} and for every set of them, counted over trips",
            attack="known_places",
            measured=("attribute_max",),
            bound=self.c,
        )
        identity = Protection(
            sentence=f"identity linkage by the same attacker: at most {share_text(one)}",
            attack="place_posterior",
            settings=(("choice", "places"),),
            measured=("identity_max",),
            bound=one,
        )
        if not self._worst:
            return linking, identity
        aware = Protection(
            sentence="method-aware inference by the same attacker, who also knows how popular every place is, and "
            f"reasons about why a kind was published or a stop left out: at most {percent(self.c)} for every sensitive "
            "place",
            attack="place_posterior",
            settings=(("choice", "places"),),
            measured=("posterior_max", "composition_max"),
            bound=self.c,
        )
        if not self.is_blind:
            return linking, aware, identity
        rebuilt = Protection(
            sentence="the same attacker, who also knows the stops of everybody else at places that are not sensitive "
            f"and works out how groups were formed: at most {percent(self.c)} for every sensitive place, if nothing "
            "else told these people apart before",
            attack="place_posterior",
            settings=(("choice", "places"),),
            measured=("posterior_max", "composition_max"),
            bound=self.c,
        )
        return linking, aware, rebuilt, identity

    @property
    def not_covered(self) -> tuple[str, ...]:
        always = (
            "an attacker who already knows one of the sensitive places, or when the person was where",
            "an attacker who knows how many stops the trip had: of those who share the other places few may have as "
            "many",
            "that a person was at some sensitive place of a kind: only the single place is hidden",
            "an attacker who can tell which trajectories belong to the same person, or knows several trips of one",
            "an attacker who does not know whether the trip was published: trips that were left out are not counted",
            "an attacker who picks a person, not a trip, where what is known fits trips that are published with "
            "different places: whoever has several of them counts once, so that a larger share of people than of trips "
            "may have been at a sensitive place",
        )
        if self.is_blind:
            return always
        if self._worst:
            return (
                *always,
                "an attacker who works out how groups were formed, for example because the stops of many other people "
                "are known: people at the same sensitive place are put into different groups, so who began a group, "
                "and who looks like whom, depends on sensitive places",
            )
        return (
            "an attacker who knows that some sensitive places are more popular than others, or learns it from the "
            "publication: the probability takes those below a node as equally likely",
            "an attacker who knows the method: a node is chosen because a place below it is too frequent, which tells "
            "the place",
            "an attacker who reasons about the stops that were left out",
            *always,
        )

    @property
    def is_blind(self) -> bool:
        """Whether groups depend on nothing sensitive: with uniform weights, sensitive places are lifted by groups."""
        return self._worst and self.grouping == "blind"

    @property
    def _worst(self) -> bool:
        return self.weights == "worst"
