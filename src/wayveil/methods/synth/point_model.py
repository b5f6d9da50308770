"""A noisy model of movement over cells: where trips begin and end, how they move, how long and how fast they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np

from wayveil.kernels.synth.bridges import Moves, draw_bridges
from wayveil.methods.synth.adaptive_grid import CellGrid
from wayveil.methods.synth.noisy_model import Budget, fit_total
from wayveil.methods.synth.person_shares import split_shares
from wayveil.methods.synth.start_times import draw_entries
from wayveil.methods.synth.visit_model import tally_shares
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["LONGEST", "CellTrips", "PointModel", "learn_points"]

LONGEST = 200
"""Cells of a trip that count; what comes after is cut off."""

_TURNS = 8
_NEAR = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, LONGEST + 1])
"""Edges of classes of the moves of the shortest way between the ends of a trip."""

_BEYOND = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 140, LONGEST + 1])
"""Edges of classes of the moves that a trip has beyond these."""

SPEED_EDGES = 2.0 ** (np.arange(-12, 29) / 2)
"""Edges of classes of speed, 0.02 to 16,000 metres a second (or units of any other time and length)."""

WAY_EDGES = 2.0 ** (np.arange(-8, 49) / 2)
"""Edges of classes of the length of a trip, 0.06 metres to 12,000 kilometres."""

WAIT_EDGES = np.unique(np.rint(2 ** (np.arange(41) / 2)).astype(np.int64))
"""Edges of classes of how long a trip inside one cell lasts, in seconds."""

_PER_PAIR = 2.0
_CLEAR = 3.0


@dataclass(frozen=True, kw_only=True)
class CellTrips:
    """Trips as paths over cells: `metres` is how long each is, `seconds` how long it lasts."""

    offsets: IntArray
    cell: IntArray
    shares: IntArray
    metres: FloatArray
    seconds: FloatArray

    @property
    def moves(self) -> IntArray:
        """How many moves each trip has; -1 where it has no cell."""
        return np.diff(self.offsets) - 1


@dataclass(frozen=True, kw_only=True)
class PointModel:
    """All that trips are drawn from: noisy, so that it may be seen by anybody."""

    grid: CellGrid
    moves: Moves
    zone: IntArray
    zone_pairs: FloatArray
    starts: FloatArray
    ends: FloatArray
    extra: FloatArray
    hops: IntArray
    ways: FloatArray
    speeds: FloatArray
    waits: FloatArray

    def tilt(self, strength: float) -> PointModel:
        """Return the model with moves that are less likely the longer they are, by exp(-strength) per square.

        As many moves lead further through large cells than through small ones.  Chances of moves alone do not know
        that, and walk around the city where people drive through it.
        """
        grid = self.grid
        source = grid.source
        middle_x = grid.x_min + grid.size / 2
        middle_y = grid.y_min + grid.size / 2
        way = np.hypot(middle_x[grid.to] - middle_x[source], middle_y[grid.to] - middle_y[source])
        chance = self.moves.chance * np.exp(-strength * way)
        chance = chance / np.bincount(source, weights=chance, minlength=len(grid))[source]
        return replace(self, moves=self.moves._replace(chance=chance))

    @property
    def mean_way(self) -> float:
        """How many metres trips are long on average, of those that leave their cell."""
        middle = np.sqrt(WAY_EDGES[:-1] * WAY_EDGES[1:])
        total = float(self.ways.sum())
        return float(self.ways @ middle) / total if total > 0 else 0.0

    def draw_paths(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return offsets and cells of `n` paths."""
        n_zones = int(self.zone.max()) + 1
        pair = draw_entries(self.zone_pairs, n, rng)
        start = self._inside(self.starts, pair // n_zones, rng)
        end = self._inside(self.ends, pair % n_zones, rng)
        shortest = self.hops[start, end]
        table = self.extra.reshape(len(_NEAR) - 1, -1)
        row = np.searchsorted(_NEAR, shortest, side="right") - 1
        more = np.zeros(n, np.int64)
        for number in range(len(table)):
            own = np.flatnonzero(row == number)
            bin_ = draw_entries(table[number], len(own), rng)
            low = _BEYOND[bin_]
            more[own] = low + np.floor(rng.random(len(own)) * (_BEYOND[bin_ + 1] - low)).astype(np.int64)
        lengths = np.minimum(shortest + more, LONGEST - 1)
        order = np.argsort(end, kind="stable")
        draws = rng.random(int(lengths.sum()))
        at = offsets_of(lengths[order])
        walked = draw_bridges(self.moves, start[order], end[order], lengths[order], draws, at[:-1])
        # Walks without any way of that length (from a cell to itself in one move) become one move longer.
        failed = np.flatnonzero(walked[at[:-1] + np.arange(n)] < 0)
        if len(failed):
            lengths[order[failed]] += 1
            draws = rng.random(int(lengths.sum()))
            at = offsets_of(lengths[order])
            walked = draw_bridges(self.moves, start[order], end[order], lengths[order], draws, at[:-1])
        complete = np.flatnonzero(walked[at[:-1] + np.arange(n)] >= 0)
        counts = lengths[order][complete] + 1
        offsets = offsets_of(counts)
        begins = at[:-1][complete] + complete
        rows = np.repeat(begins - offsets[:-1], counts) + np.arange(int(offsets[-1]))
        return offsets, walked[rows]

    def _inside(self, chance: FloatArray, zone: IntArray, rng: np.random.Generator) -> IntArray:
        """Return a cell of each zone, drawn by how many trips begin or end in it."""
        cells = np.zeros(len(zone), np.int64)
        for number in range(int(self.zone.max()) + 1):
            members = np.flatnonzero(self.zone == number)
            own = np.flatnonzero(zone == number)
            cells[own] = members[draw_entries(chance[members], len(own), rng)]
        return cells

    def draw_seconds(self, metres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return how long trips of these lengths last."""
        n = len(metres)
        bin_ = draw_entries(self.speeds, n, rng)
        speed = SPEED_EDGES[bin_] * (SPEED_EDGES[bin_ + 1] / SPEED_EDGES[bin_]) ** rng.random(n)
        wait = draw_entries(self.waits, n, rng)
        low = WAIT_EDGES[wait]
        waited = low + rng.random(n) * (WAIT_EDGES[wait + 1] - low)
        return np.where(metres > 0, metres / speed, waited)


def learn_points(trips: CellTrips, grid: CellGrid, *, total: float, budget: Budget, epsilon: Fraction) -> PointModel:
    """Ask for ends, moves, turns, lengths and speeds; `epsilon` is what all of it may cost."""
    counted = (trips.shares > 0) & (trips.moves >= 0)
    n_cells = len(grid)
    first = trips.cell[trips.offsets[:-1][counted]]
    last = trips.cell[trips.offsets[1:][counted] - 1]
    shares = trips.shares[counted]

    ends = np.concatenate([tally_shares(first, shares // 2, n_cells), tally_shares(last, shares // 2, n_cells)])
    noisy_ends = budget.histogram("ends", "trips-by-end", ends, epsilon * Fraction(13, 90))
    both = noisy_ends.values.reshape(2, n_cells)
    start_weight = fit_total(both[0], total / 2)
    end_weight = fit_total(both[1], total / 2)

    # Zones of about as many trip ends each: pairs of cells would be too many for the noise, pairs of zones are not.
    for_pairs = epsilon * Fraction(21, 90)
    zones = int(np.clip(sqrt(max(total * float(for_pairs) / (sqrt(2) * _PER_PAIR), 1.0)), 1, 64))
    zone = _cut_zones(grid, start_weight + end_weight, zones)
    n_zones = int(zone.max()) + 1
    pairs = tally_shares(zone[first] * n_zones + zone[last], shares, n_zones * n_zones)
    noisy_zones = budget.histogram("zone-pairs", "trips-by-zones", pairs, for_pairs)

    moving = trips.moves[counted]
    hops = grid.hops()
    shortest = hops[first, last]
    row = np.searchsorted(_NEAR, shortest, side="right") - 1
    beyond = np.searchsorted(_BEYOND, np.maximum(moving - shortest, 0), side="right") - 1
    n_beyond = len(_BEYOND) - 1
    lengths = tally_shares(row * n_beyond + beyond, shares, (len(_NEAR) - 1) * n_beyond)
    noisy_lengths = budget.histogram("lengths", "trips-by-length", lengths, epsilon * Fraction(9, 90))
    extra = fit_total(noisy_lengths.values, total)

    edges = _learn_moves(trips, grid, total=total, budget=budget, epsilon=epsilon * Fraction(38, 90))
    leaves = trips.moves[counted] > 0
    way = np.clip(np.searchsorted(WAY_EDGES, trips.metres[counted], side="right") - 1, 0, len(WAY_EDGES) - 2)
    ways = tally_shares(way[leaves], shares[leaves], len(WAY_EDGES) - 1)
    noisy_ways = budget.histogram("ways", "trips-by-way", ways, epsilon * Fraction(4, 90))
    speeds, waits = _learn_speeds(trips, counted, total=total, budget=budget, epsilon=epsilon * Fraction(5, 90))
    return PointModel(
        grid=grid,
        moves=edges,
        zone=zone,
        zone_pairs=fit_total(noisy_zones.values, total),
        starts=start_weight,
        ends=end_weight,
        extra=extra,
        hops=hops,
        # A few people of noise at the longest ways would move the mean by kilometres: classes must stand out.
        ways=np.where(noisy_ways.values > _CLEAR * noisy_ways.scale, noisy_ways.values, 0.0),
        speeds=speeds,
        waits=waits,
    )


def _learn_moves(trips: CellTrips, grid: CellGrid, *, total: float, budget: Budget, epsilon: Fraction) -> Moves:
    """Ask for moves between neighbours and for turns; a turn is worth what it is seen more often than alone."""
    trajectory = trajectory_of_row(trips.offsets)
    rank = np.arange(len(trips.cell)) - trips.offsets[:-1][trajectory]
    second = np.flatnonzero(rank >= 1)
    move = grid.move_number(trips.cell[second - 1], trips.cell[second])
    shares = split_shares(trips.shares, trips.moves)[trajectory[second]]
    noisy = budget.histogram(
        "moves", "moves-by-cells", tally_shares(move, shares, len(grid.to)), epsilon * Fraction(34, 38)
    )
    moving = max(min(float(noisy.values.sum()), total), noisy.scale)
    count = fit_total(noisy.values, moving)
    # Where nothing is left of all moves out of a cell they are as likely as each other.
    even = 0.02 * noisy.scale / np.maximum(np.diff(grid.first), 1)
    weight = count + even[grid.source]
    chance = weight / np.bincount(grid.source, weights=weight, minlength=len(grid))[grid.source]

    turn, pairs = grid.turns()
    third = np.flatnonzero(rank >= 2)
    before = grid.move_number(trips.cell[third - 2], trips.cell[third - 1])
    after = grid.move_number(trips.cell[third - 1], trips.cell[third])
    taken = turn[pairs[before] + after - grid.first[grid.to[before]]]
    shares = split_shares(trips.shares, trips.moves - 1)[trajectory[third]]
    noisy_turns = budget.histogram(
        "turns", "moves-by-turn", tally_shares(taken, shares, _TURNS), epsilon * Fraction(4, 38)
    )
    seen = fit_total(noisy_turns.values, max(float(noisy_turns.values.sum()), noisy_turns.scale))
    seen = (seen + noisy_turns.scale / _TURNS) / (seen.sum() + noisy_turns.scale)
    follows = np.repeat(count, np.diff(pairs))
    chance_after = chance[_following(grid, pairs)]
    expected = np.bincount(turn, weights=follows * chance_after, minlength=_TURNS)
    expected = expected / expected.sum() if expected.sum() > 0 else np.full(_TURNS, 1 / _TURNS)
    taste = seen / np.maximum(expected, 1e-3)
    return Moves(grid.first, grid.to, chance, turn, pairs, taste / taste.max())


def _following(grid: CellGrid, pairs: IntArray) -> IntArray:
    """Return the second move of each pair of moves."""
    following = np.diff(pairs)
    second_move: IntArray = (
        np.repeat(grid.first[grid.to], following) + np.arange(pairs[-1]) - np.repeat(pairs[:-1], following)
    )
    return second_move


def _learn_speeds(
    trips: CellTrips, counted: np.ndarray, *, total: float, budget: Budget, epsilon: Fraction
) -> tuple[FloatArray, FloatArray]:
    """Ask for the speeds of trips that leave their cell, and for how long the others last."""
    n_speeds = len(SPEED_EDGES) - 1
    n_waits = len(WAIT_EDGES) - 1
    moves = trips.moves[counted] > 0
    seconds = np.maximum(trips.seconds[counted], 1.0)
    speed = trips.metres[counted] / seconds
    fast = np.clip(np.searchsorted(SPEED_EDGES, speed, side="right") - 1, 0, n_speeds - 1)
    long = np.clip(np.searchsorted(WAIT_EDGES, seconds, side="right") - 1, 0, n_waits - 1)
    key = np.where(moves, fast, n_speeds + long)
    noisy = budget.histogram(
        "speeds", "trips-by-speed", tally_shares(key, trips.shares[counted], n_speeds + n_waits), epsilon
    )
    fitted = fit_total(noisy.values, total)
    return fitted[:n_speeds], fitted[n_speeds:]


def _cut_zones(grid: CellGrid, weight: FloatArray, most: int) -> IntArray:
    """Return a zone for each cell: halves of about equal weight, cut across the longer side, until there are enough."""
    middle = np.stack([grid.x_min + grid.size / 2, grid.y_min + grid.size / 2])
    parts = [np.arange(len(grid))]
    # Before each round the parts hold every cell once.  A round cuts the heaviest that has two cells; it ends because
    # there are finitely many cells.
    while len(parts) < most:
        heavy = [float(weight[part].sum()) if len(part) > 1 else -1.0 for part in parts]
        number = int(np.argmax(heavy))
        if heavy[number] < 0:
            break
        part = parts.pop(number)
        span = np.ptp(middle[:, part], axis=1)
        order = part[np.argsort(middle[int(np.argmax(span))][part], kind="stable")]
        running = np.cumsum(weight[order])
        cut = int(np.clip(np.searchsorted(running, running[-1] / 2) + 1, 1, len(order) - 1))
        parts += [order[:cut], order[cut:]]
    zone = np.zeros(len(grid), np.int64)
    for number, part in enumerate(parts):
        zone[part] = number
    return zone
