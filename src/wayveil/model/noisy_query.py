"""What a differentially private publication declares of how it was made: noisy counts, bounds per person, steps.

All of it is data in the manifest, in a fixed vocabulary: whoever reads it can compute the privacy loss again, and no
free text can say more than was done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal

from wayveil.errors import ParameterError

__all__ = ["BOUNDING_STEPS", "COUNTED", "LARGEST_BOUND", "POST_STEPS", "NoisyQuery", "read_queries", "read_steps"]

COUNTED: Mapping[str, str] = {
    "people-by-zone": "people in each zone and bucket of time",
    "visits-by-zone": "visits to each zone and bucket of time",
    "people-by-flow": "people who went from zone to zone, by bucket of time",
    "visits-by-flow": "ways from zone to zone, by bucket of time",
    "people-by-cells": "people by the number of cells that they are in",
    "trips": "trips of all people",
    "trips-by-day": "trips by the day on which they begin",
    "trips-by-hour": "trips by the hour of the day at which they begin",
    "trips-by-length": "trips by their length",
    "trips-by-start": "trips by the place and the part of the day in which they begin",
    "trips-by-end": "trips by the cells in which they begin and end",
    "trips-by-zones": "trips by the zones in which they begin and end",
    "trips-by-cell": "trips through each cell of a coarse grid",
    "trips-by-way": "trips by how many metres they are long",
    "trips-by-speed": "trips by their speed, or by how long they stay where they are",
    "visits-by-place": "visits to each place",
    "moves-by-places": "moves from place to place",
    "moves-by-three-places": "moves from two places one after the other to a third",
    "moves-by-time": "moves by the time that they take",
    "moves-by-cells": "moves from cell to neighbouring cell",
    "moves-by-turn": "moves by how they turn from the one before",
    "points-by-strip": "points in each strip of an area",
}
"""What a query can count, by its word in the manifest."""

BOUNDING_STEPS: Mapping[str, str] = {
    "sample-cells": "of everybody at most l0 cells are counted, drawn at random and independently of other people",
    "clip-counts": "in a cell nobody counts more than linf",
    "share-person": "a person counts as one, in whole parts that all their trips share equally, rounded down",
    "largest-keys": "of everybody at most l0 places or days count for which are named, those with most of their trips",
}
"""How the contribution of a person is bounded, by its word in the manifest."""

POST_STEPS: Mapping[str, str] = {
    "bound-from-histogram": "the bound on cells per person is read off a noisy histogram",
    "not-negative": "numbers below 0 become 0",
    "totals": "totals are sums of the published cells",
    "fit-totals": "histograms lose what noise added, and none of their numbers stays below 0",
    "choose-next": "what is asked next, and of which cells or places, follows from noisy numbers before",
    "draw-trips": "trips are drawn at random from the noisy histograms",
}
"""What is done with noisy numbers without looking at the data again, by its word in the manifest."""

LARGEST_BOUND = 10**9
"""Bounds and thresholds above this are refused: sums of them stay far from the end of 64-bit integers."""

_NAME = re.compile("[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, kw_only=True)
class NoisyQuery:
    """One histogram to whose numbers noise was added; the unit that is protected is a person with all their rows.

    Parameters
    ----------
    name : str
        Another one for every query of a publication: lower-case letters, digits and hyphens.
    counts : str
        What is counted, a word of `COUNTED`.
    domain : {"public", "threshold"}
        Whether all keys were known before anybody looked at the data, and each has a number, also where nobody is; or
        keys come from the data, and only those whose noisy number reaches `threshold` are known.
    keys : int or None
        How many keys a public domain has.
    l0, linf, l1 : int, >= 1
        In how many cells a person is at most, with how much in one of them, and with how much in all.
    noise : {"laplace", "gaussian"}
        The discrete Laplace or the discrete Gaussian distribution over the integers.
    scale : float, > 0
        Of Laplace noise P(x) ~ exp(-abs(x) / scale), of Gaussian noise P(x) ~ exp(-x**2 / (2 scale**2)).
    threshold : int or None
        The smallest number whose key is known, where keys come from the data; Laplace noise only.
    epsilon, delta : float
        The privacy loss of a query with Laplace noise; delta is 0 where the domain is public.
    rho : float
        The loss of a query with Gaussian noise, as zero-concentrated differential privacy; epsilon and delta are 0.
    role : {"rows", "model"}
        Whether its numbers are rows of the published table, or went into something else that is published.

    Examples
    --------
    >>> query = NoisyQuery(name="cells", counts="people-by-zone", domain="public", keys=12, l0=2, linf=1, l1=2,
    ...                    noise="laplace", scale=4.0, epsilon=0.5)
    >>> NoisyQuery(**query.to_json()) == query
    True
    """

    name: str
    counts: str
    domain: Literal["public", "threshold"]
    l0: int
    linf: int
    l1: int
    noise: Literal["laplace", "gaussian"]
    scale: float
    keys: int | None = None
    threshold: int | None = None
    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0
    role: Literal["rows", "model"] = "rows"

    def __post_init__(self) -> None:
        for rule, is_kept in _rules(self).items():
            if not is_kept:
                raise ParameterError(f"DifferentialPrivacy: a query must have {rule}.")

    def to_json(self) -> dict[str, Any]:
        """The query as JSON can hold it."""
        return asdict(self)


def _rules(query: NoisyQuery) -> dict[str, bool]:
    """Return what a query must have, and whether this one does; a forged manifest may have anything in its place."""
    laplace = query.noise == "laplace"
    losses = (query.epsilon, query.delta, query.rho)
    return {
        "a name of lower-case letters, digits and hyphens": _is_text(query.name) and bool(_NAME.fullmatch(query.name)),
        f"one of {', '.join(COUNTED)} to count": _is_text(query.counts) and query.counts in COUNTED,
        "a domain, public or threshold": query.domain in ("public", "threshold"),
        "a noise, laplace or gaussian": query.noise in ("laplace", "gaussian"),
        "the role rows or model": query.role in ("rows", "model"),
        "bounds l0, linf and l1 that are positive integers": all(map(_is_bound, (query.l0, query.linf, query.l1))),
        "an l1 that is at most l0 times linf": not _is_bound(query.l1) or query.l1 <= query.l0 * query.linf,
        "a scale above 0": isinstance(query.scale, float) and isfinite(query.scale) and query.scale > 0,
        "keys exactly where the domain is public": (query.domain == "public") == _is_bound(query.keys)
        and (query.keys is None or _is_bound(query.keys)),
        "a threshold exactly where keys come from the data": (query.domain == "threshold") == _is_bound(query.threshold)
        and (query.threshold is None or _is_bound(query.threshold)),
        "Laplace noise where keys come from the data": laplace or query.domain == "public",
        "losses that are numbers from 0 on": all(isinstance(x, float) and isfinite(x) and x >= 0 for x in losses),
        "the losses of its noise": query.rho == 0 if laplace else query.epsilon == query.delta == 0,
    }


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bound(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_BOUND


def read_queries(value: Any) -> tuple[NoisyQuery, ...]:
    """Return queries, or mappings that `to_json` gave; ParameterError for anything else."""
    known = {field.name for field in fields(NoisyQuery)}
    queries = []
    for one in value if isinstance(value, list | tuple) else [None]:
        if isinstance(one, NoisyQuery):
            queries.append(one)
            continue
        if not isinstance(one, Mapping) or set(one) != known:
            raise ParameterError("DifferentialPrivacy: queries must be a list, each with all its fields and no other.")
        queries.append(NoisyQuery(**one))
    if len({query.name for query in queries}) < len(queries):
        raise ParameterError("DifferentialPrivacy: two queries have the same name.")
    return tuple(queries)


def read_steps(name: str, value: Any, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of steps in order; ParameterError for one that is not in the vocabulary, or there twice."""
    words = tuple(value) if isinstance(value, list | tuple) else (None,)
    if any(not isinstance(word, str) or word not in known for word in words) or len(set(words)) < len(words):
        raise ParameterError(f"DifferentialPrivacy: {name} must be different words of {', '.join(known)}.")
    return words
