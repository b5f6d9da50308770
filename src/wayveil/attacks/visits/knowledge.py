"""The parts of an attack by known visits: who is attacked, what is known of them, and whom it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.visits.queries import SetQueries
from wayveil.kernels.attacks.visit_matching import COUNTS, VisitLists, count_fitting, doublet_codes, inverted_lists
from wayveil.model import Engine, Visits
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.ragged import offsets_of, take

__all__ = ["MOST_SETS", "Fitting", "KnownSets", "Risk", "Target", "Victims", "draw_sets"]

Array = NDArray[Any]

MOST_SETS = 5000
"""Sets of known visits that are tried per person; where there are more, they are sampled."""

_SETS_PER_TASK = 2048
_CELLS = 1 << 22  # known visits held at once


@dataclass(frozen=True, kw_only=True, eq=False)
class Victims:
    """The people who are attacked.

    Person i has the owner code ``owner[i]`` and the trajectories ``first[i]:first[i + 1]``, and trajectory j the visits
    ``offsets[j]:offsets[j + 1]``; it is trajectory ``trajectory[j]`` of the data.
    """

    owner: Array
    trajectory: Array
    first: Array
    offsets: Array
    location: Array
    t: Array
    sampled: bool

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def longest(self) -> int:
        """The largest number of visits in a trajectory; 1 if there is none."""
        return int(np.diff(self.offsets).max(initial=1))

    @classmethod
    def draw(cls, truth: Visits, most: int, rng: np.random.Generator) -> Victims:
        """Return all people of `truth` who have a visit, or `most` of them."""
        with_rows = np.flatnonzero(np.diff(truth.offsets))
        owner = truth.owner[with_rows] if truth.owners == "given" else with_rows
        with_rows = with_rows[np.argsort(owner, kind="stable")]
        people, counts = np.unique(owner, return_counts=True)
        first = offsets_of(counts)
        # Victims are drawn among people, not among trajectories: who travels often is not more often a victim.
        sampled = len(counts) > most
        if sampled:
            chosen = np.sort(rng.choice(len(counts), most, replace=False))
            people = people[chosen]
            first, rows = take(first, chosen)
            with_rows = with_rows[rows]
        offsets, rows = take(truth.offsets, with_rows)
        return cls(
            owner=people.astype(np.int64),
            trajectory=with_rows,
            first=first,
            offsets=offsets,
            location=truth.location[rows],
            t=truth.t[rows],
            sampled=sampled,
        )

    def blocks(self, m: int, *, draws: int) -> list[Victims]:
        """Return the same people in blocks, so that all sets of up to `m` visits of one block fit in memory."""
        # The largest person decides how many fit a block, so that one commuter with hundreds of visits does not exhaust
        # memory.
        person, length, _ = _trajectories(self)
        tried = np.bincount(person, _each(_sets_up_to, length, np.full(len(length), m)), len(self)).max(initial=1)
        visits = max(draws, min(int(tried), MOST_SETS)) * min(m, self.longest)
        cuts = [*range(0, len(self), max(1, _CELLS // visits)), len(self)]
        return [self.part(start, stop) for start, stop in pairwise(cuts)]

    def part(self, start: int, stop: int) -> Victims:
        """Return the people from `start` to before `stop`."""
        first = self.first[start : stop + 1]
        return replace(
            self,
            owner=self.owner[start:stop],
            trajectory=self.trajectory[first[0] : first[-1]],
            first=first - first[0],
            offsets=self.offsets[first[0] : first[-1] + 1],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSets:
    """What is known of people: rows of positions in their visits, padded with -1, each with a person and a weight."""

    visits: Array
    person: Array
    weight: Array
    sampled: bool

    @classmethod
    def random(cls, victims: Victims, m: int, *, draws: int, all_sets: bool, rng: np.random.Generator) -> KnownSets:
        """Return sets of `m` visits of one trajectory: all where asked for and not too many, else `draws` a person."""
        person, length, per_person = _trajectories(victims)
        size = np.minimum(m, length)
        count = _each(_sets_of, length, size)
        # Exact where it can be: with few people and few sets, all are tried and the mean is the true one; only
        # otherwise sets are drawn.
        many = np.full(len(victims), not all_sets) | (np.bincount(person, count, len(victims)) > MOST_SETS)
        every = np.flatnonzero(~many[person])
        parts = _every_set(victims.offsets[every], length[every], size[every], size[every])
        # Drawing takes a trajectory first, then visits in it: trying all must weigh trajectories alike, too.
        sets = [(every[i], visits, np.full(len(i), 1 / visits_of)) for i, visits, visits_of in parts]
        of = np.repeat(np.flatnonzero(many), draws)
        # A trajectory of the person first, then visits inside it, as the attacker's knowledge lies in one trajectory.
        of = victims.first[of] + rng.integers(per_person[of])
        sets.append((of, _shifted(draw_sets(length[of], size[of], rng), victims.offsets[of]), np.ones(len(of))))
        uncertain = many & ((per_person > 1) | (length[victims.first[:-1]] > m))
        return cls._of(sets, person, bool(uncertain.any()))

    @classmethod
    def worst(cls, victims: Victims, m: int, *, rng: np.random.Generator, most: int = MOST_SETS) -> KnownSets:
        """Return sets of up to `m` visits of one trajectory: all of the sizes that fit, and random larger ones.

        There are about `most` sets of a person, or fewer.
        """
        person, length, per_person = _trajectories(victims)
        size = np.minimum(m, length)
        # The worst set of a person: more visits single out better, but the number of sets explodes. So all small sets
        # are tried, as deep as the room allows, and what room is left goes to random larger ones: the largest risk
        # found is a lower bound then, and `sampled` says so.
        room = np.maximum(1, most // per_person)[person]
        depth = _each(_deepest, length, size, room)
        parts = _every_set(victims.offsets[:-1], length, np.ones_like(depth), depth)
        sets = [(i, visits, np.ones(len(i))) for i, visits, _ in parts]
        left = np.where(depth < size, room - _each(_sets_up_to, length, depth), 0)
        of = np.repeat(np.arange(len(length)), left)
        sizes = rng.integers(depth[of] + 1, size[of] + 1)
        sets.append((of, _shifted(draw_sets(length[of], sizes, rng), victims.offsets[of]), np.ones(len(of))))
        return cls._of(sets, person, bool((depth < size).any()))

    @classmethod
    def _of(cls, sets: Sequence[tuple[Array, Array, Array]], person: Array, sampled: bool) -> KnownSets:
        width = max(visits.shape[1] for _, visits, _ in sets)
        tables = [np.pad(v, ((0, 0), (0, width - v.shape[1])), constant_values=-1) for _, v, _ in sets]
        return cls(
            visits=np.concatenate(tables),
            person=person[np.concatenate([trajectory for trajectory, _, _ in sets])],
            weight=np.concatenate([weight for _, _, weight in sets]),
            sampled=sampled,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """What is attacked: for every visit the trajectories that have it, in an order that keeps owners together.

    `codes` are the visits of the victims, as the lists know them.
    """

    lists: VisitLists
    codes: Array

    @classmethod
    def of(
        cls,
        target: Visits,
        sensitive: Mapping[str, Sequence[str]],
        victims: Victims | SetQueries,
        names: tuple[str, ...],
    ) -> Target:
        """Return the lists; places are matched by name (`names` are those of the victims), times exactly."""
        # Codes of two files mean nothing to each other; places are matched by name. One that the attacked data do not
        # have gets a code that nothing has.
        code = {name: i for i, name in enumerate(target.locations)}
        recode = np.array([code.get(name, len(code)) for name in names], np.int64)
        location = np.concatenate([target.location, recode[victims.location]])
        codes, n = doublet_codes(location, np.concatenate([target.t, victims.t]))
        owner = target.owner.astype(np.int64) if target.owners == "given" else np.arange(len(target))
        # With owners side by side, distinct people are counted by runs when lists are merged.
        order = np.argsort(owner, kind="stable")
        starts, slots = inverted_lists(target.offsets.astype(np.int64), codes[: target.n_visits].copy(), order, n)
        columns = []
        n_values = 0
        for attribute, values in sensitive.items():
            if attribute in target.attributes:
                coded = target.attributes[attribute]
                rank = {value: n_values + i for i, value in enumerate(values)}
                known = np.array([*(rank.get(label, -1) for label in coded.labels), -1], np.int64)
                columns.append(known[coded.codes[order]])
            n_values += len(values)
        value = np.stack(columns, axis=1) if columns else np.empty((len(target), 0), np.int64)
        return cls(
            lists=VisitLists(starts, slots, owner[order], np.ascontiguousarray(value), n_values),
            codes=codes[target.n_visits :],
        )

    def with_value(self, value: int) -> Target:
        """Return the same with one sensitive value only."""
        one = np.where((self.lists.value == value).any(axis=1), 0, -1)
        return replace(self, lists=self.lists._replace(value=np.ascontiguousarray(one[:, None]), n_values=1))

    def match(self, sets: KnownSets, victim: Array, engine: Engine) -> Fitting:
        """Return who fits each set; ``victim[i]`` is the owner code of person i."""
        distinct, where = np.unique(self.codes, return_inverse=True)
        # Merging begins with the shortest list, so that the cost of a set is about the support of its rarest visit; and
        # sets that share their first visits reuse the merged prefix.
        order = np.argsort(self.lists.starts[distinct + 1] - self.lists.starts[distinct], kind="stable")
        rank = np.empty(len(distinct) + 1, np.int64)
        rank[order], rank[-1] = np.arange(len(distinct)), len(distinct)
        # The rarest visit first, equal sets of one person once, and sets that begin alike next to each other.
        ranks = np.sort(rank[np.append(where, len(distinct))[sets.visits]], axis=1)
        sorting = np.lexsort((sets.person, *ranks.T[::-1]))
        ranks = ranks[sorting]
        person = sets.person[sorting]
        new = np.ones(len(ranks), bool)
        new[1:] = (ranks[1:] != ranks[:-1]).any(axis=1) | (person[1:] != person[:-1])
        tried = np.append(distinct[order], -1)[ranks[new]]
        whose = victim[person[new]]
        cuts = range(0, len(tried), _SETS_PER_TASK)
        tasks = [(tried[i : i + _SETS_PER_TASK], whose[i : i + _SETS_PER_TASK]) for i in cuts]
        # The last tasks have the longest lists: they go first, so that no core waits for them at the end.
        done = engine.map(partial(_match, self), tasks[::-1])[::-1]
        back = np.empty(len(ranks), np.int64)
        back[sorting] = np.cumsum(new) - 1
        return Fitting.of(np.concatenate([np.zeros((0, COUNTS), np.int64), *done])[back])


def _match(target: Target, task: tuple[Array, Array]) -> Array:
    sets, victim = task
    fitting: Array = count_fitting(target.lists, sets, victim)
    return fitting


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitting:
    """Who fits each set of known visits: people and trajectories.

    Parameters
    ----------
    people, trajectories : int
        Those who have a trajectory that fits, and the trajectories that fit.
    people_with, trajectories_with : int
        Those of them with the sensitive value that most of them have.
    own, most : int
        The trajectories of the victim, and of the person who has most of them.
    """

    people: Array
    people_with: Array
    trajectories: Array
    trajectories_with: Array
    own: Array
    most: Array

    @classmethod
    def of(cls, counts: Array) -> Fitting:
        """Return the columns of `count_fitting` by name."""
        people, people_with, trajectories, trajectories_with, own, most = counts.T
        return cls(
            people=people,
            people_with=people_with,
            trajectories=trajectories,
            trajectories_with=trajectories_with,
            own=own,
            most=most,
        )

    @classmethod
    def of_people(cls, people: Array) -> Fitting:
        """Return what fits where each person has one thing that does, and nothing sensitive is asked."""
        none = np.zeros_like(people)
        one = np.minimum(people, 1)
        return cls(people=people, people_with=none, trajectories=people, trajectories_with=none, own=one, most=one)


@dataclass(frozen=True, kw_only=True, eq=False)
class Risk:
    """Per person: identity and attribute risk, and whether (or how often) nobody fits, and exactly one person fits."""

    identity: Array
    confidence: Array
    unmatched: Array
    unique: Array

    @classmethod
    def of(cls, sets: KnownSets, fitting: Fitting, people: int, *, worst: bool) -> Risk:
        """Return the mean risk over the sets of each person, or the largest.

        The attacker picks one of the people who fit, or one of the trajectories, whichever is right more often.
        """
        owners = fitting.people
        # Counted both ways: one of the people who fit, or one of the trajectories that fit, of which the victim may own
        # many.
        one = np.maximum(_ratio(np.ones_like(owners), owners), _ratio(fitting.own, fitting.trajectories))
        share = np.maximum(_ratio(fitting.people_with, owners), _ratio(fitting.trajectories_with, fitting.trajectories))
        identity = _peak(one, sets.person, people)
        confidence = _peak(share, sets.person, people)
        if worst:
            columns = identity, confidence, identity == 0, identity == 1
        else:
            weight = np.bincount(sets.person, sets.weight, people)
            mean = [
                np.bincount(sets.person, sets.weight * column, people) / weight
                for column in (one, share, owners == 0, owners == 1)
            ]
            # Rounding must not lift a mean above the largest of its parts.
            columns = np.minimum(mean[0], identity), np.minimum(mean[1], confidence), mean[2], mean[3]
        return cls(identity=columns[0], confidence=columns[1], unmatched=columns[2], unique=columns[3])

    @classmethod
    def join(cls, parts: Sequence[Risk]) -> Risk:
        """Return the risk of the people of all parts."""
        names = ("identity", "confidence", "unmatched", "unique")
        return cls(**{name: np.concatenate([np.zeros(0), *(getattr(p, name) for p in parts)]) for name in names})


def draw_sets(length: Array, size: Array, rng: np.random.Generator) -> Array:
    """Return rows of ``size[i]`` different positions below ``length[i]``, evenly drawn, padded with -1.

    Floyd's sampling, on all rows at once: O(rows x largest size squared) time, O(rows x largest size) memory.

    Examples
    --------
    >>> np.sort(draw_sets(np.array([2, 1]), np.array([2, 1]), np.random.default_rng(1))).tolist()
    [[0, 1], [-1, 0]]
    """
    width = int(size.max(initial=1))
    table = np.full((len(size), width), -1, np.int64)
    # Floyd (1987): round i draws from one position more than the round before; a position that was drawn already is
    # replaced by the new last one, which keeps all sets equally likely without a retry.
    for i in range(width):
        now = np.flatnonzero(size > i)
        last = (length - size)[now] + i
        candidate = rng.integers(last + 1)
        taken = (table[now, :i] == candidate[:, None]).any(axis=1)
        table[now, i] = np.where(taken, last, candidate)
    return table


def _trajectories(victims: Victims) -> tuple[Array, Array, Array]:
    """Return the person and the length of each trajectory, and the number of trajectories of each person."""
    per_person = np.diff(victims.first)
    return np.repeat(np.arange(len(victims)), per_person), np.diff(victims.offsets), per_person


def _every_set(at: Array, length: Array, low: Array, high: Array) -> list[tuple[Array, Array, int]]:
    """Return (trajectory, rows of visits, sets per trajectory) for all sets of ``low[i]`` to ``high[i]`` visits."""
    sets = []
    # Trajectories of one length and one range of sizes have the same sets, counted from their first row.
    kinds = distinct_rows(length, low, high)
    for i, j in enumerate(kinds.first.tolist()):
        n = int(length[j])
        smallest = int(low[j])
        largest = int(high[j])
        members = np.flatnonzero(kinds.code == i)
        for size in range(smallest, largest + 1):
            table = np.array(list(combinations(range(n), size)), np.int64)
            rows = (at[members, None, None] + table).reshape(-1, size)
            sets.append((np.repeat(members, len(table)), rows, len(table)))
    return sets


def _shifted(table: Array, by: Array) -> Array:
    return np.where(table < 0, -1, table + by[:, None])


def _each(function: Callable[..., int], *columns: Array) -> Array:
    return np.fromiter(map(function, *(column.tolist() for column in columns)), np.int64, len(columns[0]))


@lru_cache(maxsize=4096)
def _sets_of(length: int, size: int) -> int:
    """Return the number of sets of `size` out of `length`, or one more than the limit."""
    return min(comb(length, size), MOST_SETS + 1)


@lru_cache(maxsize=4096)
def _sets_up_to(length: int, size: int) -> int:
    """Return the number of non-empty sets of at most `size` out of `length`, or one more than the limit."""
    total = 0
    for i in range(1, min(size, length) + 1):
        total += comb(length, i)
        if total > MOST_SETS:
            return MOST_SETS + 1
    return total


@lru_cache(maxsize=4096)
def _deepest(length: int, size: int, room: int) -> int:
    """Return the largest depth, up to `size`, of which all sets fit into `room`."""
    depth = 0
    while depth < size and _sets_up_to(length, depth + 1) <= room:
        depth += 1
    return depth


def _peak(values: Array, person: Array, people: int) -> Array:
    top = np.zeros(people)
    np.maximum.at(top, person, values)
    return top


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
