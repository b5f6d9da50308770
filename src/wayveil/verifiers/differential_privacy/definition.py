"""Differential privacy, word for word: losses from the probabilities of the noise themselves, without OpenDP."""

from __future__ import annotations

from itertools import product
from math import exp, expm1, inf, log, log1p
from typing import Any

from wayveil.model import CountTables, DifferentialPrivacy, NoisyQuery
from wayveil.model.data.count_tables import EVERYWHERE

__all__ = ["epsilon_of_rho", "find_break_of_differential_privacy"]

_LAST_DIGITS = 1 + 1e-9


def find_break_of_differential_privacy(published: Any, claim: DifferentialPrivacy, **_: Any) -> str:
    """Return how a mechanism breaks its budget, or cannot have made what is published; "" if neither.

    Examples
    --------
    >>> query = NoisyQuery(name="cells", counts="people-by-zone", domain="public", keys=1, l0=1, linf=1, l1=1,
    ...                    noise="laplace", scale=2.0, epsilon=0.4)
    >>> claim = DifferentialPrivacy(epsilon=0.5, queries=(query,), zones=("a",), bounding=("sample-cells",),
    ...                             steps=("not-negative",))
    >>> find_break_of_differential_privacy(CountTables.from_rows([("a", "", None, 3)]), claim)
    'A query spends more than it declares.'
    """
    rows_of = [query for query in claim.queries if query.role == "rows"]
    table = not published.individual
    if not claim.queries or len(rows_of) != int(table):
        return "It is not declared where the publication comes from."
    if not claim.bounding:
        return "It is not declared how the contribution of a person is bounded."
    if any(spends_more(query) for query in claim.queries):
        return "A query spends more than it declares."
    epsilon = sum(query.epsilon for query in claim.queries)
    delta = sum(query.delta for query in claim.queries)
    rho = sum(query.rho for query in claim.queries)
    if rho:
        epsilon += epsilon_of_rho(rho, claim.delta - delta)
    if epsilon > claim.epsilon * _LAST_DIGITS or delta > claim.delta * _LAST_DIGITS:
        return "All queries together spend more than is claimed."
    return find_impossible(published, claim, rows_of[0]) if table else ""


def spends_more(query: NoisyQuery) -> bool:
    """Return whether noise tells more of one person than a query declares."""
    if query.noise == "gaussian":  # of two Gaussians that are d apart, rho is d**2 / (2 scale**2)
        return min(query.l0 * query.linf**2, query.l1 * query.linf) / (2 * query.scale**2) > query.rho * _LAST_DIGITS
    # Of every step by 1, the probability of an output changes by exp(1 / scale), and a person makes l1 steps.
    if query.l1 / query.scale > query.epsilon * _LAST_DIGITS:
        return True
    if query.domain == "public":
        return False
    return chance_of_a_key(query) > query.delta * _LAST_DIGITS


def chance_of_a_key(query: NoisyQuery) -> float:
    """Return how likely a cell that only one person is in is shown, if that person has l0 of them with linf in each."""
    missing = (query.threshold or 0) - query.linf
    if missing <= 1:
        return 1.0
    one = exp(-missing / query.scale) / (1 + exp(-1 / query.scale))  # P(noise >= missing), discrete Laplace
    return -expm1(query.l0 * log1p(-one))


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return the epsilon of rho for a delta: the smallest over all orders of Renyi's divergence.

    Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy.  NeurIPS 2020, proposition 12.
    """
    if delta <= 0:
        return inf
    # All orders 1 + 10**x; the bound falls and then rises with x, so thirds close in on the least.
    low = -6.0
    high = 9.0
    for _ in range(200):
        left = low + (high - low) / 3
        right = high - (high - low) / 3
        if _bound_of_order(rho, delta, left) < _bound_of_order(rho, delta, right):
            high = right
        else:
            low = left
    return _bound_of_order(rho, delta, low)


def _bound_of_order(rho: float, delta: float, x: float) -> float:
    order: float = 1 + 10.0**x
    return rho * order + log1p(-1 / order) - log(delta * order) / (order - 1)


def find_impossible(published: CountTables, claim: DifferentialPrivacy, query: NoisyQuery) -> str:
    """Return what such a table cannot have."""
    if len(published) != 1:
        return "There is not one table."
    rows = published.record(0)
    cells = {row[:3]: row[3] for row, cell in zip(rows, published.cells(), strict=True) if cell}
    totals = {row[:3]: row[3] for row, cell in zip(rows, published.cells(), strict=True) if not cell}
    if len(cells) + len(totals) < len(rows):
        return "A row stands twice."
    flows = query.counts.endswith("-by-flow")
    if query.counts == "people-by-cells" or any((to_zone != EVERYWHERE) != flows for _, to_zone, _ in cells):
        return "The rows are not what the query counts."
    for (zone, to_zone, t), number in totals.items():
        all_times = t is None and not flows
        counted = [
            value
            for (a, b, at), value in cells.items()
            if zone in (EVERYWHERE, a) and to_zone in (EVERYWHERE, b) and (all_times or t == at)
        ]
        if "totals" not in claim.steps or sum(counted) != number:
            return "A total is not one of the published cells."
    if query.domain == "threshold":
        return "A number is below the threshold." if any(n < (query.threshold or 0) for n in cells.values()) else ""
    if "not-negative" not in claim.steps:
        return "It is not declared what became of numbers below 0."
    times: list[int | None] = [None]
    if claim.times:
        first, last, width = claim.times
        times = list(range(first, last + 1, width))
    ends = claim.zones if flows else (EVERYWHERE,)
    keys = set(product(claim.zones, ends, times))
    return "" if keys == set(cells) and query.keys == len(keys) else "The rows are not the public keys."
