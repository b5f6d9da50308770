"""The adversary who knows everybody's visits to places of his own, and counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import expm1, inf, log1p
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import OnVisits, threshold_parameter
from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.attacks.person_risk import share_chart
from wayveil.model import AttackResult, Chart, Engine, Sensitive, Visits, parameter
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.lazy_module import lazy_module
from wayveil.model.numbers import share

__all__ = ["Counting"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")

_ROUNDING = 1e-9  # 1/2 must not count as above 1/2
_MOST_PEOPLE = 12
_MOST_KNOWN = 12
_MOST_TESTS = 5_000_000
_LABELS = ("nothing", *(f"{10 * i} to {10 * i + 10} %" for i in range(10)))


@dataclass(frozen=True, kw_only=True)
class Counting(OnVisits):
    """Someone who knows all visits to places of his own works out who can own which published trajectory.

    The adversary knows what every person did at his places, that each trajectory was published once or not at all, and
    that visits were only deleted.  All ways to hand out the published trajectories that agree with this are equally
    likely to him.  He infers a place that is not his with the share of those ways in which the victim's has it.

    Where people have several trajectories he even knows how many published ones of each look like what, and infers a
    place with the share of the ways in which one of the victim's has it, over all that the victim has.

    Parameters
    ----------
    adversaries : mapping of name to places
        The places of each adversary; without any, nobody is attacked.
    times : {"order", "keep"}
        Whether an adversary knows the order of the visits to his places, or their times as well.
    threshold : number from 0 to 1
        People of whom a place is inferred with a probability above this are counted in `inference_share_above`.

    Notes
    -----
    A victim is an owner of whom some adversary knows a visit; the risk of a victim is the largest over trajectories,
    adversaries and places.  People with equal knowledge and trajectories that look equal to the adversary are taken
    together; what is in no possible way is pruned (a maximum flow, then strongly connected components), which leaves
    separate parts.  It is exact for parts of at most 12 trajectories and those in which all published trajectories look
    equal; for others the risk is bounded by the largest share in a class that is possible for the victim.  Where more
    than 12 visits to one adversary's places are known, or the published data cannot have been made by deleting, what is
    possible is not pruned.

    Where somebody has several trajectories, how many published ones of each person look like what is more than an
    adversary can work out, and makes the probability exact: see `_told`.  Where the owners of the published
    trajectories are withheld, the risk of a person is bounded by the sum over their trajectories.

    References
    ----------
    The attack is that of Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008; with
    an adversary who also counts.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Visits.from_records([[("a1", 1), ("a2", 2), ("b", 3)], [("a1", 1), ("a3", 2), ("b", 3)], [("a2", 1)]])
    >>> published = Visits.from_records([[("a1", 1), ("b", 2)], [("a1", 1), ("b", 2)], [("a2", 1)]])
    >>> attack = Counting(adversaries={"A": ["a1", "a2", "a3"]})
    >>> found = attack.run(truth, published, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.victims, found.measured["inference_max"], round(found.measured["inference_mean"], 3)
    (3, 1.0, 0.667)
    """

    adversaries: Sensitive = parameter(kind="groups", default=(), help="the places of each adversary")
    times: str = parameter(
        kind="choice", choices=("order", "keep"), default="order", help="whether adversaries know the times of visits"
    )
    threshold: Fraction = threshold_parameter("inference", default=Fraction(1, 2))

    name: ClassVar[str] = "counting"
    summary: ClassVar[str] = "an adversary who knows all visits to places of his own and works out who can own what"
    asks: ClassVar[str] = "adversaries"

    def queries(self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing that is drawn: all visits to the adversaries' places are known."""

    def match(self, queries: None, target: Visits, *, truth: Visits, rng: Any, engine: Engine) -> list[_Risk]:
        """Return what each adversary infers."""
        number = np.unique(truth.owner, return_inverse=True)[1]
        with_times = self.times == "keep"
        return [_attack(truth, target, number, places, with_times=with_times) for _, places in self.adversaries]

    def summarize(self, queries: None, matches: list[_Risk]) -> AttackResult:
        worst = np.zeros(0)
        if matches:
            victims = np.any([one.attacks > 0 for one in matches], axis=0)
            worst = np.max([one.risk for one in matches], axis=0)[victims]
        attacks = sum(int(one.attacks.sum()) for one in matches)
        exact = sum(int(one.attacks[one.exact].sum()) for one in matches)
        above = float(self.threshold) + _ROUNDING
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(worst),
            sampled=False,
            numbers={
                "inference_mean": mean_risk(float(worst.mean()) if len(worst) else None, "inference"),
                "inference_max": worst_risk(float(worst.max()) if len(worst) else None, "inference"),
                "inference_share_above": share_above(
                    float((worst > above).mean()) if len(worst) else None, self.threshold, "inference"
                ),
                "exact_share": share(exact / attacks if attacks else None, "People judged exactly"),
            },
            charts=(_chart(worst),) if len(worst) else (),
        )

    @property
    def _adversary(self) -> str:
        if not self.adversaries:
            return "no adversary was declared, so nobody was attacked"
        who = (
            "1 adversary knows" if len(self.adversaries) == 1 else f"each of {len(self.adversaries)} adversaries knows"
        )
        what = "with their times" if self.times == "keep" else "in their order"
        return f"{who} everybody's visits to his own places, {what}, and works out who can own which trajectory"


