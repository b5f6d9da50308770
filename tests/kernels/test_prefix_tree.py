"""The prefix tree: the kernel against the definition, with the worked example."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.routes.prefix_tree import kept_prefixes

GOLDEN = Path(__file__).parents[1] / "golden" / "prefix"

Route = tuple[int, ...]


def run(routes: list[Route], people: list[set[int]], k: int, *, reattach: bool, n_roads: int = 8) -> list[Route]:
    owner = np.array([p for group in people for p in sorted(group)], np.int64)
    route, length = kept_prefixes(
        np.cumsum([0, *map(len, routes)]), np.array([r for s in routes for r in s], np.int64),
        np.cumsum([0, *map(len, people)]), owner, np.argsort(owner, kind="stable"), n_roads, k, reattach,
    )  # fmt: skip
    return [routes[s][:n] for s, n in zip(route.tolist(), length.tolist(), strict=True)]


@cache
def lcs(a: Route, b: Route) -> int:
    if not a or not b:
        return 0
    return lcs(a[:-1], b[:-1]) + 1 if a[-1] == b[-1] else max(lcs(a[:-1], b), lcs(a, b[:-1]))


def oracle(routes: list[Route], people: list[set[int]], k: int, *, reattach: bool) -> list[Route]:
    """Section 5.3: cut at the shallowest rare prefix until there is none, then find the most similar prefix."""
    kept = set(range(len(routes)))

    def rare() -> list[Route]:
        prefixes = {routes[s][:n] for s in kept for n in range(1, len(routes[s]) + 1)}
        return sorted(
            (p for p in prefixes if len(set().union(*(people[s] for s in kept if routes[s][: len(p)] == p))) < k),
            key=lambda p: (len(p), p),
        )

    if not reattach:
        gone = set(rare())
        return [next((route[:n] for n in range(len(route), 0, -1) if route[:n] not in gone), ()) for route in routes]
    while found := rare():
        kept -= {s for s in kept if routes[s][: len(found[0])] == found[0]}
    prefixes = {routes[s][:n] for s in kept for n in range(1, len(routes[s]) + 1)}
    made = []
    for s, route in enumerate(routes):
        best = min(prefixes, key=lambda p: (-lcs(p, route), len(p), p), default=())
        made.append(route if s in kept else best if lcs(best, route) else ())
    return made


@st.composite
def inputs(draw: st.DrawFn) -> tuple[list[Route], list[set[int]]]:
    route = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple)
    routes = draw(st.lists(route, min_size=0, max_size=14, unique=True))
    return routes, [draw(st.sets(st.integers(0, 9), min_size=1, max_size=4)) for _ in routes]


@settings(deadline=None, max_examples=200)
@given(inputs(), st.integers(2, 4), st.booleans())
def test_the_kernel_is_the_definition(case: tuple[list[Route], list[set[int]]], k: int, reattach: bool) -> None:
    assert run(*case, k, reattach=reattach) == oracle(*case, k, reattach=reattach)


@pytest.mark.parametrize("seed", range(3))
def test_longer_routes_with_many_repeats(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = [tuple(rng.integers(0, 5, 12).tolist()) for _ in range(4)]
    found = {b[: rng.integers(4, 13)] for b in base for _ in range(5)}
    found |= {tuple(rng.integers(0, 5, rng.integers(1, 20)).tolist()) for _ in range(30)}
    routes = sorted(found)
    people = [set(rng.integers(0, 30, 3 if r in {b[: len(r)] for b in base} else 1).tolist()) for r in routes]
    assert run(routes, people, 3, reattach=True) == oracle(routes, people, 3, reattach=True)


def letters(counts: dict[str, int]) -> tuple[list[Route], list[set[int]]]:
    people, groups = iter(range(1000)), []
    for n in counts.values():
        groups.append({next(people) for _ in range(n)})
    return [tuple(ord(c) - 65 for c in text) for text in counts], groups


@pytest.mark.parametrize("name", json.loads((GOLDEN / "examples.json").read_text())["cases"])
def test_worked_examples(name: str) -> None:
    case: dict[str, Any] = json.loads((GOLDEN / "examples.json").read_text())["cases"][name]
    routes, people = letters(case["D"])
    for variant, reattach in (("lcs", True), ("prefix", False)):
        made: dict[str, int] = {}
        for route, group in zip(run(routes, people, case["k"], reattach=reattach, n_roads=26), people, strict=True):
            text = "".join(chr(65 + r) for r in route)
            made[text] = made.get(text, 0) + len(group)
        assert made.pop("", 0) == case[variant]["lost"]
        assert made == case[variant]["published"]


def test_a_person_counts_once_however_many_routes() -> None:
    assert run([(0, 1), (0, 2)], [{5}, {5}], 2, reattach=False) == [(), ()]
    assert run([(0, 1), (0, 2)], [{5}, {6}], 2, reattach=False) == [(0,), (0,)]
