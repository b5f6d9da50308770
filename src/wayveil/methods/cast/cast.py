"""c-safety of visited places over a taxonomy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.methods.cast.cast_alignment import find_aligned_groups
from wayveil.methods.cast.cast_levels import Groups, Known, find_groups
from wayveil.methods.cast.cast_sensitive import Sensitive, class_labels
from wayveil.methods.cast.cast_shares import Shares
from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model import BlockKey, CSafety, Engine, Method, MethodResult, Stops, Taxonomy, check_parameters, parameter
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.claims.csafety import grouping_parameter, place_people_parameter, weights_parameter
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, trajectory_of_row

__all__ = ["Cast"]


@dataclass(frozen=True, kw_only=True)
class Cast(Method):
    """Generalize visited places until nobody who knows some of them learns of a sensitive one.

    Parameters
    ----------
    c : number from 0 to 1
        Largest probability of any sensitive place, for whoever knows places that are not sensitive.
    m : int, >= 2
        Number of people in a group; they share one sequence of places that are not sensitive.
    distance : {"hops", "leaves"}
        What groups keep small: the steps up the taxonomy, or the places that a published node may stand for.

    row_share : number from 0 to 1, or "1/m"
        Largest share of the trajectories of a class that one person may own.
    weights : {"worst", "uniform"}
        Whether the probability of a place holds whatever is known of popularity and of what was lifted or left out, or
        takes the places below a published node as equally likely, as the paper does.
    place_people : int, >= 1, or "m"
        Smallest number of people with a published stop at the same sensitive node.
    grouping : {"blind", "apart"}
        With the weights "worst": whether groups are formed without a look at sensitive places, so that they tell
        nothing about these, and some of those who are too many at one place are left out; or so that people at the same
        sensitive place go to different groups, which keeps more, and tells something to who works out the groups.
    alignment : {"position", "order"}
        Whether members of a group are compared stop by stop, the first with the first, and lose what is behind the
        shortest; or aligned in order, so that a stop that has no counterpart is left out, and the others keep more of
        what they were; the distance "leaves" then means the chance to guess a place among those below its node.
        "order" needs ``grouping="blind"`` or uniform weights.

    Guarantee
    ---------
    ``CSafety(c, m, row_share, weights, place_people, grouping)``.  An attacker who knows a sensitive place of the trip
    already, or how many stops it had, or several trips of the same person, is not covered; with ``weights="uniform"``
    neither is one who knows which places are popular, or how the method lifts; with ``grouping="apart"`` one who works
    out how groups were formed.

    Notes
    -----
    Algorithm 1 of the paper with these repairs.  Lengths are taken from the longest down, all of them; a group needs m
    people.  Groups are found by a greedy search among near trajectories and by exchanging members, instead of trying
    all m-permutations.  With the weights "worst", nothing is lifted because it is too frequent: of too many people of a
    class who were at one place some are left out, drawn by lot, or, if they are kept ``apart``, a group takes in no
    more of them than c allows; with "uniform", sensitive places are generalized in classes,
    which are all groups with the same nodes, by the formula of the paper, not by the number in its example; never to a
    node that is not sensitive.  Trajectories with which one person would own too much of a class are cut to join
    another one, or left out.  Where nothing is published of some people, all is done once more without them, so that
    nothing depends on them.  Times are not published.  Groups take O(n x 1,024 x length) time at most, memory is about
    ten times the stops.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents(
    ...     [("Place", ""), ("Shop", "Place"), ("S1", "Shop"), ("S2", "Shop"),
    ...      ("Clinic", "Place"), ("C1", "Clinic"), ("C2", "Clinic")], sensitive=["Clinic"])
    >>> data = Stops.from_records([["S1", "C1"], ["S2"], ["S1"], ["S2", "C1"]], taxonomy=tree)
    >>> made = Cast(c=0.5, m=2).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['Shop', 'C1'], ['Shop'], ['Shop'], ['Shop', 'C1']]
    >>> made = Cast(c=0.5, m=2, grouping="apart").run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['S1', 'C1'], ['S2'], ['S1'], ['S2', 'C1']]
    >>> paper = Cast(c=0.3, m=2, weights="uniform").run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [paper.data.record(i) for i in range(4)]
    [['S1', 'Clinic'], ['S2'], ['S1'], ['S2', 'Clinic']]
    """

    c: Fraction = parameter(kind="fraction", low=0, high=1, help="largest probability of any sensitive place")
    m: int = parameter(kind="int", low=2, help="smallest number of people who share the places that are not sensitive")
    distance: str = parameter(
        kind="choice",
        choices=("hops", "leaves"),
        default="hops",
        help="what groups keep small: steps up the taxonomy, or places that a published node may stand for",
    )
    row_share: Fraction | str = row_share_parameter("m")
    weights: str = weights_parameter()
    place_people: int | str = place_people_parameter()
    grouping: str = grouping_parameter("blind")
    alignment: str = parameter(
        kind="choice",
        choices=("position", "order"),
        default="position",
        help="how members of a group are compared: the first stop with the first, the second with the second; or in "
        "order, and a stop that fits nobody is left out",
    )

    name: ClassVar[str] = "cast"
    summary: ClassVar[str] = "c-safety: visited places generalized over a taxonomy until no sensitive one is probable"
    accepts: ClassVar[type[Stops]] = Stops
    publishes: ClassVar[type[Stops]] = Stops
    blocks: ClassVar[tuple[BlockKey, ...]] = ("length", "place")

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.alignment == "order" and self.weights == "worst" and self.grouping == "apart":
            raise ParameterError(
                "cast: alignment = order goes with grouping = blind only, got apart. Aligned groups look at no "
                "sensitive place; leave grouping as it is."
            )

    @property
    def hides_by_chance(self) -> bool:
        """Whether chance hides who is who: then the random numbers must not follow from a seed that can be guessed."""
        return self.claim.is_blind

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> CSafety:
        return CSafety(
            c=self.c,
            m=self.m,
            row_share=self.row_share,
            weights=self.weights,
            place_people=self.place_people,
            grouping=self.grouping,
        )

    def run(self, data: Stops, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        _check_people(data, self.m)
        rows = np.ones(data.n_rows, np.bool_)
        key = int.from_bytes(rng.bytes(32), "big")
        taxonomy = data.taxonomy.without_unused(data.place)
        generalized = self._generalize(data.recode(taxonomy), key, engine)
        # Nodes and groups may depend on nobody of whom nothing is published: others are taken out, with the leaves that
        # only they needed, and all is done once more.  Nobody comes back, so it ends.
        while not np.isin(data.owner[np.diff(generalized.offsets) > 0], data.owner[generalized.published]).all():
            stays = np.isin(data.owner, data.owner[generalized.published])
            rows = stays[trajectory_of_row(data.offsets)]
            left = data.where(rows)
            taxonomy = data.taxonomy.without_unused(left.place)
            generalized = self._generalize(left.recode(taxonomy), key, engine)
        tree = Preorder.of(data.taxonomy)
        node = np.full(data.n_rows, -1)
        node[rows] = _nodes_of(data.taxonomy, taxonomy, generalized.node)
        keep = node >= 0
        zeros = np.zeros(int(keep.sum()), np.int64)
        published = replace(
            data, offsets=keep_rows(data.offsets, keep), place=tree.code[node[keep]], t=zeros, t_end=zeros
        ).recode(taxonomy)
        facts: dict[str, int | float | str] = {
            "groups": len(generalized.groups.offsets) - 1,
            "classes": len(np.unique(generalized.label[np.diff(published.offsets) > 0])),
            "trajectories that joined a group afterwards": generalized.groups.riders,
        }
        return MethodResult(data=published, claim=self.claim, facts=facts | _facts(data, node, tree))

    def _generalize(self, data: Stops, key: int, engine: Engine) -> _Generalized:
        """Return the nodes of all stops, in classes that are safe."""
        tree = Preorder.of(data.taxonomy)
        place = data.taxonomy.first[data.place]
        owner = np.unique(data.owner, return_inverse=True)[1].astype(np.int64)
        secret = data.sensitive
        of = trajectory_of_row(data.offsets)
        claim = self.claim
        worst = self.weights == "worst"
        # First groups are formed by stops that are not sensitive, which the attacker knows; then sensitive stops are
        # generalized inside the classes of equal sequences, until none is inferred with more than c.
        shares = Shares(m=self.m, owner_share=claim.owner_share, c=self.c if worst else None)
        offsets = keep_rows(data.offsets, ~secret)
        apart = worst and not claim.is_blind
        with_more = np.bincount(of[secret], minlength=len(data)) > 0
        known = Known(
            offsets=offsets,
            place=place[~secret],
            owner=owner,
            # Who looks away sees no sensitive stop but those of trajectories that have no others.
            with_more=with_more & (np.diff(offsets) == 0) if claim.is_blind else with_more,
            secrets=_padded(of[secret], place[secret], len(data)) if apart else np.empty((len(data), 0), np.int64),
        )
        find = find_aligned_groups if self.alignment == "order" else find_groups
        # Blind: groups are formed without a look at sensitive places, so that working out the grouping tells nothing
        # about them. Groups are then larger than m, which leaves room to suppress members whose sensitive places are
        # too frequent.
        if claim.is_blind:
            larger = shares.blind(known.people(np.flatnonzero(np.diff(data.offsets))))
            groups = find(known, tree, self.distance, larger, engine)
            if len(groups.offsets) == 1:  # too few are alike for these
                groups = find(known, tree, self.distance, shares.blind(0), engine)
        else:
            groups = find(known, tree, self.distance, shares, engine)
        engine.progress("generalizing sensitive places")
        label, with_nodes = class_labels(groups)
        stops = Sensitive(
            label=label,
            owner=owner,
            with_nodes=with_nodes,
            of=of[secret],
            place=place[secret],
            node=place[secret],
            turn=_drawn_turns(data, key) if claim.is_blind else np.arange(len(data)),
        )
        label, shown = stops.publish(tree, shares, claim.least_people, self.c, engine)
        node = np.full(data.n_rows, -1)
        node[~secret] = groups.shown
        node[label[of] < 0] = -1
        node[secret] = shown
        if (node < 0).all():
            raise InputError(
                f"cast: no {self.m} people could share anything that is safe with c = {float(self.c):g}, so nothing "
                "can be published. Take a smaller m, a larger c or more data."
            )
        return _Generalized(offsets=data.offsets, groups=groups, label=label, node=node)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Generalized:
    """What becomes of trajectories: their groups, the class of each, or -1, and the node of each stop, or -1."""

    offsets: IntArray
    groups: Groups
    label: IntArray
    node: IntArray

    @property
    def published(self) -> BoolArray:
        """Of which trajectories something is published."""
        rows = trajectory_of_row(self.offsets)[self.node >= 0]
        return np.bincount(rows, minlength=len(self.label)) > 0


def _nodes_of(whole: Taxonomy, part: Taxonomy, node: IntArray) -> IntArray:
    """Return the nodes, in preorder and with -1 for none, of a tree in the one of which it is a part."""
    if whole is part:
        return node
    code = {name: i for i, name in enumerate(whole.nodes)}
    place = np.array([code[part.nodes[at]] for at in part.order.tolist()], np.int64)
    return np.where(node < 0, -1, whole.first[place[node]])


def _check_people(data: Stops, m: int) -> None:
    people = len(np.unique(data.owner[np.diff(data.offsets) > 0]))
    if people < m:
        raise InputError(
            f"cast: m is {m}, but the data holds stops of {people} people: nothing could be published. "
            "Take a smaller m or more data."
        )


def _drawn_turns(data: Stops, key: int) -> IntArray:
    """Return in which turn each trajectory is left out, if somebody must be: drawn, so that who stays tells nothing.

    The numbers follow from the key and from how many trajectories there are, not from what is in them.
    """
    nonempty = np.flatnonzero(np.diff(data.offsets) > 0)
    turn = np.full(len(data), len(data))
    turn[nonempty] = np.random.default_rng(key).permutation(len(nonempty))
    return turn


def _padded(of: IntArray, place: IntArray, n: int) -> IntArray:
    """Return the different places of each of `n` trajectories, one row each, and -1 where there are fewer."""
    # A place counts once per trajectory, however often it was visited: shares are of people, not of stops.
    pairs = np.stack([of, place], axis=1)[distinct_rows(of, place).first]
    count = np.bincount(pairs[:, 0], minlength=n)
    first = np.cumsum(count) - count
    padded = np.full((n, int(count.max(initial=0))), -1)
    padded[pairs[:, 0], np.arange(len(pairs)) - first[pairs[:, 0]]] = pairs[:, 1]
    return padded


def _facts(data: Stops, node: IntArray, tree: Preorder) -> dict[str, int | float | str]:
    """Return what was lost, in numbers; every stop and every trajectory is counted once."""
    of = trajectory_of_row(data.offsets)
    secret = data.sensitive
    n = len(data)
    place = data.taxonomy.first[data.place]
    length = np.bincount(of[~secret], minlength=n)
    left = np.bincount(of[node >= 0], minlength=n) > 0
    is_kept = node >= 0
    nonempty = np.diff(data.offsets) > 0
    cut_rows = left[of] & ~secret & ~is_kept
    cut = np.bincount(of[cut_rows], minlength=n) > 0
    higher = is_kept & (node != place)
    hops, leaves = (
        _cost(of, ~secret & left[of] & ~cut[of], node, place, weight, length, nonempty & ~(left & ~cut))
        for weight in (tree.weight("hops"), tree.weight("leaves"))
    )
    return {
        "trajectories published": int(left.sum()),
        "trajectories cut": int(cut.sum()),
        "trajectories suppressed": int((nonempty & ~left).sum()),
        "stops published": int(is_kept.sum()),
        "stops cut off": int(cut_rows.sum()),
        "stops of suppressed trajectories": int((~left[of]).sum()),
        "sensitive stops suppressed": int((secret & left[of] & ~is_kept).sum()),
        "sensitive stops generalized": int((secret & higher).sum()),
        "other stops generalized": int((~secret & higher).sum()),
        "share of published stops at the root": float((node[is_kept] == 0).mean()),
        "cost by hops": hops,
        "cost by leaves": leaves,
    }


def _cost(
    of: IntArray, rows: BoolArray, node: IntArray, place: IntArray, weight: IntArray, length: IntArray, lost: BoolArray
) -> float:
    """Return Definition 13 over stops that are not sensitive: a trajectory that lost some has the distance 1."""
    most = max(1, int(weight[0]))
    loss = np.bincount(of[rows], weights=(weight[node[rows]] - weight[place[rows]]), minlength=len(length))
    distance: FloatArray = np.where(lost, 1.0, loss / (most * np.maximum(length, 1)))
    return float(distance.sum() / max(1, len(np.unique(of))))
