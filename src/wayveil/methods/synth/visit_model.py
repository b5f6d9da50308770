"""A noisy model of visits: where trips begin, what comes next after one or two places, how long they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.synth.place_chains import NextPlaces, draw_chains
from wayveil.methods.synth.noisy_model import Budget, Noisy, fit_total
from wayveil.methods.synth.person_shares import split_shares
from wayveil.methods.synth.start_times import Clock, StartTimes, draw_entries, keep_largest
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["GAP_EDGES", "Sequences", "VisitModel", "learn_visits", "select_places", "tally_shares"]

PARTS = 8
"""Parts of a day of three hours, by which the places differ where trips begin."""

_DENSE = 400_000
_LONG_TRIPS = 0.05
_STRONG = 4.0
_MOST_PLACES = 2_000

GAP_EDGES = np.unique(np.rint(2 ** (np.arange(46) / 2)).astype(np.int64))
"""Edges of the classes of times between visits, in steps of the clock: 1, 2, 3, 4, 6, 8, 11, ..., to 11 years of
minutes."""


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """Trips as places and times, as the model sees them: `shares` are the parts of a person that each trip counts."""

    offsets: IntArray
    place: IntArray
    t: IntArray
    owner: IntArray
    shares: IntArray

    @property
    def lengths(self) -> IntArray:
        """How many visits each trip has."""
        return np.diff(self.offsets)

    def keep(self, places: tuple[str, ...], names: tuple[str, ...], longest: int) -> Sequences:
        """Return the visits to these places, numbered as they are here, and of each trip the first `longest` of them.

        `names` are those behind the codes of the data; places that nobody visited are numbered too.
        """
        position = {place: number for number, place in enumerate(places)}
        number = np.array([position.get(name, -1) for name in names], np.int64)
        code = number[self.place]
        trajectory = trajectory_of_row(self.offsets)
        inside = code >= 0
        # How many visits that stay come before each row; one number more, because the last trips may be empty.
        before: IntArray = np.concatenate([[0], np.cumsum(inside)])
        rank: IntArray = before[:-1] - before[self.offsets[:-1]][trajectory]
        stays = inside & (rank < longest)
        return Sequences(
            offsets=offsets_of(np.bincount(trajectory[stays], minlength=len(self.owner))),
            place=code[stays],
            t=self.t[stays],
            owner=self.owner,
            shares=self.shares,
        )


def select_places(
    trips: Sequences, names: tuple[str, ...], *, most: int, budget: Budget, epsilon: Fraction, delta: Fraction
) -> tuple[str, ...]:
    """Return the places that so many people visit that they may be named, largest noisy counts first among too many."""
    order = np.array(sorted(range(len(names)), key=lambda code: names[code]), np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    trajectory = trajectory_of_row(trips.offsets)
    shares = split_shares(trips.shares, trips.lengths)[trajectory]
    values = keep_largest(trips.owner[trajectory], rank[trips.place], shares, most)
    keys, noisy = budget.select("places", "visits-by-place", values, l0=most, epsilon=epsilon, delta=delta)
    if not len(keys):
        raise InputError(
            "synth: with this epsilon and delta, no place has so many people that it may be named. Make places coarser "
            "(--prepare 'grid cell=1000' for points), take a larger epsilon, or give public_places, the list of "
            "all places, if it is public anyway."
        )
    largest = np.argsort(-noisy.values, kind="stable")[:_MOST_PLACES]
    return tuple(names[order[key]] for key in np.sort(keys[largest]).tolist())


@dataclass(frozen=True, kw_only=True)
class VisitModel:
    """All that trips are drawn from: noisy, so that it may be seen by anybody."""

    length_chance: FloatArray
    starts: FloatArray
    next_places: NextPlaces
    gaps: FloatArray

    def draw(self, n: int, times: StartTimes, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
        """Return offsets, places and times of `n` trips."""
        lengths = draw_entries(self.length_chance, n, rng) + 1
        start = draw_entries(self.starts.ravel(), n, rng)
        offsets = offsets_of(lengths)
        place = draw_chains(self.next_places, start // PARTS, offsets, rng.random(int(offsets[-1])))
        begin = times.draw_days(n, rng) + times.draw_hours(start % PARTS, PARTS, n, rng)
        rows = int(offsets[-1])
        gap_class = draw_entries(self.gaps, rows, rng)
        low = GAP_EDGES[gap_class]
        gap = low + np.floor(rng.random(rows) * (GAP_EDGES[gap_class + 1] - low)).astype(np.int64)
        gap[offsets[:-1]] = 0
        passed = np.cumsum(gap)
        t = np.repeat(begin - passed[offsets[:-1]] * times.clock.step, lengths) + passed * times.clock.step
        return offsets, place, t


def learn_visits(
    trips: Sequences,
    n_places: int,
    *,
    total: float,
    longest: int,
    clock: Clock,
    budget: Budget,
    epsilon: Fraction,
) -> VisitModel:
    """Ask for the lengths, starts, next places and times between visits; `epsilon` is what all of it may cost."""
    lengths = trips.lengths
    counted = (trips.shares > 0) & (lengths > 0)
    by_length = tally_shares(lengths[counted] - 1, trips.shares[counted], longest)
    noisy_lengths = budget.histogram("lengths", "trips-by-length", by_length, epsilon * Fraction(2, 25))
    length_chance = fit_total(noisy_lengths.values, total)
    first = trips.offsets[:-1][counted]
    part = (trips.t[first] % clock.day) // (clock.hour * (24 // PARTS))
    by_start = tally_shares(
        trips.place[first] * PARTS + np.minimum(part, PARTS - 1), trips.shares[counted], n_places * PARTS
    )
    noisy_starts = budget.histogram("starts", "trips-by-start", by_start, epsilon * Fraction(7, 25))
    starts = fit_total(noisy_starts.values, total).reshape(n_places, PARTS)

    # What comes after two places is asked for only where enough trips are that long; else one place gets all of it.
    weight = float(length_chance.sum()) or 1.0
    moving = float(length_chance[1:].sum())
    deep = float(length_chance[2:].sum()) / weight > _LONG_TRIPS
    for_one = Fraction(9, 25) if deep else Fraction(14, 25)
    inner_row, shares = _moves(trips)
    pairs = trips.place[inner_row - 1] * n_places + trips.place[inner_row]
    noisy_pairs = budget.histogram(
        "next-after-one", "moves-by-places", tally_shares(pairs, shares, n_places * n_places), epsilon * for_one
    )
    one = fit_total(noisy_pairs.values, moving).reshape(n_places, n_places)
    popularity = starts.sum(axis=1) + one.sum(axis=0)
    popularity = popularity / popularity.sum() if popularity.sum() > 0 else np.full(n_places, 1 / n_places)
    chance_one = _shrink(one, popularity[None, :], noisy_pairs.scale)
    pair_row: IntArray = np.full((n_places, n_places), -1, np.int64)
    after_two: FloatArray = np.zeros((0, n_places))
    if deep:
        pair_row, after_two = _after_two(
            trips, one, noisy_pairs, chance_one, budget=budget, epsilon=epsilon * Fraction(5, 25)
        )
    gap = np.maximum((trips.t[inner_row] - trips.t[inner_row - 1]) // clock.step, 1)
    gap_class = np.clip(np.searchsorted(GAP_EDGES, gap, side="right") - 1, 0, len(GAP_EDGES) - 2)
    noisy_gaps = budget.histogram(
        "gaps", "moves-by-time", tally_shares(gap_class, shares, len(GAP_EDGES) - 1), epsilon * Fraction(2, 25)
    )
    return VisitModel(
        length_chance=length_chance,
        starts=starts,
        next_places=NextPlaces(np.cumsum(chance_one, axis=1), pair_row, np.cumsum(after_two, axis=1)),
        gaps=fit_total(noisy_gaps.values, max(moving, 1e-9)),
    )


def _moves(trips: Sequences) -> tuple[IntArray, IntArray]:
    """Return the rows that are not the first of their trip, and the parts of a person that each of them counts."""
    trajectory = trajectory_of_row(trips.offsets)
    rows = np.ones(len(trips.place), np.bool_)
    rows[trips.offsets[:-1][trips.lengths > 0]] = False
    inner_row = np.flatnonzero(rows)
    shares = split_shares(trips.shares, trips.lengths - 1)
    return inner_row, shares[trajectory[inner_row]]


def _after_two(
    trips: Sequences, one: FloatArray, noisy_pairs: Noisy, chance_one: FloatArray, *, budget: Budget, epsilon: Fraction
) -> tuple[IntArray, FloatArray]:
    """Ask for what comes after those pairs of places that enough people visit one after the other."""
    n_places = len(one)
    scale = float(1 / epsilon)
    # A pair is worth asking for if what comes next stands out from the noise: so many people, and no more pairs than
    # a histogram may have keys.
    worth = np.flatnonzero(one.ravel() > _STRONG * scale)
    worth = worth[np.argsort(-one.ravel()[worth], kind="stable")][: max(1, _DENSE // n_places)]
    pair_row: IntArray = np.full(n_places * n_places, -1, np.int64)
    pair_row[worth] = np.arange(len(worth))
    pair_row = pair_row.reshape(n_places, n_places)
    if not len(worth):
        return pair_row, np.zeros((0, n_places))
    trajectory = trajectory_of_row(trips.offsets)
    rank = np.arange(len(trips.place)) - trips.offsets[:-1][trajectory]
    last = np.flatnonzero(rank >= 2)
    shares = split_shares(trips.shares, trips.lengths - 2)[trajectory[last]]
    row = pair_row[trips.place[last - 2], trips.place[last - 1]]
    known = row >= 0
    values = tally_shares(row[known] * n_places + trips.place[last][known], shares[known], len(worth) * n_places)
    noisy = budget.histogram("next-after-two", "moves-by-three-places", values, epsilon)
    table = noisy.values.reshape(len(worth), n_places)
    fitted = fit_total(noisy.values, max(float(noisy.values.sum()), 0.0)).reshape(table.shape)
    return pair_row, _shrink(fitted, chance_one[worth % n_places], _STRONG * noisy.scale)


def _shrink(counts: FloatArray, prior: FloatArray, strength: float) -> FloatArray:
    """Return chances per row: what was counted, and as many more people as `strength` says who do as `prior` says."""
    mixed = counts + strength * prior
    chances: FloatArray = mixed / mixed.sum(axis=1, keepdims=True)
    return chances


def tally_shares(key: IntArray, shares: IntArray, size: int) -> IntArray:
    """Return the sum of shares per key, as whole numbers."""
    values = np.zeros(size, np.int64)
    np.add.at(values, key, shares)
    return values
