"""Differential privacy: whether one person is in the data changes what may be published by little, for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.errors import ParameterError
from wayveil.model.claims.base import Claim, Protection
from wayveil.model.claims.counting import number_text
from wayveil.model.claims.verdict_numbers import DIFFERENTIAL_PRIVACY
from wayveil.model.noisy_query import BOUNDING_STEPS, POST_STEPS, NoisyQuery, read_queries, read_steps
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["LARGEST_EPSILON", "DifferentialPrivacy", "delta_parameter", "epsilon_parameter", "odds_factor"]

_CEILING = Context(prec=30, rounding=ROUND_CEILING)
"""Numbers that are promised are rounded up."""

LARGEST_EPSILON = 50
"""Beyond this the odds may change by more than 10**21: such a number is a mistake."""


def epsilon_parameter() -> Any:
    """Declare how much may be learned of one person, in all."""
    return parameter(
        kind="number",
        low=0,
        high=LARGEST_EPSILON,
        why="It is the privacy budget of a person over the whole publication: above 0, usually 0.1 to 5.",
        help="privacy budget of a person over the whole publication: odds change by at most e to this power",
    )


def delta_parameter(default: float = 0.0) -> Any:
    """Declare the probability with which more may be learned."""
    return parameter(
        kind="number",
        low=0,
        high=0.1,
        default=default,
        why="It is a probability, far below one in the number of people: 1e-6, or 0.",
        help="probability with which more may be learned: far below one in the number of people",
    )


@dataclass(frozen=True, kw_only=True)
class DifferentialPrivacy(Claim):
    """(epsilon, delta)-differential privacy of a person with all their rows, over the whole publication.

    Take any data, and the same data without all rows of one person, or with those of one more.  Whatever set of
    publications somebody looks for, its probability from the one is at most e**epsilon times its probability from the
    other, plus delta.  This holds whatever the attacker knows, and for all that is computed from the publication.

    It is a property of how a publication is made.  So the claim carries the mechanism: every noisy query with its
    bounds per person, its noise and its loss; the steps that bound what a person contributes; and what was done with
    noisy numbers afterwards.  Losses add up: those of Laplace noise as they are; those of Gaussian noise as rho, which
    becomes an epsilon with what is left of delta.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget: all that the queries spend together is at most this.
    queries : tuple of NoisyQuery
        Everything that was computed from the data.  Empty as long as nothing was.
    zones : tuple of str
        The public list of zones, in sorted order, if there is one.
    times : tuple of int
        The public buckets of time as (first, last, width), if there are any.
    bounding, steps : tuple of str
        Words of `BOUNDING_STEPS` and `POST_STEPS`.

    References
    ----------
    Dwork, Roth: The algorithmic foundations of differential privacy.  2014.
    Bun, Steinke: Concentrated differential privacy.  TCC 2016.

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = DifferentialPrivacy(epsilon=1, zones=("a", "b"))
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    >>> odds_factor(1.0)
    '2.72'
    """

    epsilon: float = epsilon_parameter()
    delta: float = delta_parameter()
    queries: tuple[NoisyQuery, ...] = ()
    zones: tuple[str, ...] = ()
    times: tuple[int, ...] = ()
    bounding: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    name: ClassVar[str] = "DifferentialPrivacy"
    quantities: ClassVar[Numbers] = DIFFERENTIAL_PRIVACY
    public_numbers: ClassVar[tuple[str, ...]] = ("epsilon_spent", "delta_spent", "queries")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon == 0:
            raise ParameterError(
                f"{self.name}: epsilon must be larger than 0, got 0. Nothing could be published that depends on the "
                "data."
            )
        checked = {
            "queries": read_queries(self.queries),
            "zones": _read_zones(self.zones),
            "times": _read_times(self.times),
            "bounding": read_steps("bounding", self.bounding, BOUNDING_STEPS),
            "steps": read_steps("steps", self.steps, POST_STEPS),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def promise(self) -> str:
        # Neighbours differ by one person more or less.  Two accounts of what somebody did are two such steps apart,
        # through the data without this person: hence the square, and delta + e**epsilon delta.
        first, second = "", ""
        if self.delta != 0:
            twice = Decimal(self.delta) * (1 + _CEILING.exp(Decimal(self.epsilon)))
            first = f" (but for a probability of at most {number_text(self.delta)})"
            second = f" (but for one of at most {Context(prec=3, rounding=ROUND_CEILING).plus(twice).normalize()})"
        return (
            f"Differential privacy with epsilon = {number_text(self.epsilon)} for each person with all their data: "
            "whatever somebody knows, the publication changes the odds that a person is in the data at most by the "
            f"factor {odds_factor(self.epsilon)}{first}, and the odds between any two accounts of what a person did at "
            f"most by the factor {odds_factor(2 * self.epsilon)}{second}."
        )

    @property
    def membership_bound(self) -> Fraction:
        """The largest chance to be right about whether somebody is in the data, where both are as likely before."""
        factor = Fraction(_CEILING.exp(Decimal(self.epsilon)))
        return (factor + Fraction(self.delta)) / (factor + 1)

    @property
    def protects(self) -> tuple[Protection, ...]:
        return ()

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "other publications of the same people, such as of the next month: their budgets add up, and nothing here "
            "counts them together",
            "what holds for many people: the publication is meant to show it, and who resembles them is judged by it",
            "people who move together, or a group of n people: for them the factor is raised to the power of n",
            "a publisher who did not run what is declared: that noise was added cannot be seen in the numbers",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ()

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "queries": [query.to_json() for query in self.queries],
            "zones": list(self.zones),
            "times": list(self.times),
            "bounding": list(self.bounding),
            "steps": list(self.steps),
        }


def odds_factor(epsilon: float) -> str:
    """Return e to the power of epsilon in three digits, rounded up: what is printed is never less than what is kept.

    Examples
    --------
    >>> odds_factor(0.1), odds_factor(5.0), odds_factor(1e-9)
    ('1.11', '149', '1.01')
    """
    value = Context(prec=25, rounding=ROUND_CEILING).exp(Decimal(epsilon))
    return f"{Context(prec=3, rounding=ROUND_CEILING).plus(value):f}"


def _read_zones(value: Any) -> tuple[str, ...]:
    zones = tuple(value) if isinstance(value, list | tuple) else (None,)
    if not all(isinstance(zone, str) and zone for zone in zones) or list(zones) != sorted(set(map(str, zones))):
        raise ParameterError("DifferentialPrivacy: zones must be different names, none of them blank, in sorted order.")
    return tuple(map(str, zones))


def _read_times(value: Any) -> tuple[int, ...]:
    times = tuple(value) if isinstance(value, list | tuple) else (None,)
    whole = all(isinstance(time, int) and not isinstance(time, bool) and abs(time) < 2**62 for time in times)
    if whole and not times:
        return ()
    first, last, width = times if whole and len(times) == 3 else (1, 0, 1)
    if width < 1 or last < first or (last - first) % width:
        raise ParameterError("DifferentialPrivacy: times must be the first and the last bucket and their width.")
    return (first, last, width)
