"""Is it strictly k-anonymous?  Judged from the definition alone: whole routes, enough people, real paths."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model.claims import StrictK
from wayveil.model.claims.counting import share_text
from wayveil.model.data.ragged import IntArray
from wayveil.model.data.routes import Routes
from wayveil.model.results import Verdict
from wayveil.verifiers.common.connected_routes import Faults, not_judged_of_routes, refusal_of_routes, size_of_routes
from wayveil.verifiers.common.driven_routes import Driven
from wayveil.verifiers.common.inferred_routes import InferenceRoutes, RouteGroups, exceed, inference_routes_of

__all__ = ["check_strict_k"]


def check_strict_k(published: Routes, claim: StrictK, *, original: Routes | None = None) -> Verdict:
    """Judge whether every published route is, as a whole, that of enough people, and a path of the network.

    1. In every slice of time, every sequence of roads is exactly that of at least k distinct people; with
       ``pad="yes"``, of at least k people and dummies, more than k / 2 of which are people.
    2. Nobody owns more than `row_share` of the trajectories with one route in one slice; dummies are among these with
       ``pad="yes"``, and count for nothing otherwise.
    3. Every published trajectory is a connected path: each road begins where the one before it ends.
    4. Where the original is given: its network has every published road, between the same two nodes; whoever owns a
       published trajectory drove on at least one of its roads in that slice, and counts only then; every route is a
       part of a trip of that slice, without a gap; and at least k people drove on each of its roads in that slice.
    5. There is no inference route.  The first two parts imply this; it is counted nevertheless.

    Parameters
    ----------
    published : Routes
        The published data.  Distinct owner codes are counted, except with ``owners="hidden"``, where every trajectory
        counts; ``"declared"`` owners are trajectories of the input.  A negative code is a dummy, and nobody.
        Trajectories without rows are not published.
    claim : StrictK
        What to judge.
    original : Routes, optional
        The true data, in any order, with the owner codes and the slices of the published data.  Roads and nodes are
        compared by their names.

    Returns
    -------
    Verdict
        `measured` has `min_support`, what is behind the rarest route; `max_owner_share`, the largest share of the
        trajectories with one route that one person owns; `routes`, the number of different routes, each counted in
        every slice; `slices`, `trajectories`, `rows` and different `roads`; `broken`, the places where a trajectory
        jumps; `inference_routes`, the number of intersections that have one, each counted in every slice;
        `foreign_roads`, those that the network of the original does not have so; `untrue`, the trajectories of people
        who did not drive there, routes that nobody drove and roads with fewer than k people in the original, together,
        both None without it; `dummies`, and `min_people`, the number of people behind the route with the fewest, both
        None where the owners are withheld, and where people were declared and it is not known who is a dummy.
        `witness` is something untrue, or else the rarest route, one of too few people among dummies, one that somebody
        dominates, a jump, a road that is not in the network, or an inference route; it consists of published values
        only.

    Notes
    -----
    An inference route is looked for among trajectories, and sizes are counted as for the routes, see
    `find_inference_routes`: so the theorem of the reference holds also if a person has several trajectories in a slice.
    Time is that of sorting the rows, and O(degree * rows of different routes), and for every different route the
    trips with its first road; memory is a small multiple of the data.

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014), Definitions 2 and 4, Theorem 4.1.

    Examples
    --------
    >>> from wayveil.model.data.routes import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=network)
    >>> verdict = check_strict_k(data, StrictK(k=3))
    >>> verdict.holds, verdict.witness["roads"], verdict.measured["inference_routes"]
    (False, ['AB'], 1)
    >>> check_strict_k(data.take(np.arange(3)), StrictK(k=3)).holds
    True
    """
    reason = refusal_of_routes(published)
    findings = None if reason else _Findings.of(published, claim, original)
    knows_dummies = _knows_dummies(published, claim, original)
    is_published = np.diff(published.offsets) > 0
    measured: dict[str, int | float | str | None] = {
        "min_support": None if findings is None else int(findings.groups.people.min()),
        "min_people": int(findings.people.min()) if knows_dummies and findings is not None else None,
        "max_owner_share": None if findings is None else _largest_share(findings.groups),
        **size_of_routes(published, None if findings is None else findings.groups),
        "dummies": int((published.owner[is_published] < 0).sum()) if knows_dummies else None,
        "broken": None if findings is None else len(findings.faults.broken),
        "foreign_roads": None if findings is None or original is None else len(findings.faults.foreign),
        "untrue": None if findings is None or findings.driven is None else findings.driven.n_wrong,
        "inference_routes": None if findings is None else findings.inference.intersections,
    }
    witness = None if findings is None else findings.witness(published, claim, knows_dummies=knows_dummies)
    return Verdict(
        holds=witness is None and not reason,
        claim=claim,
        counted="owners" if published.owners == "given" else "trajectories",
        measured=measured,
        witness=witness,
        reason=reason or _reason(published, claim, measured, witness, findings),
        not_judged=_not_judged(published, claim, original),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Findings:
    """All that the claim speaks of: who is behind each route, counted as it says, and people alone; and what is wrong.

    `people` is the number of people in each of `groups`, dummies not counted.
    """

    groups: RouteGroups
    people: IntArray
    faults: Faults
    driven: Driven | None
    inference: InferenceRoutes

    @classmethod
    def of(cls, published: Routes, claim: StrictK, original: Routes | None) -> _Findings:
        driven = None if original is None else Driven.of(published, original, claim.k)
        # Whoever did not drive on a route does not hide anybody on it: such trajectories are there for an attacker, but
        # count as nobody's.
        nobody = None if driven is None else driven.untrue
        people = groups = RouteGroups.of(published, nobody=nobody)
        if claim.pad == "yes":
            groups = RouteGroups.of(published, count="everybody", nobody=nobody)
        return cls(
            groups=groups,
            people=people.people,
            faults=Faults.of(published, original),
            driven=driven,
            inference=inference_routes_of(published, groups, claim.k, claim.owner_share),
        )

    def witness(self, published: Routes, claim: StrictK, *, knows_dummies: bool) -> dict[str, Any] | None:
        """Return what breaks the claim, the worst of its kind; None if nothing does."""
        return (
            # Things that are untrue come first: where the owner of a trajectory never drove there, its support means
            # nothing.
            (self.driven.witness() if self.driven else None)
            or _rare(published, self.groups, claim.k)
            or (self._half(published, claim) if knows_dummies else None)
            or _dominated(published, self.groups, claim.owner_share)
            or self.faults.witness()
            or _inference(self.inference)
        )

    def _half(self, published: Routes, claim: StrictK) -> dict[str, Any] | None:
        """Return the route with the fewest people if half of k or more of those who share it may be dummies."""
        # More than half of k must be people: behind dummies alone nobody hides.
        least = int(self.people.min())
        if least >= claim.fewest_people:
            return None
        fewest = np.flatnonzero(self.people == least)
        return {**_first_of(published, self.groups, fewest), "people": least, "breaks": "dummies"}


def _rare(data: Routes, groups: RouteGroups, k: int) -> dict[str, Any] | None:
    """Return the rarest route if it is too rare; of several, the shortest, earliest, first by name."""
    least = int(groups.people.min())
    if least >= k:
        return None
    return {**_first_of(data, groups, np.flatnonzero(groups.people == least)), "support": least, "breaks": "support"}


def _dominated(data: Routes, groups: RouteGroups, share: Fraction) -> dict[str, Any] | None:
    """Return a route of which one person owns too large a share; the shortest, earliest, first by name."""
    bad = np.flatnonzero(exceed(groups.largest, groups.rows, share))
    if not len(bad):
        return None
    shown = _first_of(data, groups, bad)
    # The route that is shown may be dominated in several slices: the numbers are those of the earliest.
    same_route = [i for i in bad.tolist() if data.record(int(groups.first[i])) == shown["roads"]]
    one = min(same_route, key=lambda i: int(groups.slice[i]))
    return {**shown, "of_one": int(groups.largest[one]), "trajectories": int(groups.rows[one]), "breaks": "share"}


def _first_of(data: Routes, groups: RouteGroups, which: IntArray) -> dict[str, Any]:
    """Return slice and roads of one of these groups: the shortest, earliest, first by name."""
    length = np.diff(data.offsets)[groups.first[which]]
    which = which[length == length.min()]
    # A witness must not depend on the order of rows or owners, or the verdict of the same data would differ.
    which = which[groups.slice[which] == groups.slice[which].min()]
    at = groups.slice[which[0]]
    return {
        "slice": [int(groups.t_start[at]), int(groups.t_end[at])],
        "roads": min(data.record(trajectory) for trajectory in groups.first[which].tolist()),
    }


def _largest_share(groups: RouteGroups) -> float:
    """Return the largest share of the trajectories with one route that one person owns."""
    # Groups of nobody have no rows.
    return float((groups.largest / np.maximum(groups.rows, 1)).max(initial=0.0))


def _inference(routes: InferenceRoutes) -> dict[str, Any] | None:
    """Return the finding with the fewest behind it, first in the order of slices and names."""
    if not len(routes):
        return None
    records = [routes.record(i) for i in np.flatnonzero(routes.few == routes.few.min()).tolist()]
    first = min(records, key=lambda one: [str(one[name]) for name in ("node", "road_in", "road_out")])
    return {**first, "breaks": "inference"}


def _reason(
    data: Routes,
    claim: StrictK,
    measured: dict[str, Any],
    witness: dict[str, Any] | None,
    findings: _Findings | None,
) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    if claim.pad == "yes" and measured["dummies"] is not None:
        one = f"{one} or dummy"
        many = f"{many} and dummies"
    least = measured["min_support"]
    if witness and findings:
        return _why_not(claim, measured, witness, findings, one if least == 1 else many)
    routes = measured["routes"]
    each = "The only route is" if routes == 1 else f"Each of the {routes:,} routes is"
    text = f"{each} that of {least} {many} or more (k = {claim.k})"
    if claim.pad == "yes" and measured["min_people"] is not None:
        text += f", {measured['min_people']} or more of them people"
    text += f", nobody owns more than {share_text(claim.owner_share)} of the trajectories with one"
    text += ", all are connected paths, and there is no inference route"
    if claim.pad == "yes" and measured["dummies"] is not None:
        text += f"; {measured['dummies']:,} of {measured['trajectories']:,} trajectories are dummies"
    return text + "."


def _why_not(
    claim: StrictK, measured: dict[str, Any], witness: dict[str, Any], findings: _Findings, component: str
) -> str:
    """One sentence on what `witness` shows."""
    breaks = witness["breaks"]
    if findings.driven and breaks in ("owner", "route", "road"):
        return findings.driven.reason(witness, claim.k)
    if breaks == "support":
        return f"A route is that of only {measured['min_support']} {component} of its slice, fewer than k = {claim.k}."
    if breaks == "dummies":
        n = witness["people"]
        people = "1 person" if n == 1 else f"{n} people"
        return f"A route is that of {people}, not more than half of k = {claim.k}, and of dummies."
    if breaks == "share":
        return (
            f"One person owns {witness['of_one']:,} of the {witness['trajectories']:,} trajectories with one route, "
            f"more than {share_text(claim.owner_share)} of them."
        )
    if breaks == "inference":
        n = measured["inference_routes"]
        where = "1 intersection" if n == 1 else f"{n:,} intersections"
        return f"Fewer than k = {claim.k} part from others, or join them, at {where}: these are inference routes."
    return findings.faults.reason(witness)


def _not_judged(data: Routes, claim: StrictK, original: Routes | None) -> tuple[str, ...]:
    parts = not_judged_of_routes(data, claim.k, original)
    if claim.pad == "yes" and not _knows_dummies(data, claim, original):
        why = "the owners are withheld" if data.owners == "hidden" else "the files do not tell"
        parts.insert(1, f"dummies: {why}, so it is not known which trajectories are dummies")
    return tuple(parts)


def _knows_dummies(data: Routes, claim: StrictK, original: Routes | None) -> bool:
    """Return whether it is known which trajectories are nobody's: files do not say, whoever has the original does."""
    if data.owners == "declared":
        return claim.pad == "no" or original is not None
    return data.owners == "given"
