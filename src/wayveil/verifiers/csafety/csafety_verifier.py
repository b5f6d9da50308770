"""Is it c-safe?  Judged from the definition alone, exactly, for every class and every sensitive place."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import CSafety
from wayveil.model.claims.counting import exceeds, share_text
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row
from wayveil.model.data.stops import Stops
from wayveil.model.results import Verdict
from wayveil.verifiers.common.stop_classes import Disclosure, Reach, StopClasses, Unit, largest_where_nested, ratio
from wayveil.verifiers.csafety.generalized import codes_in, misfits

__all__ = ["GROUPED_BLINDLY", "check_csafety"]

GROUPED_BLINDLY = (
    "how groups were formed: it is known who looks alike, not that nobody looked at sensitive places to make it so"
)
"""What no published file shows; only who repeats the run sees it."""


def check_csafety(published: Stops, claim: CSafety, *, original: Stops | None = None) -> Verdict:
    """Judge whether the places that are not sensitive tell little of those that are.

    Published trajectories with the same sequence of nodes that are not sensitive are a class, also if it is empty.

    1. Every class is that of at least m distinct people, and nobody owns more than the promised share of its
       trajectories.
    2. In every class, the probability of every sensitive leaf is at most c, as the mean over its people and as the mean
       over its trajectories.  A person has been where one of their trajectories in the class has.

       - Weights "worst": whoever may have been at a leaf was there.  These are all with a stop at the leaf or at a
         node above it and, where the original is given, all with a true stop at the leaf, also one that was left out.
       - Weights "uniform": a stop at a node with l leaves is at each of them with probability 1 / l, and independent of
         all others.  In no class a sensitive node is above another one.

    3. Every sensitive node that is published has stops of enough people, in all classes together.
    4. Where the original is given, every published trajectory is the original one with stops left out, and places
       replaced by themselves or nodes above them; sensitive ones by sensitive nodes only.

    Parameters
    ----------
    published : Stops
        The published data.  Distinct owner codes are counted, except with ``owners="hidden"``, where every trajectory
        counts: what fails then fails whoever owns them.  Trajectories without rows are not published.
    claim : CSafety
        What to judge.
    original : Stops, optional
        The true data, one trajectory per published one and in the same order.  Its taxonomy must be the published one,
        by the names of nodes and parents and by the labels; the order of nodes may differ, and a leaf that was added
        for stops of trajectories that are not published may be missing there.

    Returns
    -------
    Verdict
        `measured` has `max_probability`, the largest of all classes and sensitive leaves, counted either way, and
        `max_probability_exact`, the same as a fraction; the two ways, `max_probability_people` and
        `max_probability_trajectories`; `min_people`, behind the class with the fewest; `max_owner_share`, the largest
        share of a class that one person owns; `min_place_people`, those at the sensitive node with the fewest;
        `classes`; `small_classes`, those of fewer than m people; `dominated_classes`, of which somebody owns too much;
        `rare_places`, the sensitive nodes with too few people; `nested_classes`, those with a sensitive node above
        another one; `trajectories`, `rows`, and how many of these are sensitive, `sensitive_rows`, and at nodes that
        are no leaves, `generalized_rows`; and, with the original and otherwise None, `suppressed_rows`, the stops that
        published trajectories lack, and `false_trajectories`, those that break the fourth rule.  Where the owners are
        withheld, what only they tell is None.
        `witness` is a trajectory that breaks the fourth rule; or else the class with the fewest people; or else the one
        of which somebody owns most; or else the sensitive node with the fewest people; or else two nodes of which one
        is above the other; or else the most probable leaf, with its class.  Of several the shortest is shown.

    Notes
    -----
    Probabilities are compared as fractions.  Floating-point numbers, with a bound on their error, only tell which of
    them may be the largest.

    Hidden owners: every number counts trajectories.  There are never more people than trajectories, so a class or node
    with too few of them is broken whoever owns them; and the mean over trajectories is what it is.

    Time is that of sorting the rows, memory a small multiple of the data.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 5 to 9, Lemma 14 and Theorem 15.

    Examples
    --------
    >>> from wayveil.model.places.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_parents(
    ...     [("Place", ""), ("Park", "Place"), ("Clinic", "Place"), ("C1", "Clinic"), ("C2", "Clinic")],
    ...     sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Park"]], taxonomy=tree)
    >>> check_csafety(data, CSafety(c="1/2", place_people=1)).measured["max_probability_exact"]
    '1/2'
    >>> check_csafety(data, CSafety(c="0.4", place_people=1)).witness["leaf"]
    'C1'
    >>> check_csafety(data, CSafety(c="1/4", place_people=1, weights="uniform")).measured["max_probability_exact"]
    '1/4'
    """
    codes = None
    # The original is read only for trajectories that are published: of others nothing is claimed.
    if original is not None and len(original) == len(published):
        used = original.place[np.repeat(np.diff(published.offsets) > 0, np.diff(original.offsets))]
        codes = codes_in(published.taxonomy, original.taxonomy, used)
    reason = _refusal(published, original, codes)
    if reason:
        return _verdict(published, claim, original, None, None, reason)
    findings = _Findings.of(published, claim, original, codes)
    witness = (
        # The first that breaks is the witness, from what makes all other counts meaningless to what is a matter of
        # degree.
        findings.false()
        or findings.small()
        or findings.dominated()
        or findings.rare()
        or findings.nested()
        or findings.unsafe()
    )
    return _verdict(published, claim, original, findings, witness, findings.reason(witness))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Probability:
    """The most probable leaf, counted one way.

    Parameters
    ----------
    unit : {"people", "trajectories"}
    largest : Fraction
        The largest probability of all classes.
    judged : Fraction
        That of the classes where no sensitive node is above another one; with the weights "worst" of all classes.
    of, node : int64
        The classes and nodes with the probability `judged`.
    """

    unit: Unit
    largest: Fraction
    judged: Fraction
    of: IntArray
    node: IntArray

    @classmethod
    def worst(cls, classes: StopClasses, unit: Unit, truth: tuple[IntArray, IntArray] | None) -> _Probability:
        reach = Reach.of_classes(classes, unit, truth)
        largest, at = reach.largest()
        return cls(unit=unit, largest=largest, judged=largest, of=reach.of[at], node=reach.node[at])

    @classmethod
    def uniform(cls, classes: StopClasses, unit: Unit, nested: IntArray) -> _Probability:
        disclosure = Disclosure.of_classes(classes, unit, nested)
        judged, at = disclosure.largest()
        largest = max(judged, largest_where_nested(classes, unit, nested))
        return cls(unit=unit, largest=largest, judged=judged, of=disclosure.of[at], node=disclosure.node[at])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Findings:
    """All that is measured.

    Parameters
    ----------
    wrong, mislabelled : int64
        The trajectories that break the fourth rule, and those of them that would not without the labels.
    above : tuple of int64
        What `StopClasses.above` found.
    node, node_people : int64
        What `StopClasses.people_of_nodes` found.
    probabilities : tuple of _Probability
        Counted over people, where they are known, and over trajectories.
    """

    data: Stops
    claim: CSafety
    classes: StopClasses
    above: tuple[IntArray, IntArray]
    node: IntArray
    node_people: IntArray
    probabilities: tuple[_Probability, ...]
    wrong: IntArray
    mislabelled: IntArray

    @classmethod
    def of(cls, data: Stops, claim: CSafety, original: Stops | None, codes: IntArray | None) -> _Findings:
        wrong: IntArray = np.empty(0, np.int64)
        mislabelled = wrong
        truth = None
        if original is not None and codes is not None:
            wrong = misfits(data, original, codes, np.arange(len(data)))
            # A stop that fits but for its label was published as less sensitive than it is.
            mislabelled = np.setdiff1d(wrong, misfits(data, original, codes, wrong, labels=False))
            # Where somebody truly was decides where nested nodes are involved: a generalized stop at an inner node may
            # hide one of the very leaves that are published beside it.
            secret = original.sensitive
            truth = trajectory_of_row(original.offsets)[secret], codes[original.place[secret]]
        classes = StopClasses.of_stops(data)
        above = classes.above()
        # An attacker may pick a person of the class or one of its trajectories; the claim bounds the better of both.
        units: tuple[Unit, ...] = ("trajectories",) if data.owners == "hidden" else ("people", "trajectories")
        if claim.weights == "worst":
            probabilities = tuple(_Probability.worst(classes, unit, truth) for unit in units)
        else:
            probabilities = tuple(_Probability.uniform(classes, unit, np.unique(above[0])) for unit in units)
        node, node_people = classes.people_of_nodes()
        return cls(
            data=data,
            claim=claim,
            classes=classes,
            above=above,
            node=node,
            node_people=node_people,
            probabilities=probabilities,
            wrong=wrong,
            mislabelled=mislabelled,
        )

    @property
    def largest(self) -> Fraction:
        """The largest probability, counted either way."""
        return max(one.largest for one in self.probabilities)

    def counted(self, unit: Unit) -> float | None:
        """Return the largest probability counted one way, or None where it cannot be."""
        return next((float(one.largest) for one in self.probabilities if one.unit == unit), None)

    @cached_property
    def owner_share(self) -> tuple[Fraction, IntArray]:
        """The largest share of a class that one person owns, and the classes where it is."""
        pairs = zip(self.classes.most.tolist(), self.classes.trajectories.tolist(), strict=True)
        # People own whole trajectories, so shares are fractions of small integers.
        # Fractions, because a share of exactly 1/m is allowed and floats would decide by the last digit.
        shares = [Fraction(most, n) for most, n in pairs]
        largest = max(shares)
        return largest, np.flatnonzero([share == largest for share in shares])

    @cached_property
    def is_dominated(self) -> BoolArray:
        """Whether somebody owns too much of a class, one per class."""
        share = self.claim.owner_share
        pairs = zip(self.classes.most.tolist(), self.classes.trajectories.tolist(), strict=True)
        return np.array([exceeds(most, n, share) for most, n in pairs], np.bool_)

    def false(self) -> dict[str, Any] | None:
        """Return a trajectory that was not made from the original, a wrong label first."""
        # A sensitive place under a label that is not sensitive was never judged by the other rules, so it is told
        # first.
        which = self.mislabelled if len(self.mislabelled) else self.wrong
        if not len(which):
            return None
        lengths = (self.data.offsets[1:] - self.data.offsets[:-1])[which]
        # The smallest counter-example: the shortest, then the first by name.
        record = min(self.data.record(i) for i in which[lengths == lengths.min()].tolist())
        return {"stops": record, "breaks": "labels" if len(self.mislabelled) else "original"}

    def small(self) -> dict[str, Any] | None:
        """Return the class with the fewest people."""
        least = int(self.classes.people.min())
        if least >= self.claim.m:
            return None
        at = self.classes.shortest(np.flatnonzero(self.classes.people == least))
        return {"places": self.classes.places(at), "people": least, "breaks": "people"}

    def dominated(self) -> dict[str, Any] | None:
        """Return the class of which one person owns most, if it is too much."""
        if self.data.owners == "hidden" or not self.is_dominated.any():
            return None
        which = self.classes.shortest(self.owner_share[1])
        counts = {"trajectories": int(self.classes.trajectories[which]), "of_one": int(self.classes.most[which])}
        return {"places": self.classes.places(which), **counts, "breaks": "share"}

    def rare(self) -> dict[str, Any] | None:
        """Return the sensitive node with the fewest people, if there are too few."""
        if not len(self.node) or self.node_people.min() >= self.claim.least_people:
            return None
        least = int(self.node_people.min())
        names = [self.data.taxonomy.nodes[node] for node in self.node[self.node_people == least].tolist()]
        return {"node": min(names), "people": least, "breaks": "place"}

    def nested(self) -> dict[str, Any] | None:
        """Return two nodes of a class of which one is above the other; with the weights "worst" they may be."""
        of, upper = self.above
        if not len(of) or self.claim.weights == "worst":
            return None
        which = self.classes.shortest(np.unique(of))
        tree = self.data.taxonomy
        class_of, nodes = self.classes.sensitive_nodes()
        here = nodes[class_of == which]
        node = min(upper[of == which].tolist(), key=tree.nodes.__getitem__)
        # Below it, and not the node itself.
        below = here[tree.covers(np.array([node]), here) & (here != node)]
        names = [tree.nodes[node], min(tree.nodes[i] for i in below.tolist())]
        return {"places": self.classes.places(which), "nodes": names, "breaks": "antichain"}

    def unsafe(self) -> dict[str, Any] | None:
        """Return the most probable leaf, with its class; that over people, if both ways are the same."""
        worst = max(self.probabilities, key=lambda one: one.judged)
        if worst.judged <= self.claim.c:
            return None
        tree = self.data.taxonomy
        which = self.classes.shortest(np.unique(worst.of))
        unsafe_places = []
        for node in worst.node[worst.of == which].tolist():
            # The leaf that is shown is the first by name below the node: all leaves below it are equally probable.
            # Nodes in preorder: all below a node are one stretch.
            below = tree.order[tree.first[node] : tree.last[node]]
            spend(5_000 + 200 * len(below))
            leaf = min(tree.nodes[i] for i in below[tree.is_leaf[below]].tolist())
            unsafe_places.append((leaf, tree.nodes[node]))
        leaf, name = min(unsafe_places)
        return {
            "places": self.classes.places(which),
            "node": name,
            "leaf": leaf,
            "probability": ratio(worst.judged),
            worst.unit: int(self.classes.sizes(worst.unit)[which]),
            "breaks": "probability",
        }

    def reason(self, witness: dict[str, Any] | None) -> str:
        """One sentence with counts and the parameters, without anything that was published."""
        one, many = ("person", "people") if self.data.owners == "given" else ("trajectory", "trajectories")
        hidden = self.data.owners == "hidden"
        breaks = witness["breaks"] if witness else ""
        if breaks == "labels":
            n = len(self.mislabelled)
            return f"A sensitive place is published as a node that is not sensitive: {_trajectories(n)}."
        if breaks == "original":
            n = len(self.wrong)
            return f"A published trajectory cannot have been made from the original one: {_trajectories(n)}."
        least = int(self.classes.people.min())
        classes = len(self.classes)
        if breaks == "people":
            return f"A class is that of only {least:,} {one if least == 1 else many}, fewer than m = {self.claim.m}."
        if breaks == "antichain":
            n = len(np.unique(self.above[0]))
            where = "1 class" if n == 1 else f"{n:,} classes"
            return f"A sensitive node is above another one, which tells for what it stands: {where}."
        if breaks == "share":
            largest = self.owner_share[0]
            return f"One person owns {ratio(largest)} of a class, more than {share_text(self.claim.owner_share)}."
        if breaks == "place":
            n = int((self.node_people < self.claim.least_people).sum())
            nodes = "1 sensitive node has" if n == 1 else f"{n:,} sensitive nodes have"
            return f"{nodes} stops of fewer than {self.claim.least_people} {many}."
        if breaks == "probability":
            worst = max(self.probabilities, key=lambda one: one.judged)
            return (
                f"A sensitive place has a probability of {ratio(worst.judged)} in a class, counted over {worst.unit}, "
                f"more than c = {ratio(self.claim.c)}."
            )
        each = "The only class is" if classes == 1 else f"Each of the {classes:,} classes is"
        over = "trajectories" if hidden else "people or trajectories"
        return (
            f"{each} that of {least:,} {many} or more (m = {self.claim.m}), and no sensitive place has a probability "
            f"above {ratio(self.largest)} (c = {ratio(self.claim.c)}), counted over {over}."
        )


def _verdict(
    data: Stops,
    claim: CSafety,
    original: Stops | None,
    findings: _Findings | None,
    witness: dict[str, Any] | None,
    reason: str,
) -> Verdict:
    true = original if findings else None
    has_owners = data.owners != "hidden"
    measured: dict[str, int | float | str | None] = {
        "max_probability": float(findings.largest) if findings else None,
        "max_probability_exact": ratio(findings.largest) if findings else None,
        "max_probability_people": findings.counted("people") if findings else None,
        "max_probability_trajectories": findings.counted("trajectories") if findings else None,
        "min_people": int(findings.classes.people.min()) if findings else None,
        "max_owner_share": float(findings.owner_share[0]) if findings and has_owners else None,
        "min_place_people": int(findings.node_people.min()) if findings and len(findings.node) else None,
        "classes": len(findings.classes) if findings else 0,
        "small_classes": int((findings.classes.people < claim.m).sum()) if findings else None,
        "dominated_classes": int(findings.is_dominated.sum()) if findings and has_owners else None,
        "rare_places": int((findings.node_people < claim.least_people).sum()) if findings else None,
        "nested_classes": len(np.unique(findings.above[0])) if findings else None,
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "rows": data.n_rows,
        "sensitive_rows": int(data.sensitive.sum()),
        "generalized_rows": int((~data.taxonomy.is_leaf[data.place]).sum()),
        "suppressed_rows": None if true is None else _suppressed(data, true),
        "false_trajectories": None if true is None or findings is None else len(findings.wrong),
    }
    return Verdict(
        holds=findings is not None and witness is None,
        claim=claim,
        counted="owners" if data.owners == "given" else "trajectories",
        measured=measured,
        witness=witness,
        reason=reason,
        not_judged=_not_judged(data, claim, original),
    )


def _refusal(data: Stops, original: Stops | None, codes: IntArray | None) -> str:
    """Why the stops cannot be judged, or nothing."""
    if not data.n_rows:
        return "There is no published stop, so there is nothing to judge."
    if data.owners not in ("given", "declared", "hidden"):
        return "It is not said where the owners come from, so nobody can be counted."
    if data.owners != "hidden" and (data.owner[data.offsets[:-1] < data.offsets[1:]] < 0).any():
        return "A published trajectory has a negative owner code, which stands for nobody, so people cannot be counted."
    if original is not None and len(original) != len(data):
        return (
            f"The original has {_trajectories(len(original))} and the publication {len(data):,}, so it is not known "
            "which belongs to which."
        )
    if original is not None and codes is None:
        return "The taxonomies of the original and of the publication differ in nodes, parents or labels."
    return ""


def _suppressed(data: Stops, original: Stops) -> int:
    """Count the stops of published trajectories that were left out."""
    return int(np.diff(original.offsets)[np.diff(data.offsets) > 0].sum()) - data.n_rows


def _trajectories(n: int) -> str:
    return "1 trajectory" if n == 1 else f"{n:,} trajectories"


def _not_judged(data: Stops, claim: CSafety, original: Stops | None) -> tuple[str, ...]:
    parts = []
    if data.owners == "hidden":
        parts.append(
            "people by owner: the owners are withheld, so it is known how many trajectories are in a class, not "
            f"whether they belong to {claim.m} different people"
        )
        parts.append(
            "shares by owner: the owners are withheld, so the mean over people, and how much of a class one person "
            "owns, are not known; the mean over trajectories is"
        )
    if data.owners == "declared":
        parts.append(
            "people by owner: the data do not say who owns a trajectory, so every trajectory of the input counts as "
            "one person"
        )
    if original is None:
        parts.append(
            "the original: without it, it is not known whether people were at the published places, nor whether a "
            "sensitive place was published as a node that is not sensitive, nor which stops were left out"
        )
    if claim.is_blind:
        parts.append(GROUPED_BLINDLY)
    if data.t.any() or data.t_end.any():
        parts.append("times: the claim is about places and their order; times that are published beside them tell more")
    return tuple(parts)
