"""How good the groups of `cast` are: against groups by lot, and against the best that there are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.methods.cast.cast import Cast
from wayveil.model import Stops, Taxonomy

PAGE = Path(__file__).parents[3] / "docs" / "research" / "methods" / "cast.md"


def cost_of(data: Stops, m: int, distance: str) -> float:
    made = Cast(c=1, m=m, distance=distance).run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    return float(made.facts[f"cost by {distance}"])


def above(tree: Taxonomy, node: int) -> list[int]:
    return [node] if tree.parent[node] < 0 else [node, *above(tree, int(tree.parent[node]))]


def weights(tree: Taxonomy, distance: str) -> np.ndarray:
    return tree.n_leaves if distance == "leaves" else tree.height - tree.depth


def errands(n: int, seed: int) -> Stops:
    """People who move between places of a few kinds, some of which are popular."""
    random = np.random.default_rng(seed)
    kinds = [(f"k{i}", "Place") for i in range(6)] + [("sick", "Place")]
    parts = [(f"{kind}.{j}", kind) for kind, _ in kinds for j in range(3)]
    ends = [(f"{part}.{j}", part) for part, _ in parts for j in range(25)]
    tree = Taxonomy.from_parents([("Place", ""), *kinds, *parts, *ends], sensitive=["sick"])
    codes = random.permutation([i for i, v in enumerate(tree.is_leaf) if v])
    share = 1 / np.arange(1, len(codes) + 1)
    length = np.maximum(1, random.poisson(5.2, n))
    place = random.choice(codes, int(length.sum()), p=share / share.sum())
    offsets, none = np.concatenate([[0], np.cumsum(length)]), np.zeros(len(place), np.int64)
    return Stops(offsets=offsets, place=place, t=none, t_end=none, taxonomy=tree, owner=np.arange(n))


def random_cost(data: Stops, m: int, weight: np.ndarray, random: np.random.Generator) -> float:
    """Definition 13 when groups are drawn by lot, one person per trajectory: lengths and cuts as in the method."""
    tree, known = data.taxonomy, data.where(~data.sensitive)
    length = np.diff(known.offsets)
    total, left = 0.0, np.zeros(0, np.int64)
    for width in range(int(length.max()), 0, -1):
        pool = random.permutation(np.concatenate([left, np.flatnonzero(length == width)]))
        whole = len(pool) // m * m
        chosen, left = pool[:whole], pool[whole:]
        places = known.place[known.offsets[chosen][:, None] + np.arange(width)].reshape(-1, m, width)
        if whole:
            rank = tree.first[places]
            node = tree.common(tree.order[rank.min(axis=1)], tree.order[rank.max(axis=1)])
            loss = (weight[node][:, None, :] - weight[places]).sum(axis=2).ravel() / (weight[tree.root] * width)
            total += float(np.where(length[chosen] > width, 1.0, loss).sum())
    return (total + len(left)) / len(data)


@pytest.mark.parametrize("distance", ["hops", "leaves"])
def test_cheaper_than_the_best_of_50_groupings_by_lot(distance: str) -> None:
    data = errands(1000, 1)
    weight = weights(data.taxonomy, distance)
    for m in (3, 5, 10, 15, 20, 30):
        cost = cost_of(data, m, distance)
        random = np.random.default_rng(m)
        assert cost <= 0.97 * min(random_cost(data, m, weight, random) for _ in range(50))


def partitions(items: list[int], m: int, spare: int) -> Iterator[list[tuple[int, ...]]]:
    """Every choice of groups of m, with `spare` left over."""
    if not items:
        yield []
        return
    if spare:
        yield from partitions(items[1:], m, spare - 1)
    for others in combinations(items[1:], m - 1) if len(items) >= m else ():
        rest = [i for i in items[1:] if i not in others]
        yield from ([(items[0], *others), *more] for more in partitions(rest, m, spare))


def least_cost(tree: Taxonomy, rows: list[list[int]], m: int, weight: np.ndarray) -> Fraction:
    """The optimum over all groupings; who is left over joins a group that covers it, or has the distance 1."""
    up = [set(above(tree, v)) for v in range(len(tree))]

    def nodes(group: tuple[int, ...]) -> list[int]:
        shared = [set.intersection(*(up[rows[i][p]] for i in group)) for p in range(len(rows[0]))]
        return [max(s, key=lambda v: len(up[v])) for s in shared]

    cached = {group: nodes(group) for group in combinations(range(len(rows)), m)}
    own = [sum(weight[v] for v in row) for row in rows]
    most = weight[tree.root] * len(rows[0])
    best = None
    for groups in partitions(list(range(len(rows))), m, len(rows) % m):
        made = [cached[group] for group in groups]
        heavy = [sum(weight[v] for v in node) for node in made]
        loss = sum(h * m for h in heavy) - sum(own[i] for group in groups for i in group)
        for i in set(range(len(rows))) - {i for group in groups for i in group}:
            over = [
                h for h, g in zip(heavy, made, strict=True) if all(v in up[x] for v, x in zip(g, rows[i], strict=True))
            ]
            loss += min(over) - own[i] if over else most
        best = loss if best is None else min(best, loss)
    assert best is not None
    return Fraction(int(best), int(most) * len(rows))


def test_near_the_optimum_on_tiny_inputs() -> None:
    ratios = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(8, 20))
        parent = [-1, *(int(random.integers(0, i)) for i in range(1, n))]
        tree = Taxonomy(nodes=tuple(map(str, range(n))), parent=np.array(parent), sensitive=np.zeros(n, np.bool_))
        ends = [v for v in range(n) if v not in parent]
        m, many, width = int(random.integers(2, 4)), int(random.integers(6, 10)), int(random.integers(1, 4))
        rows = [[int(random.choice(ends)) for _ in range(width)] for _ in range(many)]
        data = Stops.from_records([list(map(str, row)) for row in rows], taxonomy=tree)
        for distance in ("hops", "leaves"):
            cost, least = cost_of(data, m, distance), float(least_cost(tree, rows, m, weights(tree, distance)))
            assert cost >= least - 1e-12
            ratios.append(cost / least if least else 1.0 + cost)
    mean = sum(ratios) / len(ratios)
    assert mean <= 1.15
    assert f"is {mean:.2f} times the optimum" in PAGE.read_text(encoding="utf-8")
