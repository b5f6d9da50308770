"""Is it c-safe?  Judged from the definition alone, exactly, for every class and every sensitive place."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model.claims import CSafety
from wayveil.model.ragged import IntArray
from wayveil.model.results import Verdict
from wayveil.model.stops import Stops
from wayveil.verify.generalized import codes_in, misfits
from wayveil.verify.stop_classes import Disclosure, StopClasses, largest_where_nested, ratio

__all__ = ["check_csafety"]


def check_csafety(published: Stops, claim: CSafety, *, original: Stops | None = None) -> Verdict:
    """Judge whether the places that are not sensitive tell little of those that are.

    Published trajectories with the same sequence of nodes that are not sensitive are a class, also if it is empty.

    1. Every class is that of at least m distinct people.
    2. In no class a sensitive node is above another one.
    3. In every class, the probability of every sensitive leaf is at most c.  A stop at a node with l leaves is at each
       of them with probability 1 / l, and independent of all others; a person has been at a leaf if a stop of one of
       their trajectories in the class is; and the probability of the class is the mean over its people.
    4. Where the original is given, every published trajectory is the original one with stops left out, and places
       replaced by themselves or nodes above them; sensitive ones by sensitive nodes only.

    Parameters
    ----------
    published : Stops
        The published data.  Distinct owner codes are counted, except with ``owners="hidden"``, where every trajectory
        counts, and a claim fails only if it is broken whoever owns them (see Notes).  Trajectories without rows are
        not published.
    claim : CSafety
        What to judge.
    original : Stops, optional
        The true data, one trajectory per published one and in the same order.  Its taxonomy must be the published one,
        by the names of nodes and parents and by the labels; the order of nodes may differ.

    Returns
    -------
    Verdict
        `measured` has `max_probability`, the largest of all classes and sensitive leaves, and `max_probability_exact`,
        the same as a fraction; `min_people`, behind the class with the fewest; `classes`; `small_classes`, those of
        fewer than m people; `nested_classes`, those that break the second rule; `trajectories`, `rows`, and how many of
        these are sensitive, `sensitive_rows`, and at nodes that are no leaves, `generalized_rows`; and, with the
        original and otherwise None, `suppressed_rows`, the stops that published trajectories lack, and
        `false_trajectories`, those that break the fourth rule.
        `witness` is a trajectory that breaks the fourth rule; or else the class with the fewest people; or else two
        nodes of which one is above the other; or else the most probable leaf, with its class.  Of several the shortest
        is shown.  It consists of published values only.

    Notes
    -----
    Probabilities are compared as fractions.  Floating-point numbers, with a bound on their error, only tell which of
    them may be the largest, or may be near c.

    Hidden owners: `max_probability` and `min_people` count trajectories.  If a probability is above c, the smallest one
    that any owners, at least m, could give is compared with c instead; see `Disclosure.at_least`.

    Time is that of sorting the rows, memory a small multiple of the data.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 5 to 9, Lemma 14 and Theorem 15.

    Examples
    --------
    >>> from wayveil.model.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_parents(
    ...     [("Place", ""), ("Park", "Place"), ("Clinic", "Place"), ("C1", "Clinic"), ("C2", "Clinic")],
    ...     sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Park"]], taxonomy=tree)
    >>> check_csafety(data, CSafety(c="1/4")).measured["max_probability_exact"]
    '1/4'
    >>> check_csafety(data, CSafety(c="0.2")).witness["leaf"]
    'C1'
    """
    codes = None if original is None else codes_in(published.taxonomy, original.taxonomy)
    reason = _refusal(published, original, codes)
    if reason:
        return _verdict(published, claim, original, None, None, reason)
    found = _Findings.of(published, claim, original, codes)
    witness = found.false() or found.small() or found.nested() or found.unsafe()
    return _verdict(published, claim, original, found, witness, found.reason(witness))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Findings:
    """All that is measured.

    Parameters
    ----------
    wrong, mislabelled : int64
        The trajectories that break the fourth rule, and those of them that would not without the labels.
    above : tuple of int64
        What `StopClasses.above` found.
    largest : Fraction
    unsafe_bound : Fraction
        The largest probability that is proven, with owners that are not known, and above c; otherwise `largest`.
    unsafe_at : int64
        Positions in `disclosure` with this probability.
    """

    data: Stops
    claim: CSafety
    classes: StopClasses
    disclosure: Disclosure
    above: tuple[IntArray, IntArray]
    largest: Fraction
    unsafe_bound: Fraction
    unsafe_at: IntArray
    wrong: IntArray
    mislabelled: IntArray

    @classmethod
    def of(cls, data: Stops, claim: CSafety, original: Stops | None, codes: IntArray | None) -> _Findings:
        wrong: IntArray = np.empty(0, np.int64)
        mislabelled = wrong
        if original is not None and codes is not None:
            wrong = misfits(data, original, codes, np.arange(len(data)))
            mislabelled = np.setdiff1d(wrong, misfits(data, original, codes, wrong, labels=False))
        classes = StopClasses.of_stops(data)
        above = classes.above()
        nested = np.unique(above[0])
        disclosure = Disclosure.of_classes(classes, nested)
        largest, at = disclosure.largest()
        bound = largest
        if data.owners == "hidden" and largest > claim.c:
            suspects = disclosure.may_be_above(claim.c)
            suspects = suspects[disclosure.people[suspects] >= claim.m]
            proven = list(disclosure.at_least(suspects, claim.m))
            bound = max(proven, default=Fraction(0))
            at = suspects[[value == bound for value in proven]]
        return cls(
            data=data,
            claim=claim,
            classes=classes,
            disclosure=disclosure,
            above=above,
            largest=max(largest, largest_where_nested(classes, nested)),
            unsafe_bound=bound,
            unsafe_at=at,
            wrong=wrong,
            mislabelled=mislabelled,
        )

    def false(self) -> dict[str, Any] | None:
        """Return a trajectory that was not made from the original, a wrong label first."""
        which = self.mislabelled if len(self.mislabelled) else self.wrong
        if not len(which):
            return None
        lengths = (self.data.offsets[1:] - self.data.offsets[:-1])[which]
        record = min(self.data.record(i) for i in which[lengths == lengths.min()].tolist())
        return {"stops": record, "breaks": "labels" if len(self.mislabelled) else "original"}

    def small(self) -> dict[str, Any] | None:
        """Return the class with the fewest people."""
        least = int(self.classes.people.min())
        if least >= self.claim.m:
            return None
        at = self.classes.shortest(np.flatnonzero(self.classes.people == least))
        return {"places": self.classes.places(at), "people": least, "breaks": "people"}

    def nested(self) -> dict[str, Any] | None:
        """Return two nodes of a class of which one is above the other."""
        of, upper = self.above
        if not len(of):
            return None
        which = self.classes.shortest(np.unique(of))
        tree, here = self.data.taxonomy, self.classes.node[self.classes.of == which]
        node = min(upper[of == which].tolist(), key=tree.nodes.__getitem__)
        below = here[tree.covers(np.array([node]), here) & (here != node)]
        names = [tree.nodes[node], min(tree.nodes[i] for i in below.tolist())]
        return {"places": self.classes.places(which), "nodes": names, "breaks": "antichain"}

    def unsafe(self) -> dict[str, Any] | None:
        """Return the most probable leaf, with its class."""
        if self.unsafe_bound <= self.claim.c:
            return None
        tree, at = self.data.taxonomy, self.unsafe_at
        which = self.classes.shortest(np.unique(self.disclosure.of[at]))
        found = []
        for node in self.disclosure.node[at[self.disclosure.of[at] == which]].tolist():
            below = tree.order[tree.first[node] : tree.last[node]]
            leaf = min(tree.nodes[i] for i in below[tree.is_leaf[below]].tolist())
            found.append((leaf, tree.nodes[node]))
        leaf, name = min(found)
        return {
            "places": self.classes.places(which),
            "node": name,
            "leaf": leaf,
            "probability": ratio(self.unsafe_bound),
            "people": int(self.classes.people[which]),
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
        least, classes = int(self.classes.people.min()), len(self.classes)
        if breaks == "people":
            return f"A class is that of only {least:,} {one if least == 1 else many}, fewer than m = {self.claim.m}."
        if breaks == "antichain":
            n = len(np.unique(self.above[0]))
            where = "1 class" if n == 1 else f"{n:,} classes"
            return f"A sensitive node is above another one, which tells for what it stands: {where}."
        if breaks == "probability":
            bound = "at least " if hidden else ""
            return (
                f"A sensitive place has a probability of {bound}{ratio(self.unsafe_bound)} in a class, more than "
                f"c = {ratio(self.claim.c)}."
            )
        each = "The only class is" if classes == 1 else f"Each of the {classes:,} classes is"
        text = f"{each} that of {least:,} {many} or more (m = {self.claim.m})"
        if hidden:
            return f"{text}, and none certainly breaks the probability (c = {ratio(self.claim.c)})."
        return (
            f"{text}, and no sensitive place has a probability above {ratio(self.largest)} (c = {ratio(self.claim.c)})."
        )


def _verdict(
    data: Stops,
    claim: CSafety,
    original: Stops | None,
    found: _Findings | None,
    witness: dict[str, Any] | None,
    reason: str,
) -> Verdict:
    true = original if found else None
    measured: dict[str, int | float | str | None] = {
        "max_probability": float(found.largest) if found else None,
        "max_probability_exact": ratio(found.largest) if found else None,
        "min_people": int(found.classes.people.min()) if found else None,
        "classes": len(found.classes) if found else 0,
        "small_classes": int((found.classes.people < claim.m).sum()) if found else None,
        "nested_classes": len(np.unique(found.above[0])) if found else None,
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "rows": data.n_rows,
        "sensitive_rows": int(data.sensitive.sum()),
        "generalized_rows": int((~data.taxonomy.is_leaf[data.place]).sum()),
        "suppressed_rows": None if true is None else _suppressed(data, true),
        "false_trajectories": None if true is None or found is None else len(found.wrong),
    }
    return Verdict(
        holds=found is not None and witness is None,
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
            "probability by owner: the owners are withheld, so only a lower bound of the mean over people is known"
        )
    if data.owners == "declared":
        parts.append(
            "people by owner: the data do not say who owns a trajectory, so every trajectory of the input counts as "
            "one person"
        )
    if original is None:
        parts.append(
            "the original: without it, it is not known whether people were at the published places, nor whether a "
            "sensitive place was published as a node that is not sensitive"
        )
    if data.t.any() or data.t_end.any():
        parts.append("times: the claim is about places and their order; times that are published beside them tell more")
    return tuple(parts)
