"""The attacker who sees a person now and then, not exactly, and knows how the published positions were placed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import OnPositions, draws_parameter, mean, owners_of, threshold_parameter
from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.attacks.person_risk import mean_bounds
from wayveil.attacks.positions.known_positions import Array, Outcome, Tracks, check_matched
from wayveil.attacks.positions.look_alikes import LookAlikes, share_values
from wayveil.kernels.attacks.position_matching import Sightings, Values, nearest_values
from wayveil.model import AttackResult, Chart, Engine, Number, Points, Series, parameter
from wayveil.model.numbers import count, probability

__all__ = ["NoisySightings"]

_ATTACKS_PER_TASK = 128
_DOUBT = 1e-6  # how likely `member_success_at_least` is too large
_BOUNDS = 8  # of which it is the largest: two numbers of sightings, two ways to pick, two ways to count
_LARGEST_GROUP = 4096
_ROUNDING = 1e-9
_CHUNK = 1 << 20
_MOST_PAIRS = 100_000_000
"""Pairs of an attack and a trajectory that are compared: beyond that everybody is attacked less often."""


@dataclass(frozen=True, kw_only=True)
class NoisySightings(OnPositions):
    """Someone who sees a person a few times, with an error, takes the nearest published trajectory.

    Positions were published in discs of the width `delta`.  Whoever knows the method knows two things: trajectories
    that differ by a constant only were placed in one disc, and if places are drawn by chance nothing tells them apart.
    So there are two attackers.  One takes what is nearest and picks evenly among its look-alikes: **identity linkage**
    succeeds with the larger of the victim's share of these trajectories and of these people.  The other one does not
    believe in chance: told the victim's *group*, this attacker picks the member that is nearest, or the one in the same
    direction from the middle.

    Parameters
    ----------
    delta : number, >= 0
        Width of the discs in which positions were published, in metres; that of the claim.
    error : number, >= 0
        Largest error of a sighting, as a multiple of `delta`; errors are drawn evenly from a disc.
    sightings : int, 1 to 1,000
        Number of sightings, all of one trajectory (all of its samples, where it has fewer).  The attack is also
        measured with a single one.
    victims : int, >= 1
        Number of trajectories attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Attacks on each trajectory, with other sightings and errors.  Fewer, but at least one, where all attacks would
        compare more than a hundred million pairs of an attack and a trajectory: 1,000 victims are attacked 10 times
        each among up to 10,000 trajectories, 3 times among 30,000.  What is reported says how often.
    threshold : number from 0 to 1
        Trajectories found with a probability above this, in the mean over draws, are counted in `identity_share_above`.

    Notes
    -----
    One publication is one draw of all places, so a single person is found in the group by luck or not at all, and only
    the mean says whether places depend on where people were.  `member_success_at_least` is a bound of its expectation
    from below, and is too large once in a million publications at most.  It is Hoeffding's, over sets of look-alikes:
    given all published trajectories, chance only deals those of a disc to its people, in each disc by itself, and what
    the attacker picks is fixed.  See ``docs/attacks/positions.md``.

    References
    ----------
    Trujillo-Rasua, Domingo-Ferrer: On the privacy offered by (k, delta)-anonymity.  Information Systems 38 (2013).
    Hoeffding: Probability inequalities for sums of bounded random variables.  JASA 58 (1963).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 0.0, 3.0)]])
    >>> nearest = Points.from_records([[(0, 0.0, 0.5), (1, 9.0, 0.5)], [(0, 0.0, 2.5), (1, 9.0, 2.6)]])
    >>> shifted = Points.from_records([[(0, 0.0, 2.0), (1, 9.0, 2.0)], [(0, 0.5, 1.0), (1, 9.5, 1.0)]])
    >>> for target in (nearest, shifted):
    ...     attack = NoisySightings(delta=2, error=0)
    ...     found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    ...     found.measured["identity_max"], found.measured["member_success_mean"]
    (1.0, 1.0)
    (0.5, 0.0)
    """

    delta: float = parameter(kind="number", low=0, default=0.0, help="width of the discs of the claim, in metres")
    error: float = parameter(
        kind="number", low=0, default=1.0, help="largest error of a sighting, as a multiple of delta"
    )
    sightings: int = parameter(
        kind="int", low=1, high=1000, default=10, help="number of times the victim is seen; one is measured as well"
    )
    victims: int = parameter(
        kind="int", low=1, default=1000, help="number of trajectories attacked, where there are more"
    )
    draws: int = draws_parameter("attacks on each trajectory, with other sightings and errors")
    threshold: Fraction = threshold_parameter("success", counted="trajectories")

    name: ClassVar[str] = "noisy_sightings"
    summary: ClassVar[str] = "an attacker who sees a person a few times, with an error, and knows the method"
    targets: ClassVar[tuple[type[Points], ...]] = (Points,)
    asks: ClassVar[str] = "delta"

    def match(self, queries: _Sightings, target: Points, *, truth: Points, rng: Any, engine: Engine) -> _Matches:
        check_matched(self.name, truth, target)
        seen = queries
        owner = owners_of(truth)
        alike = LookAlikes.of(target, self.delta)
        tracks = Tracks.of(truth, target)
        slot = tracks.trajectory
        # The attacker knows the method: members of a group are published in one shape, at offsets that were drawn.
        # Which of them is nearest to what was seen is therefore chance, and what looks alike is one answer, shared by
        # its owners.
        values = share_values(alike.shape[slot], owner[slot])
        depth = np.minimum(np.array(self._levels), seen.count[:, None])
        tasks = [slice(i, i + _ATTACKS_PER_TASK) for i in range(0, len(seen.count), _ATTACKS_PER_TASK)]
        done = engine.map(partial(_nearest, tracks, values, seen, owner[seen.trajectory], depth), tasks)
        none = np.zeros(depth.shape, np.float64)[:0]
        success, nearest = (np.concatenate(parts) for parts in zip((none, none.astype(np.int64)), *done, strict=True))
        published = (np.diff(target.offsets) > 0)[seen.trajectory]
        attacks = _Attacks(trajectory=seen.trajectory, owner=owner[seen.trajectory], published=published)
        picks = [
            self._pick_members(target, alike, seen, depth[:, level], np.append(slot, -1)[nearest[:, level]], tracks)
            for level in range(len(self._levels))
        ]
        members = _Members(
            nearest=[attacks.success(by_distance, owner) for by_distance, _ in picks],
            direction=[attacks.success(by_direction, owner) for _, by_direction in picks],
            at_least=[attacks.at_least(one, owner, alike.shape) for both in picks for one in both],
        )
        return _Matches(attacks, success, members, groups=int(alike.group.max(initial=-1)) + 1)

    def summarize(self, queries: _Sightings, matches: _Matches) -> AttackResult:
        attacks, success, members, groups = matches
        return AttackResult(
            name=self.name,
            adversary=self._adversary(queries.draws),
            victims=len(np.unique(attacks.owner)),
            sampled=True,
            numbers={**self._numbers(attacks, success, members), "groups": count(groups, "Groups", "groups")},
            charts=(self._chart(attacks, success, members), attacks.outcome(success[:, -1]).chart()),
        )

    @property
    def _levels(self) -> tuple[int, ...]:
        return (1,) if self.sightings == 1 else (1, self.sightings)

    def _adversary(self, draws: int) -> str:
        times = "once" if self.sightings == 1 else f"{self.sightings} times"
        far = f"to {self.error * self.delta:g} m"
        once_or_more = "time" if draws == 1 else "times"
        fewer = (
            ""
            if draws == self.draws
            else f"; played {draws} {once_or_more} on each victim, because trajectories are many"
        )
        return f"sees a person {times}, {far}, knows how positions were placed, and takes the nearest trajectory{fewer}"

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Sightings:
        """Return what is seen: true positions of some trajectories at some of their times, with errors."""
        length = np.diff(truth.offsets)
        with_rows = np.flatnonzero(length)
        if len(with_rows) > self.victims:
            with_rows = np.sort(rng.choice(with_rows, self.victims, replace=False))
        draws = min(self.draws, max(1, _MOST_PAIRS // max(1, len(with_rows) * int(np.count_nonzero(length)))))
        trajectory = np.repeat(with_rows, draws)
        count = np.minimum(self.sightings, length[trajectory])
        table = np.zeros((len(trajectory), int(count.max(initial=1))), np.int64)
        # When somebody is seen is drawn without replacement; seeing a person twice at one time is one sighting.
        for i, (size, n) in enumerate(zip(count.tolist(), length[trajectory].tolist(), strict=True)):
            table[i, :size] = rng.choice(n, size, replace=False)
        rows = truth.offsets[trajectory][:, None] + table
        # Uniform in a disc: the square root makes rings of equal width hold as many as their area.
        away = self.error * self.delta * np.sqrt(rng.random(rows.shape))
        angle = 2 * np.pi * rng.random(rows.shape)
        return _Sightings(
            draws=draws,
            trajectory=trajectory,
            count=count,
            t=truth.t[rows],
            x=truth.x[rows] + away * np.cos(angle),
            y=truth.y[rows] + away * np.sin(angle),
        )

    def _pick_members(
        self, target: Points, alike: LookAlikes, seen: _Sightings, depth: Array, nearest: Array, tracks: Tracks
    ) -> tuple[_Picks, _Picks]:
        """Return what those pick who are told the group, by distance and by direction.

        Where the group is too large, and for trajectories that were not published, it is what is nearest at all.
        """
        group = alike.group[seen.trajectory]
        size = np.bincount(alike.group[alike.group >= 0], minlength=1)
        in_small_group = (group >= 0) & (size[group] <= _LARGEST_GROUP)
        # Being told the group is a stronger attacker than promised; it shows what the placement inside a group leaks,
        # so it is only played where groups are small enough to compare all members.
        others = np.flatnonzero(~in_small_group & (nearest >= 0))
        untold = _Picks(attack=others, trajectory=nearest[others], probability=np.ones(len(others)))
        picks_by_group: list[tuple[_Picks, _Picks]] = [(untold, untold)]
        everybody = np.argsort(alike.group, kind="stable")
        ends = np.cumsum(size) + int((alike.group < 0).sum())
        attacks = np.flatnonzero(in_small_group)
        attacks = attacks[np.argsort(group[attacks], kind="stable")]
        # Attacks on members of one group are made together: all look at the same trajectories.  In chunks, because
        # every sighting is compared with every member.
        for some in np.split(attacks, np.flatnonzero(np.diff(group[attacks])) + 1):
            if not len(some):
                continue
            end = int(ends[group[some[0]]])
            members = everybody[end - int(size[group[some[0]]]) : end]
            step = max(1, _CHUNK // (len(members) * seen.t.shape[1]))
            for begin in range(0, len(some), step):
                part = some[begin : begin + step]
                picks_by_group.append(_pick(target, members, seen, part, depth[part], tracks.rounding))
        by_distance, by_direction = (_Picks.join([both[i] for both in picks_by_group]) for i in (0, 1))
        return by_distance, by_direction

    def _numbers(self, attacks: _Attacks, success: Array, members: _Members) -> dict[str, Number]:
        last = success[:, -1]
        is_published = attacks.published
        each = attacks.of_trajectories(last)
        worst = [float(attacks.of_trajectories(one).max()) for one in success.T if len(one)]
        numbers = {
            "identity_mean": mean_risk(attacks.larger_mean(last), interval=attacks.mean_bounds(last)),
            "identity_mean_if_published": probability(
                attacks.larger_mean(last, is_published), "Mean over those published", about="identity"
            ),
            "identity_share_above": share_above(mean(each > float(self.threshold) + _ROUNDING), self.threshold),
            "identity_max": worst_risk(max(worst, default=None)),
            "member_success_mean": probability(
                attacks.larger_mean(members.nearest[-1], is_published), "Mean, if told the group", about="identity"
            ),
            "member_success_mean_by_direction": probability(
                attacks.larger_mean(members.direction[-1], is_published),
                "Mean, if told the group, by direction",
                about="identity",
            ),
            "member_success_at_least": probability(
                max((one for one in members.at_least if one is not None), default=None),
                "At least, for somebody told the group",
                about="identity",
                joined="largest",
            ),
        }
        if len(self._levels) > 1:
            numbers |= {
                "identity_mean_with_1_sighting": probability(
                    attacks.larger_mean(success[:, 0]), "Mean over people, seen once", about="identity"
                ),
                "member_success_mean_with_1_sighting": probability(
                    attacks.larger_mean(members.nearest[0], is_published),
                    "Mean, if told the group, seen once",
                    about="identity",
                ),
            }
        return {**numbers, **attacks.outcome(last).reach()}

    def _chart(self, attacks: _Attacks, success: Array, members: _Members) -> Chart:
        alike = tuple(attacks.larger_mean(one) for one in success.T)
        nearest = tuple(attacks.larger_mean(one, attacks.published) for one in members.nearest)
        return Chart(
            title="How likely is a person found who was seen, but not exactly?",
            kind="bars",
            labels=tuple(f"{level} sighting{'s' if level > 1 else ''}" for level in self._levels),
            series=(
                Series(name="one of those that look like the nearest", values=alike),
                Series(name="the nearest in the group, which is known", values=nearest),
            ),
            x_label="what is known",
            y_label="probability of picking the right one",
            percent=True,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Members:
    """How those do who are told the group: success per attack, for each level, and what it is at least, expectedly."""

    nearest: list[Array]
    direction: list[Array]
    at_least: list[float | None]


class _Matches(NamedTuple):
    """Whom the attacks are on, their success by what is nearest, per level, and by who knows the group."""

    attacks: _Attacks
    success: Array
    members: _Members
    groups: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sightings:
    """What is seen: attack i sees trajectory ``trajectory[i]`` at the first ``count[i]`` of ``t[i], x[i], y[i]``.

    Each trajectory is attacked `draws` times.
    """

    draws: int
    trajectory: Array
    count: Array
    t: Array
    x: Array
    y: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Picks:
    """What attackers pick: attack ``attack[i]`` takes the trajectory ``trajectory[i]`` with this probability."""

    attack: Array
    trajectory: Array
    probability: Array

    @classmethod
    def join(cls, parts: list[_Picks]) -> _Picks:
        none = np.zeros(0, np.int64)
        return cls(
            attack=np.concatenate([none, *(part.attack for part in parts)]),
            trajectory=np.concatenate([none, *(part.trajectory for part in parts)]),
            probability=np.concatenate([np.zeros(0), *(part.probability for part in parts)]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Attacks:
    """Whom each attack is on: a trajectory, its owner, and whether it was published."""

    trajectory: Array
    owner: Array
    published: Array

    def outcome(self, success: Array) -> Outcome:
        """Return probabilities as the other attacks tell them."""
        return Outcome(fitting=np.ones(len(success)), hit=success, published=self.published)

    def of_trajectories(self, success: Array) -> Array:
        """Return the mean over draws, per trajectory."""
        return _means(self.trajectory, success)

    def weights(self, some: Array) -> tuple[Array, Array]:
        """Return what each attack counts in a mean over trajectories, and in one over people; only `some` count."""
        people, which = np.unique(self.owner, return_inverse=True)
        many = np.bincount(which, some, len(people))
        each = np.where(some, 1 / np.maximum(many, 1)[which], 0.0)
        return some / some.sum(), each / each.sum()

    def larger_mean(self, success: Array, some: Array | None = None) -> float | None:
        """Return the larger of the means over trajectories and over people, or None where there is nothing."""
        some = np.ones(len(success), bool) if some is None else some
        over_trajectories = mean(success[some])
        over_people = mean(_means(self.owner[some], success[some]))
        return None if over_trajectories is None or over_people is None else max(over_trajectories, over_people)

    def mean_bounds(self, success: Array) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % confidence interval of that mean."""
        over_people = mean(_means(self.owner, success)) == self.larger_mean(success)
        code = self.owner if over_people else self.trajectory
        return mean_bounds(success, code, len(np.unique(code)), sampled=len(code) > 0)

    def success(self, picks: _Picks, owner: Array) -> Array:
        """Return the probability of picking a trajectory of the victim, per attack."""
        right = owner[picks.trajectory] == self.owner[picks.attack]
        success: Array = np.bincount(picks.attack, picks.probability * right, len(self.owner))
        return np.minimum(success, 1.0)

    def at_least(self, picks: _Picks, owner: Array, shape: Array) -> float | None:
        """Return what the expected success is at least, counted over trajectories or over people.

        Given what was published, what is picked does not depend on chance, and chance deals the trajectories of one
        disc, all of one shape, to its people, apart from all other discs.  So the success is a sum over shapes of
        independent numbers, each from 0 to the weight of the attacks that pick from that shape (Hoeffding 1963).
        """
        if not self.published.any():
            return None
        success = self.success(picks, owner)
        bounds = []
        for weight in self.weights(self.published):
            ranges = np.bincount(shape[picks.trajectory], weight[picks.attack] * picks.probability)
            bounds.append(float(weight @ success) - sqrt(log(_BOUNDS / _DOUBT) * float(ranges @ ranges) / 2))
        return max(0.0, *bounds)


