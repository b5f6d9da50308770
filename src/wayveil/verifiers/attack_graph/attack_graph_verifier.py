"""Are there k candidates for everybody?  Judged from the definition alone, with all perfect matchings in mind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model.claims import AttackGraph
from wayveil.model.claims.counting import number_text, percent, share_text
from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, offsets_of
from wayveil.model.results import Verdict
from wayveil.verifiers.attack_graph.boxes_at import MOST_ENTRIES
from wayveil.verifiers.attack_graph.candidates import Candidates, Search
from wayveil.verifiers.attack_graph.declared_boxes import count_least, count_sharing, find_unmarked
from wayveil.verifiers.attack_graph.dense_graph import MOST_PEOPLE, DenseGraph
from wayveil.verifiers.attack_graph.matchings import MOST_EDGES, Left, Pruned, is_symmetric, prune, self_contained
from wayveil.verifiers.attack_graph.reachable import axis_speed, exceed_speed, within_reach
from wayveil.verifiers.common.containment import exact_m, mismatch, touched
from wayveil.verifiers.common.index_ranges import expand
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.common.whole_trajectories import columns_of, counted, people_of, refusal, same

__all__ = ["STEP_LIMIT", "check_attack_graph"]

STEP_LIMIT = 3_000_000_000
"""What needs more comparisons of a position with a box than this does not hold; some minutes."""


def check_attack_graph(published: Boxes, claim: AttackGraph, *, original: Points | None = None) -> Verdict:
    """Judge whether everybody keeps enough candidates, whoever else's positions are known.

    People and trajectories are those that were published.  There is an edge from person i to trajectory o if for every
    known row (t, x, y) of original trajectory i some box of published trajectory o has t_min <= t <= t_max and contains
    (x, y).  Whoever is known by nothing has edges to all.  With a top speed, (x, y) must also be within reach of every
    box of o: along each axis no farther than ``top_speed / sqrt(2)`` times the time between t and the box.  Then

    1. the trajectory of every person contains all that is known of this person: there is an edge from i to i;
    2. every box contains a recorded position of its trajectory in its time;
    3. after every edge is taken away that is in no perfect matching of people with trajectories, everybody has edges to
       trajectories of at least k distinct owners, and
    4. every trajectory has edges to at least k distinct people;
    5. of the trajectories that are left for a person, and of the people (one for each of their trajectories) who are
       left for a trajectory, no more than a share `row_share` is one person's; with a top speed also of what is left
       for an attacker who does not use it, and with marks (7) also of what is left for one who does not look at them;
    6. with a top speed, nobody's recorded positions are faster, along an axis, than that;
    7. where the publication marks the boxes of declared times, at least k people (or trajectories, where owners are not
       known) have each of these, and every box of a person at a time that is known of the person is one.  Then there is
       an edge from i to o in 3 to 5 only if the boxes of o around what is known of i are marked.

    Without the original only the first half of 7 is judged.

    Parameters
    ----------
    published : Boxes
        The published data.  Trajectories without rows are not published.
    claim : AttackGraph
        What to judge.
    original : Points, optional
        The true data: trajectory i is that of published trajectory i, and `known` are the declared rows; if it is None,
        every row is known.  Owners are those of the original, or of the published data, where either says them, else
        every trajectory is a person.

    Returns
    -------
    Verdict
        `measured` has `min_candidates`, the smallest number of distinct owners of trajectories that are left for a
        person; `min_people`, the smallest number of distinct people who are left for a trajectory; `edges` and
        `edges_left`, before and after pruning; `symmetric`, whether before pruning i has an edge to o exactly if o has
        one to i; `not_contained`, the people who break 1; `boxes_untrue`; `max_owner_share`, the largest share of 5;
        `too_fast`, the trajectories that break 6; `min_declared`, how many share a box of a declared time at least;
        and `not_declared`, the boxes that break the second half of 7.
        `witness` is the published trajectory of a person, or a trajectory, that breaks 1, 3, 4, 5 or 6, by its first
        and last box, or a box that breaks 2 or 7.

    Notes
    -----
    Positions are compared with boxes exactly, or up to a micrometre where the file has degrees.  Without a perfect
    matching no edge is left.  k candidates is not a chance of 1/k: see the attack of the same name.

    Edges are listed, once for people with the same candidates; where they may be more than `matchings.MOST_EDGES`, the
    graph is held in bits.  With a top speed they are always listed, for each person.  Beyond `STEP_LIMIT` comparisons,
    `boxes_at.MOST_ENTRIES` boxes at known times, or so many edges for more than `dense_graph.MOST_PEOPLE` people (with
    a top speed, or with more pairs of a position and a box around it than that: of however many), nothing is certain,
    and the claim does not hold.  Time is that of
    `candidates.Search`, and O(edges), or O(people ** 2 / 64); with a top speed O(known positions x boxes) per edge.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 1.0, 0.0)], [(0, 2.0, 0.0)]])
    >>> boxes = Boxes.from_records([[(0, 0, 1.0, 2.0, 0.0, 0.0)], [(0, 0, 1.0, 2.0, 0.0, 0.0)]])
    >>> check_attack_graph(boxes, AttackGraph(k=2), original=truth).holds
    True
    >>> boxes = Boxes.from_records([[(0, 0, 1.0, 1.0, 0.0, 0.0)], [(0, 0, 1.0, 2.0, 0.0, 0.0)]])
    >>> verdict = check_attack_graph(boxes, AttackGraph(k=2), original=truth)
    >>> verdict.holds, verdict.measured["edges"], verdict.measured["edges_left"], verdict.witness["breaks"]
    (False, 3, 2, 'candidates')
    """
    if original is None:
        return _judge_alone(published, claim)
    why_not = refusal(published) or mismatch(published, original) or _unusable(original) or _unsaid(claim)
    if why_not:
        return _refused(published, claim, why_not)
    try:
        findings = _Findings.of(published, original, claim)
    except BudgetExceeded:
        return _refused(
            published,
            claim,
            f"Who is left for whom cannot be certified within the limits of {STEP_LIMIT:,} comparisons, "
            f"{MOST_ENTRIES:,} boxes at known times, and {MOST_EDGES:,} edges of more than {MOST_PEOPLE:,} people, "
            f"so the claim is not shown to hold.",
        )
    return _verdict(published, original, claim, findings)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Findings:
    """All that was found; `nodes` are the published trajectories, and everything else is numbered by these."""

    nodes: IntArray
    edges: int
    symmetric: bool
    contained: BoolArray
    true: BoolArray
    fast: BoolArray | None
    left: Pruned | None
    others: tuple[Pruned | None, ...] = ()
    shared: IntArray | None = None
    unmarked: BoolArray | None = None

    @classmethod
    def of(cls, published: Boxes, original: Points, claim: AttackGraph) -> _Findings:
        """Return what is found; `left` is what is left for who uses all there is, `others` for who uses less."""
        nodes = np.flatnonzero(published.offsets[:-1] < published.offsets[1:])
        steps = StepBudget(STEP_LIMIT)
        unmarked = None if published.declared is None else find_unmarked(published, original)
        # Several attackers look at the same files: with the marks of declared times or without, with the top speed or
        # without. Knowing more does not always help (a mark may mislead), so the claim must hold against each of them.
        plain = _Graph.of(published, published, original, claim, nodes, steps)
        left = list(plain.left)
        if published.declared is not None and not published.declared.all() and not np.any(unmarked):
            # Who looks at the marks rules out trajectories that have other boxes around what is known.
            marked = published.where(published.declared)
            left = [*_Graph.of(published, marked, original, claim, nodes, steps).left, *left]
        fast = None
        if not isinstance(claim.top_speed, str):
            speed = axis_speed(claim.top_speed, original)
            fast = exceed_speed(original, speed, exact_m(published))[nodes]
        return cls(
            nodes=nodes,
            edges=plain.edges,
            symmetric=plain.symmetric,
            contained=plain.contained,
            true=touched(published, original),
            fast=fast,
            left=left[0],
            others=tuple(left[1:]),
            shared=None if unmarked is None else count_sharing(published, people_of(_who(published, original))),
            unmarked=unmarked,
        )

    @property
    def sides(self) -> list[Left]:
        """What is left for people and for trajectories, to all attackers."""
        return [side for left in (self.left, *self.others) if left for side in (left.of_person, left.of_trajectory)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Graph:
    """Who can be whose, and what is left of it: with the top speed of the claim, if it has one, and without it."""

    edges: int
    symmetric: bool
    contained: BoolArray
    left: tuple[Pruned | None, ...]

    @classmethod
    def of(
        cls, published: Boxes, around: Boxes, original: Points, claim: AttackGraph, nodes: IntArray,
        steps: StepBudget,
    ) -> _Graph:  # fmt: skip
        """Return the graph where what is known must be in the boxes `around` it: all that are published, or some."""
        owner = people_of(_who(published, original))[nodes]
        search = Search.of(around, original, nodes, steps)
        if not isinstance(claim.top_speed, str):
            speed = axis_speed(claim.top_speed, original)
            # Without the speed everybody who fits is an edge; with it, those stay that are within reach. Both graphs
            # are pruned to the edges of perfect matchings, as an attacker would who knows that everybody has exactly
            # one trajectory.
            whole = search.run(StepBudget(MOST_EDGES))
            graph = _reachable(published, original, nodes, whole, speed, steps)
            return cls(
                edges=len(graph.candidate),
                symmetric=is_symmetric(graph),
                contained=self_contained(graph),
                left=(prune(graph, owner), prune(whole, owner)),
            )
        # Perhaps too many to list, but few enough for bits.
        if search.most > MOST_EDGES and len(nodes) <= MOST_PEOPLE and search.is_listed:
            crowd = DenseGraph.of(search)
            return cls(
                edges=crowd.edges,
                symmetric=crowd.is_symmetric,
                contained=crowd.self_contained,
                left=(crowd.prune(owner),),
            )
        graph = search.run(StepBudget(MOST_EDGES))
        return cls(
            edges=int((graph.sizes * np.diff(graph.offsets)).sum()),
            symmetric=is_symmetric(graph),
            contained=self_contained(graph),
            left=(prune(graph, owner),),
        )


def _judge_alone(published: Boxes, claim: AttackGraph) -> Verdict:
    """Judge what the published files show: that a crowd shares every box that is said to be of a declared time."""
    why_not = refusal(published)
    if why_not is None and published.declared is not None and len(published.declared) != len(published.t_min):
        why_not = "It is not said of each box whether it is of a declared time."
    if why_not is None and published.declared is not None and not published.declared.any():
        why_not = "No box is said to be of a declared time, so there is nothing that anybody could hide in."
    if why_not:
        return _refused(published, claim, why_not)
    # The published files alone show that crowds share boxes. Who can be whose needs the truth, so the answer for a
    # recipient is "not judged", never "holds".
    unsure = (
        "who is left for whom: it takes where people really were, which published files do not show; whoever has the "
        "original can judge it with --original",
    )
    if published.declared is None:
        return replace(
            _refused(published, claim, "The files do not say which times are declared, so they show nothing."),
            holds=True,
            not_judged=unsure,
        )
    behind = (
        f"people behind boxes: the owners are withheld, so it is known how many trajectories share a box, not whether "
        f"they belong to {claim.k} different people"
    )
    shared = count_sharing(published, people_of(published))
    least = int(shared[published.declared].min())
    few = np.flatnonzero(published.declared & (shared == least))
    return replace(
        _refused(published, claim, ""),
        holds=least >= claim.k,
        measured={**_refused(published, claim, "").measured, "min_declared": least},
        witness=None if least >= claim.k else {"box": _first_box(published, few), "breaks": "declared"},
        reason=_shared_by(least, published, claim),
        not_judged=unsure if published.owners != "hidden" else (*unsure, behind),
    )


def _shared_by(least: int, data: Boxes | Points, claim: AttackGraph) -> str:
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    if least >= claim.k:
        return f"Every box of a declared time is that of {least} {many} or more (k = {claim.k})."
    return f"A box of a declared time is that of only {least} {one if least == 1 else many}, fewer than k = {claim.k}."


def _reachable(
    published: Boxes, original: Points, nodes: IntArray, graph: Candidates, speed: float, steps: StepBudget
) -> Candidates:
    """Return the candidates of each person that are within reach; everybody is of a kind of their own then."""
    # People with the same known positions shared a list of candidates so far. Reach depends on the person's own way, so
    # lists are expanded, one per person.
    lengths = np.diff(graph.offsets)[graph.kind]
    StepBudget(MOST_EDGES).consume(int(lengths.sum()))
    at, person = expand(graph.offsets[graph.kind], lengths)
    candidate = graph.candidate[at]
    near = within_reach(published, original, nodes[person], nodes[candidate], speed, steps)
    return Candidates(
        kind=np.arange(len(nodes)), offsets=keep_rows(offsets_of(lengths), near), candidate=candidate[near]
    )


def _unsaid(claim: AttackGraph) -> str | None:
    """Why the claim itself cannot be judged, or None."""
    return (
        "The claim does not say the top speed in numbers, so nothing can be judged."
        if (claim.top_speed == "auto")
        else None
    )


def _unusable(original: Points) -> str | None:
    """Why the original is no truth to judge by, or None."""
    why_not = refusal(original) if len(original.t) else "It has no position."
    if why_not is None and original.known is not None and len(original.known) != len(original.t):
        why_not = "It is not said of each position whether it is known."
    return None if why_not is None else f"The original cannot be used. {why_not}"


def _who(published: Boxes, original: Points) -> Boxes | Points:
    """Return the data that say who the owners are: the original, unless only the published data do."""
    return published if published.owners == "given" != original.owners else original


def _verdict(published: Boxes, original: Points, claim: AttackGraph, findings: _Findings) -> Verdict:
    left = findings.left
    data = _who(published, original)
    witness = _witness(published, claim, findings)
    measured: dict[str, int | float | str | None] = {
        "min_candidates": None if left is None else int(left.people.min()),
        "min_people": None if left is None else left.least,
        "edges": findings.edges,
        "edges_left": None if left is None else left.edges,
        "symmetric": "yes" if findings.symmetric else "no",
        "not_contained": int((~findings.contained).sum()),
        "boxes_untrue": int((~findings.true).sum()),
        "max_owner_share": None if left is None else max(side.share for side in findings.sides),
        "too_fast": None if findings.fast is None else int(findings.fast.sum()),
        "min_declared": None if findings.shared is None else count_least(findings.shared),
        "not_declared": None if findings.unmarked is None else int(findings.unmarked.sum()),
        **_size(published),
    }
    return Verdict(
        holds=witness is None and left is not None,
        claim=claim,
        counted=counted(data),
        measured=measured,
        witness=witness,
        reason=_reason(data, claim, measured, witness),
        not_judged=_not_judged(data, claim),
    )


def _refused(published: Boxes, claim: AttackGraph, reason: str) -> Verdict:
    names = (
        "min_candidates",
        "min_people",
        "edges",
        "edges_left",
        "symmetric",
        "not_contained",
        "boxes_untrue",
        "max_owner_share",
        "too_fast",
        "min_declared",
        "not_declared",
    )
    return Verdict(
        holds=False,
        claim=claim,
        counted=counted(published),
        measured={**dict.fromkeys(names), **_size(published)},
        reason=reason,
    )


def _size(published: Boxes) -> dict[str, int]:
    many = int((published.offsets[:-1] < published.offsets[1:]).sum())
    return {"trajectories": many, "boxes": len(published.t_min)}


def _witness(published: Boxes, claim: AttackGraph, findings: _Findings) -> dict[str, Any] | None:
    """Return something published that breaks the claim; what it is does not depend on the order of trajectories."""
    left = findings.left
    if not findings.contained.all():
        return {**_trajectory(published, findings.nodes[~findings.contained]), "breaks": "containment"}
    if not findings.true.all():
        wrong = np.flatnonzero(~findings.true)
        return {"box": _first_box(published, wrong), "breaks": "truth"}
    if findings.fast is not None and findings.fast.any():
        return {**_trajectory(published, findings.nodes[findings.fast]), "breaks": "speed"}
    if left is not None and left.people.min() < claim.k:
        few = findings.nodes[left.people == left.people.min()]
        return {**_trajectory(published, few), "candidates": int(left.people.min()), "breaks": "candidates"}
    if left is not None and left.least < claim.k:
        return {**_trajectory(published, findings.nodes[left.rarest]), "people": left.least, "breaks": "people"}
    if left is not None:
        share = claim.owner_share
        dominated = np.any([side.dominated(share) for side in findings.sides], axis=0)
        if dominated.any():
            return {**_trajectory(published, findings.nodes[dominated]), "breaks": "share"}
    if findings.shared is not None and findings.unmarked is not None:
        bad = np.flatnonzero(((findings.shared > 0) & (findings.shared < claim.k)) | findings.unmarked)
        if len(bad):
            return {"box": _first_box(published, bad), "breaks": "declared"}
    return None


def _first_box(published: Boxes, rows: IntArray) -> list[int | float]:
    """Return one of these boxes, as published: the first in the order of values."""
    columns = [column[rows] for column in columns_of(published)]
    return _row(published, int(rows[np.lexsort(columns[::-1])[0]]))


def _trajectory(published: Boxes, which: IntArray) -> dict[str, Any]:
    """Return one of the trajectories, as published, by its ends: the first in the order of digests."""
    _, first = same(published.offsets, columns_of(published), which)
    begin = int(published.offsets[first[0]])
    end = int(published.offsets[first[0] + 1]) - 1
    return {"start": _row(published, begin), "end": _row(published, end), "rows": end - begin + 1}


def _row(published: Boxes, row: int) -> list[int | float]:
    """Return one box as it was published: (t_min, t_max, x_min, x_max, y_min, y_max)."""
    one = slice(row, row + 1)
    x_min, y_min = published.frame.to_file(published.x_min[one], published.y_min[one])
    x_max, y_max = published.frame.to_file(published.x_max[one], published.y_max[one])
    sides = (x_min, x_max, y_min, y_max)
    return [int(published.t_min[row]), int(published.t_max[row]), *(float(side[0]) for side in sides)]


def _reason(data: Boxes | Points, claim: AttackGraph, measured: dict[str, Any], witness: dict[str, Any] | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    if witness is None:
        return (
            f"Everybody is left with trajectories of {measured['min_candidates']} {many} or more, and each of the "
            f"{measured['trajectories']:,} trajectories with {measured['min_people']} or more (k = {claim.k})."
        )
    if witness["breaks"] == "containment":
        wrong = measured["not_contained"]
        return f"A trajectory does not contain what is known of its own person; {wrong:,} of them do not."
    if witness["breaks"] == "truth":
        wrong = measured["boxes_untrue"]
        boxes = measured["boxes"]
        return f"A box contains no position of its person in its time; of {boxes:,} boxes, {wrong:,} do not."
    if witness["breaks"] == "speed":
        return (
            f"A trajectory is faster than the top speed of {number_text(claim.top_speed)} m/s allows along an axis; "
            f"{measured['too_fast']:,} of them are."
        )
    if witness["breaks"] == "declared":
        if measured["not_declared"]:
            return (
                f"A box is of a time that is known of its person, but not said to be of a declared one; "
                f"{measured['not_declared']:,} boxes are."
            )
        return _shared_by(measured["min_declared"], data, claim)
    if witness["breaks"] == "share":
        return (
            f"Of the trajectories that are left for a person, or of the people who are left for a trajectory, one "
            f"person has {percent(Fraction(measured['max_owner_share']))}, more than {share_text(claim.owner_share)}."
        )
    if witness["breaks"] == "candidates":
        few = witness["candidates"]
        return (
            f"Somebody is left with trajectories of only {few} {one if few == 1 else many}, fewer than k = {claim.k}, "
            f"once edges in no perfect matching are taken away."
        )
    few = witness["people"]
    return (
        f"A trajectory is left with only {few} {one if few == 1 else many}, fewer than k = {claim.k}, once edges in no "
        f"perfect matching are taken away."
    )


def _not_judged(data: Boxes | Points, claim: AttackGraph) -> tuple[str, ...]:
    if data.owners != "hidden":
        return ()
    return (
        f"candidates by owner: the owners are withheld, so it is known how many trajectories are left, not whether "
        f"they belong to {claim.k} different people",
    )
