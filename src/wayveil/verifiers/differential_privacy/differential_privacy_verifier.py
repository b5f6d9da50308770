"""Does a declared mechanism spend no more than its budget, and can it have made what is published?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from math import inf, log, nextafter, sqrt
from typing import Any

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import DifferentialPrivacy
from wayveil.model.data.count_tables import EVERYWHERE, CountTables
from wayveil.model.noisy_query import NoisyQuery
from wayveil.model.results import Verdict

__all__ = ["NOISE_BY_CONSTRUCTION", "NO_OPENDP", "Loss", "check_differential_privacy", "find_other_mechanism"]

NOISE_BY_CONSTRUCTION = (
    "the noise itself: the claim holds by construction, if what is declared was run; that noise was drawn, and that "
    "what a person contributes was bounded, cannot be judged from these files"
)
NO_OPENDP = "the privacy loss: it is computed with OpenDP, which is not installed: install wayveil[dp]"

_STEPS_PER_QUERY = 5_000_000
_SURE = 30.0
"""Noise that is exp(-_SURE) likely, less than 1e-13, is taken not to happen in one number."""


def check_differential_privacy(published: Any, claim: DifferentialPrivacy) -> Verdict:
    """Judge whether a declared mechanism keeps its budget, and whether it can have made what is published.

    1. Every query declares at least the loss that OpenDP computes from its bounds per person, its noise and its scale;
       where keys come from the data, also from its threshold.
    2. All losses together are at most epsilon and delta, in exact arithmetic.
    3. The numbers are such that the declared mechanism can have made them: of a public domain every key has one, of
       other domains none is below the threshold, and totals are sums of what is published.

    That noise was drawn, and that contributions were bounded, is how it was made, and cannot be read off files.

    Parameters
    ----------
    published : CountTables, or synthetic data of any kind
        What is published.
    claim : DifferentialPrivacy
        What to judge, with the mechanism.

    Returns
    -------
    Verdict
        `measured` has `epsilon_spent` and `delta_spent`, rounded up, and how many `queries` there were.  `witness` is
        the query, or the row, that is wrong.

    Examples
    --------
    >>> query = NoisyQuery(name="cells", counts="people-by-zone", domain="public", keys=2, l0=1, linf=1, l1=1,
    ...                    noise="laplace", scale=2.0, epsilon=0.5)
    >>> claim = DifferentialPrivacy(epsilon=0.5, queries=(query,), zones=("a", "b"), bounding=("sample-cells",),
    ...                             steps=("not-negative",))
    >>> table = CountTables.from_rows([("a", "", None, 3), ("b", "", None, 0)])
    >>> verdict = check_differential_privacy(table, claim)
    >>> verdict.holds, verdict.measured["epsilon_spent"]
    (True, 0.5)
    """
    fault = _find_missing(published, claim)
    loss: Loss | None = None
    not_judged = [NOISE_BY_CONSTRUCTION]
    # In this order: what is declared, what that spends, and whether such a mechanism can have made the files.  The
    # first fault is told.
    if fault is None:
        try:
            loss, fault = _judge_loss(claim)
        # Without OpenDP the loss is not computed, and the verdict says so instead of passing over it.
        except ImportError:
            not_judged.insert(0, NO_OPENDP)
    if fault is None and not published.individual:
        fault = _find_impossible_row(published, claim)
    elif fault is None:
        fault = _find_foreign_place(published, claim)
    measured: dict[str, int | float | str | None] = {
        # Rounded up: a number below the true loss would be a promise that is not kept.
        "epsilon_spent": None if loss is None else _rounded_up(loss.epsilon),
        "delta_spent": None if loss is None else _rounded_up(loss.delta),
        "queries": len(claim.queries),
    }
    return Verdict(
        holds=fault is None,
        claim=claim,
        counted="owners" if published.owners == "given" else "trajectories",
        measured=measured,
        witness=None if fault is None else fault.witness,
        reason=_holding(measured) if fault is None else fault.reason,
        not_judged=() if fault is not None else tuple(not_judged),
    )


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """What is wrong, in one sentence, and where."""

    reason: str
    witness: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What queries spend, exactly: epsilon and delta of Laplace noise, rho of Gaussian noise."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


def _holding(measured: Mapping[str, Any]) -> str:
    if measured["epsilon_spent"] is None:
        return "What is published is what such a mechanism can make."
    return (
        f"The declared mechanism spends epsilon = {measured['epsilon_spent']:.6g} and delta = "
        f"{measured['delta_spent']:.6g}, and can have made what is published."
    )


def _find_missing(published: Any, claim: DifferentialPrivacy) -> _Fault | None:
    """Return what a claim lacks to be one about these data."""
    rows = [query for query in claim.queries if query.role == "rows"]
    if not claim.queries:
        return _Fault(reason="No query is declared, so nothing that is published is accounted for.", witness={})
    if published.individual == (len(rows) == 1) or len(rows) > 1:
        return _Fault(
            reason="The declared queries do not say from which one the numbers of the published table come.",
            witness={"queries": len(rows)},
        )
    if not claim.bounding:
        return _Fault(reason="It is not declared how the contribution of a person is bounded.", witness={})
    return None


# ---------------------------------------------------------------------------------------------------------- the losses


def _judge_loss(claim: DifferentialPrivacy) -> tuple[Loss, _Fault | None]:
    """Return what all queries spend, and the first query, or sum, that spends more than is declared."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    total = Loss()
    for query in claim.queries:
        spend(_STEPS_PER_QUERY)
        loss = _loss_of(dp, query)
        declared = Loss(epsilon=Fraction(query.epsilon), delta=Fraction(query.delta), rho=Fraction(query.rho))
        for name in ("epsilon", "delta", "rho"):
            spent = getattr(loss, name)
            if spent > getattr(declared, name):
                return loss, _Fault(
                    reason=f"A query spends {name} = {_rounded_up(spent)!r} by its bounds, scale and threshold, and "
                    f"declares {getattr(query, name)!r}.",
                    witness={"query": query.name},
                )
        total = Loss(
            epsilon=total.epsilon + declared.epsilon,
            delta=total.delta + declared.delta,
            rho=total.rho + declared.rho,
        )
    if total.rho:
        total = _with_gaussian(dp, total, Fraction(claim.delta))
    over = {
        name: getattr(total, name)
        for name in ("epsilon", "delta")
        if getattr(total, name) > Fraction(getattr(claim, name))
    }
    if over:
        spent = " and ".join(f"{name} = {_rounded_up(value)!r}" for name, value in over.items())
        return total, _Fault(reason=f"All queries together spend {spent}, which is more than is claimed.", witness={})
    return total, None