Part = tuple[Any, ...]
Shares = dict[int, float]


class _Risk(NamedTuple):
    """What one adversary infers, by person: the surest inference, the trajectories that he knows, if it is exact."""

    risk: FloatArray
    attacks: IntArray
    exact: BoolArray


def _attack(truth: Visits, target: Visits, number: IntArray, places: Iterable[str], *, with_times: bool) -> _Risk:
    """Let one adversary attack everybody; `number` is the person behind each true trajectory."""
    code = {name: i for i, name in enumerate(places)}
    n_people = int(number.max(initial=-1)) + 1
    own = np.array([name in code for name in truth.locations], bool)
    n_visits = np.diff(truth.offsets)
    # What each person shows of this adversary's places: his whole knowledge of them.
    n_own = np.diff(keep_rows(truth.offsets, own[truth.location])) if len(own) else np.zeros_like(n_visits)
    attacks = np.bincount(number[n_own > 0], minlength=n_people)
    trips = np.bincount(number[n_visits > 0], minlength=n_people)
    several = bool((trips > 1).any())
    same = truth.owners == target.owners == "given" and np.array_equal(truth.owner, target.owner)
    # Where owners are public to the adversary as numbers of trajectories per class, shares can be computed exactly;
    # otherwise who owns what is worked out by counting.
    if several and same:
        risk = _shares_told(target, number, code, with_times=with_times)
        return _Risk(np.where(attacks > 0, risk, 0.0), attacks, np.ones(n_people, bool))
    risk = np.zeros(n_people)
    exact = np.ones(n_people, bool)
    for of_type, probability, is_exact in _infer(truth, target, code, with_times=with_times):
        # With one trajectory per person this is their risk; else no more than the sum over all that they have.
        np.add.at(risk, number[of_type], probability)
        exact[number[of_type]] &= is_exact
    risk = np.where(trips > 1, np.minimum(risk, 1.0), risk)
    return _Risk(np.where(attacks > 0, risk, 0.0), attacks, exact & (trips <= 1))


def _shares_told(target: Visits, number: IntArray, code: Mapping[str, int], *, with_times: bool) -> FloatArray:
    """Return the surest inference of each person by an adversary who knows how many of each class are theirs.

    Of N trajectories that look alike n are theirs, and M have the place.  Handed out in any way, none of theirs has it
    with a chance of C(N - M, n) / C(N, n); these are multiplied over what their trajectories look like.
    """
    classes = _types(target, code, with_times)
    size = [len(members) for members in classes.values()]
    having = _having(target, classes, code)
    # How many trajectories of each class a person has.
    counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for c, members in enumerate(classes.values()):
        for person in number[members].tolist():
            counts[person][c] += 1
    # The chance that none of mine has a place is hypergeometric: C(whole - having, mine) / C(whole, mine), over classes
    # a product, so logarithms are added; the surest place is the one with the smallest chance of none.
    chances: dict[tuple[tuple[int, int], ...], float] = {}  # many people have the same number of the same classes
    risk = np.zeros(int(number.max(initial=-1)) + 1)
    for person, of_class in counts.items():
        key = tuple(sorted(of_class.items()))
        if key not in chances:
            none: dict[int, float] = defaultdict(float)
            for c, mine in key:
                for place, n in having[c].items():
                    none[place] += _log_none(size[c], n, mine)
            chances[key] = -expm1(min(none.values(), default=0.0))
        risk[person] = chances[key]
    return risk


@lru_cache(maxsize=1 << 16)
def _log_none(whole: int, having: int, mine: int) -> float:
    """Return the logarithm of C(whole - having, mine) / C(whole, mine), factor by factor, which is precise."""
    few = min(having, mine)
    many = max(having, mine)
    # More having it than others are left: at least one of mine must.
    if few + many > whole:
        return -inf
    return sum(log1p(-many / (whole - j)) for j in range(few))


