"""c-safety, the claim on stops."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.model.claims.base import Claim, Protection
from wayveil.model.claims.counting import percent, row_share_parameter, share_text, share_value
from wayveil.model.parameters import parameter

__all__ = ["CSafety"]


@dataclass(frozen=True, kw_only=True)
class CSafety(Claim):
    """c-safety: nobody who knows places where a person was learns of a sensitive one with more than probability `c`.

    A published stop is at a node of the taxonomy.  A stop at a sensitive node stands for one of the leaves below it,
    each as likely as the others; the stops at all other nodes are what an attacker may know.  Published trajectories
    with the same sequence of such nodes form a class.  In every class there are at least `m` distinct owners, and the
    probability of every sensitive leaf, as the mean over them, is at most `c`.  An owner with several trajectories in
    a class counts once, and has been at a leaf if one of the trajectories has.

    No sensitive node of a class is above another one of the same class: who knows the method would else know for what
    it stands.  Against the original: every published trajectory is an original one, from which stops may be left out,
    with places replaced by nodes above them; a sensitive place is never published as a node that is not sensitive.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 5 to 9.

    Examples
    --------
    >>> CSafety(c="0.3").to_json()
    {'name': 'CSafety', 'c': '0.3', 'm': 2}
    """

    c: Fraction = parameter(kind="fraction", low=0, high=1, help="largest probability of any sensitive place")
    m: int = parameter(
        kind="int", low=2, default=2, help="smallest number of people who share the places that are not sensitive"
    )
    row_share: Fraction | str = row_share_parameter("m")

    name: ClassVar[str] = "CSafety"
    about_truth: ClassVar[bool] = True

    @property
    def owner_share(self) -> Fraction:
        """The largest share of trajectories that look alike which one person may own."""
        return share_value(self.row_share, self.m)

    @property
    def promise(self) -> str:
        return (
            "Whoever knows places that are not sensitive and where a person stopped on a trip, and in which order, "
            f"learns of no sensitive place of this trip with a probability of more than {float(self.c) * 100:.4g} %; "
            f"at least {self.m} people share all the places of a trip that are not sensitive."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="semantic trajectory linking: an attacker who knows some or all stops of a trip at places "
                f"that are not sensitive, and the taxonomy: at most {percent(self.c)} for every sensitive place, and "
                "for every set of them",
                attack="known_places",
                measured=("inference_max",),
                bound=self.c,
            ),
            Protection(
                sentence=f"identity linkage by the same attacker: at most {share_text(self.owner_share)}",
                attack="known_places",
                measured=("identity_max",),
                bound=self.owner_share,
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "an attacker who knows that some sensitive places are more popular than others: the probability takes "
            "those below a node as equally likely",
            "an attacker who already knows one of the sensitive places, or when the person was where",
            "that a person was at some sensitive place of a kind: only the single place is hidden",
            "an attacker who can tell which trajectories belong to the same person, or knows several trips of one",
            "an attacker who reasons about the stops that were left out, or who weighs a person by the number of their "
            "trips",
        )