def _loss_of(dp: Any, query: NoisyQuery) -> Loss:
    """Return what one query spends, by OpenDP's maps; infinite where it says that there is no bound."""
    integer = dp.atom_domain(T="i64")
    if query.noise == "gaussian":
        noisy = dp.m.make_gaussian(dp.vector_domain(integer), dp.l2_distance(T="f64"), scale=query.scale)
        # The largest norm of what is in l0 cells, with at most linf in each and l1 in all.
        squared = min(query.l0 * query.linf**2, query.l1 * query.linf)
        return Loss(rho=_exact(noisy.map(_root_above(squared))))
    if query.domain == "public":
        noisy = dp.m.make_laplace(dp.vector_domain(integer), dp.l1_distance(T="i64"), scale=query.scale)
        return Loss(epsilon=_exact(noisy.map(query.l1)))
    # OpenDP releases a number that is equal to the threshold, but up to version 0.16 its map leaves the probability of
    # exactly that out (opendp/opendp#2922). The map of the threshold below counts it.
    noisy = dp.m.make_laplace_threshold(
        dp.map_domain(dp.atom_domain(T="u32"), integer),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
        scale=query.scale,
        threshold=max(query.threshold or 0, 1) - 1,
    )
    if query.threshold is None or query.threshold - 1 <= query.linf:
        return Loss(delta=Fraction(1))  # a key of one person alone is as likely to be shown as not
    epsilon, delta = noisy.map((query.l0, query.l1, query.linf))
    return Loss(epsilon=_exact(epsilon), delta=_exact(delta))


def _with_gaussian(dp: Any, total: Loss, delta: Fraction) -> Loss:
    """Return losses with rho as an epsilon, for what is left of delta."""
    left = delta - total.delta
    if left <= 0:
        return replace(total, delta=Fraction(1))
    noisy = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=1.0)
    profile = dp.c.make_zCDP_to_approxDP(noisy).map(_root_above(2 * total.rho))
    below = nextafter(float(left), 0.0)
    return Loss(epsilon=total.epsilon + _exact(profile.epsilon(below)), delta=delta, rho=total.rho)


