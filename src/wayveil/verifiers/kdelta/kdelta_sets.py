"""Which trajectories move together: sets of enough people, all close to each other at all times, nobody dominating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import KDelta
from wayveil.model.claims.counting import exceeds
from wayveil.model.data.frame import Frame
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, take
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.common.whole_trajectories import FARTHEST_M, columns_of, people_of, same
from wayveil.verifiers.kdelta.cliques import People, gather, grow, search
from wayveil.verifiers.kdelta.companions import find_shortage
from wayveil.verifiers.kdelta.pairs_within_delta import MOST_PAIRWISE, Movers

__all__ = ["Failure", "Shapes", "Tally", "judge", "same_curve", "too_few_at_these_times"]

_FEW = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Shapes:
    """The distinct published trajectories: one that has each, how many have it, who has it and how often, and the
    shapes with the same timestamps.

    Shapes are in an order that does not depend on that of the trajectories, and so is everything that is found.
    """

    trajectory: IntArray
    size: IntArray
    people: list[People]
    owned: list[Counter[int]]
    members: list[IntArray]

    @classmethod
    def of(cls, data: Points) -> Shapes:
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        code, first = same(data.offsets, columns_of(data), nonempty)
        owned: list[Counter[int]] = [Counter() for _ in first]
        for shape, person in zip(code.tolist(), people_of(data)[nonempty].tolist(), strict=True):
            owned[shape][person] += 1
        times, _ = same(data.offsets, [data.t], first)
        order = np.argsort(times, kind="stable")
        return cls(
            trajectory=first,
            size=np.bincount(code),
            people=[frozenset(owners) for owners in owned],
            owned=owned,
            members=np.split(order, np.flatnonzero(np.diff(times[order])) + 1),
        )

    def by_curve(self, data: Points, tolerance: float) -> Shapes:
        """Return the same with `members` that have the same timestamps and run along one curve, at constant offsets."""
        members = []
        for some in self.members:
            spend(200_000)
            _, rows = take(data.offsets, self.trajectory[some])
            x, y = (column[rows].reshape(len(some), -1) for column in (data.x, data.y))
            code = same_curve(x, y, 2 * tolerance)
            order = np.argsort(code, kind="stable")
            members += [some[part] for part in np.split(order, np.flatnonzero(np.diff(code[order])) + 1)]
        return replace(self, members=members)

    def people_in(self, some: IntArray) -> int:
        """Return how many people have one of these shapes."""
        spend(2_000 + 200 * len(some))
        return len(frozenset[int]().union(*(self.people[shape] for shape in some.tolist())))


@dataclass(kw_only=True)
class Failure:
    """A shape that belongs to no set of k people, and how many people are within reach; the smallest is told.

    Where somebody dominates: one of the shapes, how many trajectories there are of that person, and how many of others.
    """

    people: int
    shape: int
    breaks: str
    together: int | None = None
    own: int = 0
    others: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        return self.people, self.shape


@dataclass(kw_only=True)
class Tally:
    """What was certified so far."""

    sets: int = 0
    smallest: int | None = None
    farthest: float = 0.0
    tolerance: float = 0.0
    certified: int = 0
    share: Fraction | None = None
    covered: BoolArray = field(default_factory=lambda: np.zeros(0, bool))

    def certify(self, shapes: Shapes, some: IntArray, squared: float) -> None:
        """Note a set of shapes that are pairwise close; `squared` is the square of the largest distance."""
        spend(20_000)
        people = shapes.people_in(some)
        self.sets += 1
        self.smallest = people if self.smallest is None else min(self.smallest, people)
        self.farthest = max(self.farthest, squared)
        self.certified += int(shapes.size[some[~self.covered[some]]].sum())
        self.covered[some] = True


def same_curve(x: FloatArray, y: FloatArray, tolerance: float) -> IntArray:
    """Return a code for each line of positions at common times, equal for lines that differ by a constant.

    Two lines have one code only if both coordinates of each, less its first one, are within the tolerance of the same
    third line.  Lines are looked at in the order of one number that depends on their curve alone, and each is compared
    with those that have about the same number.

    Examples
    --------
    >>> x = np.array([[0.0, 5.0, 9.0], [1.0, 6.0, 10.0], [0.0, 5.0, 8.0]])
    >>> same_curve(x, np.zeros((3, 3)), 1e-9).tolist()
    [0, 0, 1]
    """
    lines = np.hstack([x - x[:, :1], y - y[:, :1]])
    weight = np.cos(np.arange(lines.shape[1]) * 1.6180339887)  # any weights do that no motion follows
    number = lines @ weight
    reach = 2 * tolerance * float(np.abs(weight).sum()) + 1e-9 * float(np.abs(number).max(initial=0.0))
    code = np.full(len(lines), -1)
    first_line: list[int] = []  # the first line of each code
    near: list[int] = []  # codes whose number is not too far behind
    for one in np.argsort(number, kind="stable").tolist():
        spend(5_000 + 150 * len(near))
        near = [candidate for candidate in near if number[one] - number[first_line[candidate]] <= reach]
        for candidate in near:
            spend(5_000 + 5 * lines.shape[1])
            if (np.abs(lines[one] - lines[first_line[candidate]]) <= tolerance).all():
                code[one] = candidate
                break
        else:
            code[one] = len(first_line)
            near.append(len(first_line))
            first_line.append(one)
    # Codes are told in the order of lines, whatever their numbers are.
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    rank: IntArray = np.argsort(np.argsort(first))[place]
    return rank


def too_few_at_these_times(shapes: Shapes, k: int, breaks: str = "timestamps") -> Failure | None:
    """Return a shape whose timestamps are those of too few people, wherever they are."""
    people, _, some = min((shapes.people_in(some), int(some.min()), i) for i, some in enumerate(shapes.members))
    if people >= k:
        return None
    return Failure(people=people, shape=int(shapes.members[some].min()), breaks=breaks)


def judge(
    data: Points, claim: KDelta, shapes: Shapes, tally: Tally, distances: StepBudget, steps: StepBudget
) -> Failure | None:
    """Certify every shape, class of times by class of times; return one that fails, or None."""
    tally.covered = np.zeros(len(shapes.trajectory), bool)
    for shape, people in enumerate(shapes.people):
        if len(people) >= claim.k:
            tally.certify(shapes, np.array([shape]), 0.0)
    if claim.delta == 0:
        alone = np.flatnonzero(~tally.covered).tolist()
        failures = [Failure(people=len(shapes.people[i]), shape=i, breaks="companions") for i in alone]
        return min(failures, key=lambda failure: failure.rank, default=None) or _largest_share(shapes, claim, tally)

    stretch = _stretch(data)
    for part in ("simple", "hard", "shares"):  # certain failures are cheap to find, so all of them are looked for first
        for members in shapes.members:
            crowded = _with_several(shapes, members, claim) if part == "shares" else []
            if not crowded and tally.covered[members].all():
                continue
            company = _Company(data, claim, shapes, members, tally, stretch, distances)
            if part == "shares":
                failure = company.judge_shares(crowded, steps)
            else:
                failure = company.judge_hard(steps) if part == "hard" else company.judge_simple()
            if failure:
                return failure
    return None


def _largest_share(shapes: Shapes, claim: KDelta, tally: Tally) -> Failure | None:
    """Note the largest share that one person has of equal trajectories; return that as a failure if it is too large."""
    most = [max(owned.values()) for owned in shapes.owned]
    tally.share, shape = max((Fraction(part, int(shapes.size[i])), -i) for i, part in enumerate(most))
    own = most[-shape]
    size = int(shapes.size[-shape])
    if not exceeds(own, size, claim.owner_share):
        return None
    people = len(shapes.people[-shape])
    return Failure(people=people, shape=-shape, breaks="share", own=own, others=size - own)


def _with_several(shapes: Shapes, members: IntArray, claim: KDelta) -> list[dict[int, int]]:
    """Return who may dominate among these shapes: the shapes of each such person, by place, and how many of each.

    Somebody with one trajectory has those of at least k - 1 others beside it, which the sets have shown.  The order
    does not depend on what people are called.
    """
    places: dict[int, dict[int, int]] = {}
    for place, shape in enumerate(members.tolist()):
        for person, many in shapes.owned[shape].items():
            places.setdefault(person, {})[place] = many
    needed = exceeds(1, claim.k, claim.owner_share)
    some = [owned for owned in places.values() if needed or sum(owned.values()) > 1]
    return sorted(some, key=lambda owned: sorted(owned.items()))


class _Company:
    """The shapes with one set of timestamps."""

    def __init__(
        self,
        data: Points,
        claim: KDelta,
        shapes: Shapes,
        members: IntArray,
        tally: Tally,
        stretch: tuple[float, float],
        distances: StepBudget,
    ) -> None:
        spend(200_000)
        _, rows = take(data.offsets, shapes.trajectory[members])
        x, y = (
            (column[rows] * factor).reshape(len(members), -1)
            for column, factor in zip((data.x, data.y), stretch, strict=True)
        )
        self._k = claim.k
        self._shapes = shapes
        self._members = members
        self._tally = tally
        self._share = claim.owner_share
        limit = min(claim.delta + tally.tolerance, 10 * FARTHEST_M)  # nothing is farther apart, and its square fits
        self._movers = Movers(x, y, limit, distances)

    def judge_simple(self) -> Failure | None:
        """Certify what the nearest companions certify; return a shape that has too few of them, or None.

        Few companions are looked at first, and more only as long as the claim may still hold.
        """
        failures: list[Failure] = []
        few = 4 * self._k + 16
        try:
            # The nearest companions mostly suffice.  Only if they do not, more and at last all are looked at; only if
            # all are too few people, the claim fails here.
            for one in self._left():
                for most in (few, 16 * few, None):
                    near, complete = self._movers.near(one, most)
                    some = np.append(one, near)
                    people = self._shapes.people_in(self._members[some])
                    if people >= self._k and self._certify_nearest(some):
                        break
                    if complete and people < self._k:
                        failures.append(Failure(people=people, shape=int(self._members[one]), breaks="companions"))
                    if complete or failures:
                        break
        except BudgetExceeded:
            if not failures:
                raise
        return min(failures, key=lambda failure: failure.rank, default=None)

    def judge_hard(self, steps: StepBudget) -> Failure | None:
        """Certify what is left by an exact search; return a shape that belongs to no set, or None."""
        for one in self._left():
            some = np.append(one, self._movers.near(one)[0])
            squared = self._movers.among(some)
            close = squared <= self._movers.limit**2
            people = self._people(some)
            clique = grow(close, people, self._k, steps) or search(close, people, self._k, steps)
            if clique is None:
                return self._failure(one, close, people, steps)
            everyone = gather(close, people, self._k, [*clique, *range(len(some))])
            self._certify(some, everyone or clique, squared)
        return None

    def judge_shares(self, crowded: list[dict[int, int]], steps: StepBudget) -> Failure | None:
        """Return trajectories of one person that have too few of others within reach, or None.

        If a person may own p of q trajectories that look alike, each of theirs needs (q - p) / p companions of its own.
        Few companions are looked at first, and all of them only if these do not suffice.
        """
        each = self._share.numerator
        needed = self._share.denominator - each
        for owned in crowded:
            few = 4 * sum(owned.values()) * (1 + needed // each) + 16
            # Who reaches how many is a flow: the trajectories of the person ask for `needed` each, and every companion
            # can serve `each` times.  A shortage with all companions is one by the marriage theorem, so it proves the
            # failure.
            for most in (0, few, None):
                reach = {place: self._reached(place, most) for place in owned}
                companions = sorted(set().union(*reach.values()))
                number = {place: i for i, place in enumerate(companions)}
                shortage = find_shortage(
                    [needed * many for many in owned.values()],
                    [each * self._others(place, owned) for place in companions],
                    [[number[place] for place in reach[one]] for one in owned],
                    steps,
                )
                if shortage is None:
                    break
                if most is None:
                    lacking = [list(owned)[i] for i in shortage]
                    return self._dominated(owned, lacking, {place for one in lacking for place in reach[one]})
        return None

    def _reached(self, one: int, most: int | None) -> list[int]:
        """Return who is close to `one`, with itself; with `most`, only so many candidates are looked at."""
        return [one] if most == 0 else [one, *self._movers.near(one, most)[0].tolist()]

    def _others(self, place: int, owned: dict[int, int]) -> int:
        """Return how many trajectories of a shape belong to others than the person who owned so many of each."""
        return int(self._shapes.size[self._members[place]]) - owned.get(place, 0)

    def _dominated(self, owned: dict[int, int], lacking: list[int], reached: set[int]) -> Failure:
        own = sum(owned[place] for place in lacking)
        others = sum(self._others(place, owned) for place in reached)
        self._tally.share = Fraction(own, own + others)
        return Failure(
            people=self._shapes.people_in(self._members[sorted(reached)]),
            shape=int(self._members[lacking].min()),
            breaks="share",
            own=own,
            others=others,
        )

    def _left(self) -> Iterator[int]:
        """Yield what is not certified when its turn comes."""
        for one, shape in enumerate(self._members.tolist()):
            if not self._tally.covered[shape]:
                yield one

    def _certify_nearest(self, some: IntArray) -> bool:
        """Look for a set around the first of `some`, which are sorted by distance; certify it if one is met."""
        if len(some) > _FEW:
            fitting, squared = self._movers.boxed(some)
            if self._shapes.people_in(self._members[some[:fitting]]) >= self._k:
                self._tally.certify(self._shapes, self._members[some[:fitting]], squared)
                return True
        some = some[: min(max(_FEW, 2 * self._k), MOST_PAIRWISE)]
        pairs = self._movers.among(some)
        close = pairs <= self._movers.limit**2
        people = self._people(some)
        clique = gather(close, people, self._k, range(len(some)))
        if clique:
            self._certify(some, clique, pairs)
        return bool(clique)

    def _certify(self, some: IntArray, clique: list[int], squared: FloatArray) -> None:
        self._tally.certify(self._shapes, self._members[some[clique]], float(squared[np.ix_(clique, clique)].max()))

    def _failure(self, one: int, close: BoolArray, people: list[People], steps: StepBudget) -> Failure:
        """Return the failure of a shape with companions enough, and how many of them are together at most."""
        together: int | None = self._k - 1
        try:
            while together and search(close, people, together, steps) is None:
                together -= 1
        except BudgetExceeded:
            together = None
        within = len(frozenset[int]().union(*people))
        return Failure(people=within, shape=int(self._members[one]), breaks="set", together=together)

    def _people(self, some: IntArray) -> list[People]:
        return [self._shapes.people[shape] for shape in self._members[some].tolist()]


def _stretch(data: Points) -> tuple[float, float]:
    """Return what x and y are multiplied with so that no distance is understated; 1 for every frame that is right.

    Examples
    --------
    >>> wrong = Frame(degrees=True, x_scale=1.0, y_scale=110000.0)
    >>> [round(float(factor), 2) for factor in _stretch(Points.from_records([[(0, 0.0, 0.0)]], frame=wrong))]
    [111319.49, 1.01]
    """
    frame = data.frame
    if not frame.degrees:
        return 1.0, 1.0
    _, latitude = frame.to_file(data.x, data.y)
    # a position on the border of the frame's range is not beyond it because of rounding
    inside = np.clip(latitude, min(latitude.min() + 1e-9, latitude.max()), max(latitude.max() - 1e-9, latitude.min()))
    right = Frame.for_degrees(np.zeros(len(inside)), inside)
    return max(1.0, right.x_scale / frame.x_scale), max(1.0, right.y_scale / frame.y_scale)
