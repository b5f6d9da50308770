"""How people are counted: the one definition that every claim, method, verifier and attack follows.

Take any set of published trajectories that an attacker cannot tell apart.  One attacker picks a *person* among those
who own one of them; another picks a *trajectory*, because that is what he sees.  A claim holds for both:

1. at least `k` distinct people own the trajectories of the set;
2. nobody owns more than a share `row_share` of them, 1/k unless the publisher relaxes it;
3. a share or probability that is bounded by `c` is at most `c` over the people *and* over the trajectories;
4. dummies are nobody: where a method adds them, people and dummies are at least `k` together, and more than half of `k`
   are people.

With one trajectory per person 1 implies 2, and both ways of counting in 3 are the same.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from wayveil.model.parameters import parameter

__all__ = [
    "each_trajectory",
    "exceeds",
    "number_text",
    "percent",
    "readable_share",
    "row_share_parameter",
    "share_text",
    "share_value",
]


def row_share_parameter(smallest: str = "k") -> Any:
    """Declare the largest share of trajectories that one person may own; `smallest` names the claim's own number."""
    usual = f"1/{smallest}"
    return parameter(
        kind="fraction",
        low=0,
        high=1,
        choices=(usual,),
        default=usual,
        help="largest share of the trajectories that look alike which one person may own",
    )


def share_value(row_share: Fraction | str, people: int) -> Fraction:
    """Return the share that `row_share` stands for, where `people` is the smallest number of people of the claim.

    Examples
    --------
    >>> share_value("1/k", 5), share_value(Fraction(1, 2), 5)
    (Fraction(1, 5), Fraction(1, 2))
    """
    return Fraction(1, people) if isinstance(row_share, str) else row_share


def exceeds(part: int, whole: int, share: Fraction) -> bool:
    """Return whether `part` of `whole` is more than a share, in whole numbers.

    Examples
    --------
    >>> exceeds(3, 10, Fraction(3, 10)), exceeds(4, 10, Fraction(3, 10))
    (False, True)
    """
    return part * share.denominator > whole * share.numerator


_DIGITS = 6
"""With up to so many digits a share in percent is told exactly."""

_SMALL = Decimal("1e-6")
"""Below this, percent are told with a power of ten."""


def percent(share: Fraction) -> str:
    """Return a share in percent, exactly or rounded up: a bound that is printed is never smaller than the one kept.

    Examples
    --------
    >>> percent(Fraction(3, 10)), percent(Fraction("0.30004")), percent(Fraction(1, 3)), percent(Fraction(2, 3))
    ('30 %', '30.004 %', '33.34 %', '66.67 %')
    """
    exact = Context(prec=_DIGITS, traps=[Inexact])
    numerator = Decimal(100 * share.numerator)
    try:
        value = exact.divide(numerator, Decimal(share.denominator))
    except Inexact:
        value = Context(prec=4, rounding=ROUND_CEILING).divide(numerator, Decimal(share.denominator))
    text = f"{value.normalize():f}" if value == 0 or value >= _SMALL else str(value)
    return f"{text} %"


_LARGEST_TOLD = 10_000
"""A fraction with a denominator below this is told as it is."""


def readable_share(value: Fraction, limit: Fraction | None = None) -> str:
    """Return a measured share as people can read it: as a fraction where it is short, and else in percent, rounded up.

    What keeps a limit is never told as more than the limit.

    Examples
    --------
    >>> readable_share(Fraction(5, 16)), readable_share(1 - Fraction(3, 4) ** 20)
    ('5/16', '99.69 %')
    >>> third = Fraction(1, 3) - Fraction(1, 10**9)
    >>> readable_share(Fraction(333_333, 1_000_000)), readable_share(third), readable_share(third, Fraction(1, 3))
    ('33.3333 %', '33.34 %', 'just below 1/3')
    """
    if value.denominator < _LARGEST_TOLD:
        return f"{value.numerator}/{value.denominator}"
    text = percent(value)
    told = Fraction(Decimal(text.removesuffix(" %"))) / 100
    if limit is not None and value <= limit < told:
        return f"just below {readable_share(limit)}"
    return text


def number_text(value: float | str) -> str:
    """Return a number of a claim with all its digits: what is printed is what is kept.

    Examples
    --------
    >>> number_text(1000.0), number_text(1000.004), number_text(2), number_text(1e22)
    ('1000', '1000.004', '2', '1e+22')
    """
    return repr(float(value)).removesuffix(".0")


def share_text(share: Fraction) -> str:
    """Return a share as a fraction where it is one of a whole, and in percent otherwise.

    Examples
    --------
    >>> share_text(Fraction(1, 5)), share_text(Fraction(2, 5)), share_text(Fraction(1))
    ('1/5', '40 %', '100 %')
    """
    return f"1/{share.denominator}" if share.numerator == 1 and share.denominator > 1 else percent(share)


def each_trajectory() -> str:
    """Return the sentence that stands in a promise where the publisher waived the owners."""
    return (
        "The publisher declared that each trajectory is another person; if somebody owns several, the promise does not "
        "hold for them."
    )