def _exact(value: float) -> Fraction:
    """Return a float as it is; what is not finite is more than any budget."""
    return Fraction(10**30) if value != value or value == inf else Fraction(value)


def _root_above(squared: Fraction | int) -> float:
    """Return a float that is not below the square root."""
    root = sqrt(float(squared))
    while Fraction(root) ** 2 < squared:
        root = nextafter(root, inf)
    return root


def _rounded_up(value: Fraction) -> float:
    """Return a float that is not below a number."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)


# ------------------------------------------------------------------------------------------------ what can be published


def _find_impossible_row(published: CountTables, claim: DifferentialPrivacy) -> _Fault | None:
    """Return what no run of the declared mechanism publishes."""
    query = next(query for query in claim.queries if query.role == "rows")
    cells = published.cells()
    if len(published) != 1:
        return _Fault(reason="There is not exactly one table.", witness={"tables": len(published)})
    keys = np.stack([published.zone, published.to_zone, published.t, published.timed.astype(np.int64)])
    if np.unique(keys, axis=1).shape[1] < published.n_rows:
        return _Fault(reason="A row stands twice.", witness={})
    if not cells.all() and "totals" not in claim.steps:
        return _Fault(reason="A total is published, of which the claim does not speak.", witness={})
    flows = query.counts.endswith("-by-flow")
    used = published.to_zone[cells]
    is_way = np.array([name != EVERYWHERE for name in published.zones], np.bool_)[used]
    if not query.counts.endswith(("-by-flow", "-by-zone")) or (is_way != flows).any():
        return _Fault(reason="The rows are not what the query counts.", witness={"query": query.name})
    fault = _find_wrong_total(published, cells, flows=flows)
    if fault is not None:
        return fault
    if query.domain == "threshold":
        smallest = int(published.count[cells].min(initial=np.iinfo(np.int64).max))
        if smallest < (query.threshold or 0):
            return _Fault(
                reason=f"A number is {smallest}, below the threshold {query.threshold}: its key would not be shown.",
                witness={"count": smallest},
            )
        return None
    if "not-negative" not in claim.steps:
        return _Fault(
            reason="Noise makes numbers below 0, and it is not declared what became of them.",
            witness={"query": query.name},
        )
    return _find_key_outside(published, cells, claim, query, flows=flows)


def _find_key_outside(
    published: CountTables, cells: Any, claim: DifferentialPrivacy, query: NoisyQuery, *, flows: bool
) -> _Fault | None:
    """Return a key that is not in the public domain, or that one is missing: each has a number, or it is no noise."""
    n_times = 1 if not claim.times else (claim.times[1] - claim.times[0]) // claim.times[2] + 1
    n_keys = len(claim.zones) ** (2 if flows else 1) * n_times
    if query.keys != n_keys:
        return _Fault(
            reason=f"The public zones and times have {n_keys:,} keys, and the query declares {query.keys:,}.",
            witness={"query": query.name},
        )
    if int(cells.sum()) != n_keys:
        return _Fault(
            reason=f"A public domain has a number for every key, {n_keys:,} in all, and {int(cells.sum()):,} are "
            "published.",
            witness={"query": query.name},
        )
    return _find_foreign_zone(published, cells, claim) or _find_foreign_time(published, cells, claim)


def _find_foreign_zone(published: CountTables, cells: Any, claim: DifferentialPrivacy) -> _Fault | None:
    public_zones = {EVERYWHERE, *claim.zones}
    for code in np.unique(np.concatenate([published.zone[cells], published.to_zone[cells]])).tolist():
        if published.zones[code] not in public_zones:
            return _Fault(reason="A zone is not in the public list.", witness={"zone": published.zones[code]})
    return None


def _find_foreign_time(published: Any, rows: Any, claim: DifferentialPrivacy) -> _Fault | None:
    timed = published.timed[rows]
    if not claim.times:
        return _Fault(reason="A row has a time, and no public times are declared.", witness={}) if timed.any() else None
    first, last, width = claim.times
    t = published.t[rows]
    if not timed.all() or ((t < first) | (t > last) | ((t - first) % width != 0)).any():
        return _Fault(reason="A time is not one of the public buckets.", witness={})
    return None


def _find_wrong_total(published: CountTables, cells: Any, *, flows: bool) -> _Fault | None:
    """Return a total that is not the sum of the published cells that it counts."""
    if cells.all():
        return None
    everywhere = np.array([name == EVERYWHERE for name in published.zones], np.bool_)
    sums: dict[tuple[int, int, int | None], int] = {}
    total = int(np.flatnonzero(everywhere)[0])
    rows = zip(
        published.zone[cells].tolist(),
        published.to_zone[cells].tolist(),
        np.where(published.timed, published.t, -1)[cells].tolist(),
        published.timed[cells].tolist(),
        published.count[cells].tolist(),
        strict=True,
    )
    for zone, to_zone, t, timed, number in rows:
        at = t if timed else None
        if flows:
            keys = [(zone, total, at), (total, to_zone, at), (total, total, at)]
        else:
            keys = [(zone, total, None), (total, total, at), (total, total, None)]
        for key in dict.fromkeys(keys):
            sums[key] = sums.get(key, 0) + number
    for row in np.flatnonzero(~cells).tolist():
        key = (
            int(published.zone[row]),
            int(published.to_zone[row]),
            int(published.t[row]) if published.timed[row] else None,
        )
        if sums.get(key) != int(published.count[row]):
            return _Fault(reason="A total is not the sum of the published cells.", witness={"row": row})
    return None


def _find_foreign_place(published: Any, claim: DifferentialPrivacy) -> _Fault | None:
    """Return a place of synthetic data that is not in the public list, where there is one."""
    places = published.places() if claim.zones else None
    if places is None:
        return None
    names = np.array(published.place_names() if published.trip_ends else places.names, dtype=object)
    used = np.unique(np.asarray(places.code, np.int64))
    foreign = [name for name in names[used] if name not in set(claim.zones)]
    return _Fault(reason="A place is not in the public list.", witness={"place": foreign[0]}) if foreign else None


# ------------------------------------------------------------------------------------------------------- a second run


def find_other_mechanism(
    published: Any, claim: DifferentialPrivacy, again: Any, claim_again: DifferentialPrivacy
) -> str:
    """Return how a publication differs from another run on the same data, "" if only noise can be the difference.

    Noise is never the same twice.  But a second run declares the same mechanism, and of every key of a public domain it
    gives a number that noise can have moved from the first one: more than twice as far as noise reaches is something
    else.  A bound that was read off a noisy histogram may differ; the queries after it then differ in it alone.

    Examples
    --------
    >>> claim = DifferentialPrivacy(epsilon=1)
    >>> find_other_mechanism(None, claim, None, DifferentialPrivacy(epsilon=2))
    'the mechanism is another one'
    """
    read_off = "bound-from-histogram" in claim.steps
    if _shape(claim, read_off=read_off) != _shape(claim_again, read_off=read_off):
        return "the mechanism is another one"
    if published.individual:
        return ""
    query = next((query for query in claim.queries if query.role == "rows"), None)
    if query is None or read_off:
        return ""
    reach = 2 * query.scale * (_SURE + log(max(published.n_rows, 1)))
    one = {row[:3]: row[3] for row in published.record(0)} if len(published) else {}
    other = {row[:3]: row[3] for row in again.record(0)} if len(again) else {}
    if query.domain == "public" and one.keys() != other.keys():
        return "other rows come out"
    if any(abs(one[key] - other[key]) > reach for key in one.keys() & other.keys() if EVERYWHERE not in key[:1]):
        return "a number is further away from that of a second run than the declared noise reaches"
    return ""


def _shape(claim: DifferentialPrivacy, *, read_off: bool) -> dict[str, Any]:
    """Return what two runs have in common; of a bound that was read off noise, nothing that depends on it."""
    content = claim.to_json()
    if "choose-next" in claim.steps:  # what is asked depends on what noise said before, and so does all about it
        content["queries"] = []
    elif read_off:
        depends = ("l0", "l1", "scale", "threshold", "epsilon", "delta", "rho")
        content["queries"] = [content["queries"][0]] + [
            {name: value for name, value in query.items() if name not in depends} for query in content["queries"][1:]
        ]
    return content
