"""Noise with which numbers can be published: planned for a budget, drawn by OpenDP from its own secure source.

No seed of ours reaches it, and none is kept: the same run gives other numbers every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from importlib import import_module
from math import inf, nextafter, sqrt
from typing import Any, Literal

import numpy as np

from wayveil.errors import ParameterError, UsageError
from wayveil.model import NoisyQuery
from wayveil.model.data.ragged import IntArray
from wayveil.model.noisy_query import LARGEST_BOUND

__all__ = [
    "add_noise",
    "draw_noise",
    "left_of",
    "load_opendp",
    "plan_gaussian",
    "plan_laplace",
    "plan_selection",
    "select_keys",
]


def load_opendp(component: str) -> Any:
    """Return OpenDP; UsageError where the extra `dp` is not installed."""
    try:
        dp = import_module("opendp.prelude")
    except ImportError:
        raise UsageError(
            f"{component}: noise comes from OpenDP, which is not installed: install wayveil[dp]."
        ) from None
    dp.enable_features("contrib")
    return dp


def plan_laplace(
    name: str,
    *,
    component: str,
    counts: str,
    keys: int,
    l0: int,
    linf: int,
    epsilon: float,
    l1: int | None = None,
    role: Literal["rows", "model"] = "rows",
) -> NoisyQuery:
    """Return a query over a public domain with the least Laplace noise that spends at most epsilon."""
    l1 = l0 * linf if l1 is None else l1
    scale, spent = _least_scale(lambda scale: _laplace(load_opendp(component), scale).map(l1), l1 / epsilon, epsilon)
    return NoisyQuery(
        name=name, counts=counts, domain="public", keys=keys, l0=l0, linf=linf, l1=l1, noise="laplace", scale=scale,
        epsilon=spent, role=role,
    )  # fmt: skip


def plan_gaussian(
    name: str,
    *,
    component: str,
    counts: str,
    keys: int,
    l0: int,
    linf: int,
    rho: float,
    l1: int | None = None,
    role: Literal["rows", "model"] = "rows",
) -> NoisyQuery:
    """Return a query over a public domain with the least Gaussian noise that spends at most rho."""
    l1 = l0 * linf if l1 is None else l1
    norm = nextafter(sqrt(min(l0 * linf**2, l1 * linf)), inf)
    begin = norm / sqrt(2 * rho)
    scale, spent = _least_scale(lambda scale: _gaussian(load_opendp(component), scale).map(norm), begin, rho)
    return NoisyQuery(
        name=name, counts=counts, domain="public", keys=keys, l0=l0, linf=linf, l1=l1, noise="gaussian", scale=scale,
        rho=spent, role=role,
    )  # fmt: skip


def plan_selection(
    name: str,
    *,
    component: str,
    counts: str,
    l0: int,
    linf: int,
    epsilon: float,
    delta: float,
    l1: int | None = None,
    role: Literal["rows", "model"] = "rows",
) -> NoisyQuery:
    """Return a query whose keys come from the data: the least Laplace noise and the lowest threshold for a budget.

    The threshold is searched by halves: the chance that a key of one person alone is shown falls with it.
    """
    dp = load_opendp(component)
    if delta <= 0:
        raise ParameterError(
            f"{component}: where keys come from the data, delta must be above 0, because a place of one person may be "
            f"shown by chance; got {delta!r}. Give delta=1e-6, or a public list of zones."
        )
    l1 = l0 * linf if l1 is None else l1
    scale, spent = _least_scale(lambda scale: _laplace(dp, scale).map(l1), l1 / epsilon, epsilon)

    def chance(threshold: int) -> float:
        # OpenDP up to 0.16 shows a number that equals its threshold, and its map counts only those above
        # (opendp/opendp#2922): the map of the threshold below is the right one.
        loss: float = _selection(dp, scale, threshold - 1).map((l0, l1, linf))[1]
        return loss

    low = linf + 1
    high = linf + 2
    while chance(high) > delta:
        low = high
        high = 2 * high
        if high > LARGEST_BOUND:
            raise ParameterError(
                f"{component}: with this budget keys need a threshold above {LARGEST_BOUND:,}. Raise epsilon or delta, "
                "or lower what a person may contribute."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if chance(middle) > delta else (low, middle)
    return NoisyQuery(
        name=name, counts=counts, domain="threshold", threshold=high, l0=l0, linf=linf, l1=l1, noise="laplace",
        scale=scale, epsilon=spent, delta=chance(high), role=role,
    )  # fmt: skip


def add_noise(numbers: IntArray, query: NoisyQuery, *, component: str) -> IntArray:
    """Return the numbers of all keys of a public domain with noise; some may be below 0."""
    if len(numbers) != query.keys:
        raise ValueError("a public domain has a number for every key")  # a forgotten one would not be hidden
    dp = load_opendp(component)
    noisy = _laplace(dp, query.scale) if query.noise == "laplace" else _gaussian(dp, query.scale)
    return np.asarray(draw_noise(noisy, numbers.tolist()), np.int64).reshape(-1)


def select_keys(numbers: IntArray, query: NoisyQuery, *, component: str) -> tuple[IntArray, IntArray]:
    """Return which keys are known after noise, in order, and their noisy numbers."""
    noisy = _selection(load_opendp(component), query.scale, query.threshold or 0)
    shown = draw_noise(noisy, dict(enumerate(numbers.tolist())))
    keys = np.array(sorted(key for key, number in shown.items() if number >= (query.threshold or 0)), np.int64)
    return keys, np.array([shown[key] for key in keys.tolist()], np.int64)


def left_of(budget: float, queries: Iterable[NoisyQuery]) -> float:
    """Return what queries leave of epsilon, rounded down: sums of floats may be more than their parts.

    Examples
    --------
    >>> left_of(1.0, []), left_of(0.3, []) <= 0.3
    (1.0, True)
    """
    exact = Fraction(budget) - sum((Fraction(query.epsilon) for query in queries), Fraction(0))
    near = float(exact)
    return near if Fraction(near) <= exact else nextafter(near, 0.0)


def draw_noise(noisy: Any, numbers: Any) -> Any:
    """Return numbers with the noise of an OpenDP measurement: the one place where noise is drawn."""
    return noisy(numbers)


def _least_scale(loss_of: Callable[[float], float], begin: float, budget: float) -> tuple[float, float]:
    """Return the scale nearest to `begin` whose loss, which OpenDP rounds up, is within the budget; and the loss."""
    scale = begin
    while (spent := loss_of(scale)) > budget:
        scale = nextafter(scale, inf)
    return scale, spent


def _laplace(dp: Any, scale: float) -> Any:
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)


def _gaussian(dp: Any, scale: float) -> Any:
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=scale)


def _selection(dp: Any, scale: float, threshold: int) -> Any:
    return dp.m.make_laplace_threshold(
        dp.map_domain(dp.atom_domain(T="u32"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
        scale=scale,
        threshold=threshold,
    )