def _infer(
    truth: Visits, target: Visits, code: Mapping[str, int], *, with_times: bool
) -> Iterator[tuple[IntArray, float, bool]]:
    """Yield the true trajectories of which one adversary knows the same, the surest inference, and if it is exact."""
    people = _types(truth, code, with_times)
    classes = _types(target, code, with_times)
    if not people:
        return
    n_people, n_published = (sum(map(len, types.values())) for types in (people, classes))
    # Somebody who was not published looks like one without visits, so the empty class can always be supplied.
    classes.setdefault((), np.zeros(0, np.int64))
    known = list(people)
    looks = list(classes)
    demand = [len(people[part]) for part in known]
    supply = [len(classes[part]) for part in looks]
    supply[looks.index(())] += max(0, n_people - n_published)  # what was not published looks empty, and is
    having = _having(target, classes, code)
    shares = [{place: n / supply[j] for place, n in one.items()} for j, one in enumerate(having)]
    edges = _possible(known, looks)
    # With as many people as trajectories every hand-out uses all; edges that no hand-out uses are ruled out.
    possible, whole = _prune(edges, demand, supply) if n_published <= n_people else (edges, False)
    # Components do not influence each other; within a small one all hand-outs are counted, in a large one the surest
    # class bounds the inference.
    for part_people, part_looks in _components(possible, len(known), len(looks)):
        alike = len(part_looks) == 1
        small = sum(demand[i] for i in part_people) <= _MOST_PEOPLE
        chances = _chances(part_people, possible, demand, supply) if whole and small and not alike else None
        for i in part_people:
            if chances is None:
                surest = max((max(shares[j].values(), default=0.0) for j in possible[i]), default=0.0)
            else:
                surest = _mixed(chances[i], shares)
            yield people[known[i]], surest, whole and (alike or small)


def _types(data: Visits, code: Mapping[str, int], with_times: bool) -> dict[Part, IntArray]:
    """Return the trajectories with rows by what they show of the adversary's places."""
    recode = np.array([code.get(name, -1) for name in data.locations], np.int64)
    own = recode[data.location] >= 0 if len(recode) else np.zeros(0, bool)
    ends = keep_rows(data.offsets, own).tolist()
    shown: list[Any] = recode[data.location[own]].tolist() if len(recode) else []
    if with_times:
        shown = list(zip(shown, data.t[own].tolist(), strict=True))
    members: dict[Part, list[int]] = defaultdict(list)
    for i in np.flatnonzero(np.diff(data.offsets)).tolist():
        members[tuple(shown[ends[i] : ends[i + 1]])].append(i)
    return {part: np.array(listed, np.int64) for part, listed in members.items()}


def _having(target: Visits, classes: Mapping[Part, IntArray], code: Mapping[str, int]) -> list[dict[int, int]]:
    """Return per class how many of its trajectories have each place that is not the adversary's."""
    class_of = np.full(len(target), -1, np.int64)
    for number, members in enumerate(classes.values()):
        class_of[members] = number
    own = np.array([name in code for name in target.locations], bool)
    other = ~own[target.location] if len(own) else np.zeros(0, bool)
    trajectory = trajectory_of_row(target.offsets)[other]
    place = target.location[other]
    once = distinct_rows(trajectory, place).first
    number = class_of[trajectory[once]]
    place = place[once]
    pairs = distinct_rows(number, place)
    having: list[dict[int, int]] = [{} for _ in classes]
    in_order = (number[pairs.first], place[pairs.first], pairs.n_rows)
    for c, p, n in zip(*(column.tolist() for column in in_order), strict=True):
        having[c][p] = n
    return having


def _possible(known: list[Part], looks: list[Part]) -> list[list[int]]:
    """Return for each known part the classes that can come from it by deleting visits."""
    number = {part: j for j, part in enumerate(looks)}
    tests = sum(len(part) > _MOST_KNOWN for part in known) * len(looks)
    projections = []
    for part in known:
        if len(part) <= _MOST_KNOWN:
            # All subsequences, each item taken or not: for up to 12 known visits that is at most 4,096.
            left: set[Part] = {()}
            for item in part:
                left |= {(*shorter, item) for shorter in left}
            projections.append(sorted(number[shorter] for shorter in left if shorter in number))
        elif tests <= _MOST_TESTS:
            projections.append([j for j, shorter in enumerate(looks) if _is_part(shorter, part)])
        else:
            projections.append(list(range(len(looks))))
    return projections


def _is_part(shorter: Part, part: Part) -> bool:
    # Each item must be found in what is left of the longer one: an iterator remembers how far it came.
    rest = iter(part)
    return all(item in rest for item in shorter)