def _means(code: Array, values: Array) -> Array:
    """Return the mean of values per code; rounding never lifts it above the largest of them."""
    codes, which = np.unique(code, return_inverse=True)
    peak = np.zeros(len(codes))
    np.maximum.at(peak, which, values)
    means: Array = np.minimum(np.bincount(which, values, len(codes)) / np.bincount(which, minlength=len(codes)), peak)
    return means


def _nearest(
    tracks: Tracks, values: Values, seen: _Sightings, owner: Array, depth: Array, part: slice
) -> tuple[Array, Array]:
    """Return the success among look-alikes of the nearest, and the nearest slot (-1: none), per attack and level."""
    known = Sightings(seen.t[part], seen.x[part], seen.y[part], owner[part], depth[part])
    total, many, slot = nearest_values(tracks.rows, tracks.slots, values, known, tracks.speed, tracks.rounding)
    return np.divide(total, many, out=np.zeros(total.shape), where=many > 0), slot


def _pick(
    target: Points, members: Array, seen: _Sightings, part: Array, depth: Array, rounding: float
) -> tuple[_Picks, _Picks]:
    """Return what is picked in a group by those who take the nearest, and by those who go by the direction.

    Arrays have an entry for each attack of the part, sighting and member.
    """
    x, y = _places_at(target, members, seen.t[part])
    some = np.arange(seen.t.shape[1]) < depth[:, None]
    x = x * some[:, :, None]
    y = y * some[:, :, None]
    seen_x = seen.x[part] * some
    seen_y = seen.y[part] * some
    cost = ((x - seen_x[:, :, None]) ** 2 + (y - seen_y[:, :, None]) ** 2).sum(axis=1)
    limit = (np.sqrt(cost.min(axis=1)) * (1 + 1e-12) + np.sqrt(depth) * rounding) ** 2
    # Means over sightings, as seen from the middle of the group: where the victim was, and where each member is.
    middle_x = x.mean(axis=2)
    middle_y = y.mean(axis=2)
    away_x, away_y = (((s - m).sum(axis=1) / depth)[:, None] for s, m in ((seen_x, middle_x), (seen_y, middle_y)))
    at_x, at_y = ((c - m[:, :, None]).sum(axis=1) / depth[:, None] for c, m in ((x, middle_x), (y, middle_y)))
    length = np.hypot(at_x, at_y)
    along = np.divide(at_x * away_x + at_y * away_y, length, out=np.zeros(length.shape), where=length > 0)
    best = along.max(axis=1)
    ties = (cost <= limit[:, None], along >= (best - 1e-12 * np.abs(best))[:, None])
    picks = []
    for tied in ties:
        attack, member = np.nonzero(tied)
        picks.append(
            _Picks(
                attack=part[attack],
                trajectory=members[member],
                probability=1 / tied.sum(axis=1)[attack],
            )
        )
    return picks[0], picks[1]


def _places_at(target: Points, members: Array, t: Array) -> tuple[Array, Array]:
    """Return where members, who have the same timestamps, are at times: on the straight way between two rows.

    Before the first and after the last timestamp they are where they were then.
    """
    first = target.offsets[members]
    length = int(np.diff(target.offsets)[members[0]])
    times = target.t[first[0] : first[0] + length]
    before = np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(0, length - 2))
    after = np.minimum(before + 1, length - 1)
    span = (times[after] - times[before]).astype(np.float64)
    share = np.divide((t - times[before]).astype(np.float64), span, out=np.zeros(t.shape), where=span > 0)
    share = np.clip(share, 0.0, 1.0)[:, :, None]
    early = first + before[:, :, None]
    late = first + after[:, :, None]
    return (
        target.x[early] * (1 - share) + target.x[late] * share,
        target.y[early] * (1 - share) + target.y[late] * share,
    )