def _prune(edges: list[list[int]], demand: list[int], supply: list[int]) -> tuple[list[list[int]], bool]:
    """Return the edges that are used in some way to hand out all trajectories, and whether there is such a way."""
    n = len(demand)
    m = len(supply)
    # Max-flow from known parts to classes: demand is how many people know this part, supply how many trajectories look
    # so.
    a = np.repeat(np.arange(n), [len(e) for e in edges])
    b = np.array([j for e in edges for j in e], np.int64)
    source = n + m
    sink = n + m + 1
    start = np.concatenate([np.full(n, source), a, n + np.arange(m)])
    end = np.concatenate([np.arange(n), n + b, np.full(m, sink)])
    room = np.concatenate([demand, np.minimum(np.array(demand)[a], np.array(supply)[b]), supply])
    graph = sparse.coo_array((room.astype(np.int32), (start, end)), shape=(n + m + 2, n + m + 2)).tocsr()
    flow = csgraph.maximum_flow(graph, source, sink)
    if flow.flow_value != sum(demand):
        return edges, False
    flows = flow.flow.tocoo()
    positive = flows.data > 0
    used = np.isin(a * sink + n + b, flows.row[positive].astype(np.int64) * sink + flows.col[positive])
    # An edge is used in some way if it is in this one, or on a cycle of edges that are used and edges that are not.
    start = np.concatenate([a, n + b[used]])
    end = np.concatenate([n + b, a[used]])
    cycles = sparse.coo_array((np.ones(len(start), np.int8), (start, end)), shape=(n + m, n + m)).tocsr()
    part = csgraph.connected_components(cycles, directed=True, connection="strong")[1]
    possible: list[list[int]] = [[] for _ in range(n)]
    for i, j, stays in zip(a.tolist(), b.tolist(), (used | (part[a] == part[n + b])).tolist(), strict=True):
        if stays:
            possible[i].append(j)
    return possible, True


def _components(edges: list[list[int]], n: int, m: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the known parts and the classes that hang together."""
    start = np.repeat(np.arange(n), [len(e) for e in edges])
    end = n + np.array([j for e in edges for j in e], np.int64)
    graph = sparse.coo_array((np.ones(len(start), np.int8), (start, end)), shape=(n + m, n + m)).tocsr()
    label = csgraph.connected_components(graph, directed=False)[1]
    components: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for vertex, c in enumerate(label.tolist()):
        components[c][vertex >= n].append(vertex - n if vertex >= n else vertex)
    yield from components.values()


def _chances(
    part_people: list[int], possible: list[list[int]], demand: list[int], supply: list[int]
) -> dict[int, dict[int, float]]:
    """Return for each known part the chance of each class, over all ways to hand out the trajectories of a component.

    What is left of the classes after the first i people determines the number of ways forward and backward.
    """
    # People come in a fixed order, each as often as they have trajectories; `left` counts what the classes still have.
    order = [i for i in part_people for _ in range(demand[i])]
    looks = sorted({j for i in part_people for j in possible[i]})
    at = {j: k for k, j in enumerate(looks)}
    forward: list[dict[tuple[int, ...], int]] = [{tuple(supply[j] for j in looks): 1}]
    # Forward: the number of ways in which the people so far can have taken trajectories, by what is left after them.
    for i in order:
        ahead: dict[tuple[int, ...], int] = defaultdict(int)
        for left, ways in forward[-1].items():
            for j in possible[i]:
                if left[at[j]]:
                    ahead[_less(left, at[j])] += ways * left[at[j]]
        forward.append(ahead)
    backward: dict[tuple[int, ...], int] = dict.fromkeys(forward[-1], 1)
    total = sum(forward[-1].values())
    chances: dict[int, dict[int, float]] = {}
    # Backward: the number of ways to serve everybody from this person on.  Ways before x choices x ways after, over
    # all that may be left, are the ways in which this person has a trajectory of class j.
    for step in range(len(order) - 1, -1, -1):
        i = order[step]
        before = dict.fromkeys(forward[step], 0)
        ways_with: dict[int, int] = defaultdict(int)
        for left, ways in forward[step].items():
            for j in possible[i]:
                if left[at[j]]:
                    here = left[at[j]] * backward.get(_less(left, at[j]), 0)
                    before[left] += here
                    ways_with[j] += ways * here
        backward = before
        chances[i] = {j: float(Fraction(ways, total)) for j, ways in ways_with.items()}
    return chances


def _less(left: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*left[:k], left[k] - 1, *left[k + 1 :])


def _mixed(chances: Mapping[int, float], shares: list[Shares]) -> float:
    """Return the largest probability of a place, given the chance of each class."""
    sums: dict[int, float] = defaultdict(float)
    for j, chance in chances.items():
        for place, part in shares[j].items():
            sums[place] += chance * part
    return max(sums.values(), default=0.0)


def _chart(risk: FloatArray) -> Chart:
    classes = np.where(risk == 0, 0, 1 + np.searchsorted(np.arange(1, 10) / 10 + _ROUNDING, risk))
    return share_chart(
        "How surely is another place inferred?",
        "probability of the place that is inferred most surely",
        _LABELS,
        classes,
    )
