"""Random small publications of the methods on points, counted both ways by brute force."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.knode.knode import Knode
from wayveil.methods.nwa.nwa import Nwa
from wayveil.methods.tga.tga import Tga
from wayveil.methods.w4m.w4m import W4m
from wayveil.model import MethodResult, Points
from wayveil.verifiers import VERIFIERS

METHODS = ["nwa", "w4m", "knode", "tga"]


def scene(draw: random.Random) -> Points:
    """One to six people with one to six trips each, on few places, at the same times or not."""
    owner = [person for person in range(draw.randint(1, 6)) for _ in range(draw.choice([1, 1, 2, 3, 6]))]
    draw.shuffle(owner)
    span, together, length = draw.choice([2, 10, 60]), draw.random() < 0.6, draw.randint(1, 4)
    records = []
    for _ in owner:
        start = 0 if together else draw.randint(0, 2)
        steps = length if together else draw.randint(1, 4)
        records.append([(start + j, float(draw.randint(0, span)), float(draw.randint(0, span))) for j in range(steps)])
    return Points.from_records(records, owner=owner)


def a_method(name: str, draw: random.Random) -> Any:
    share = draw.choice(["1/k", "1/k", Fraction(1, 2), Fraction(2, 3), Fraction(1, 4)])
    both: dict[str, Any] = {"k": draw.randint(2, 4), "row_share": share}
    if name == "knode":
        return Knode(**both, window=draw.randint(1, 9), variant=draw.choice(["improved", "paper"]))
    if name == "tga":
        return Tga(**both, algorithm=draw.choice(["fast", "multi"]))
    both |= {"delta": draw.choice([0, 0, 3.0, 20.0]), "placement": draw.choice(["random", "nearest"])}
    if name == "nwa":
        return Nwa(**both, trash_max=draw.choice([0, Fraction(1, 2)]))
    return W4m(**both, distance=draw.choice(["lstd", "edr"]), chunk_size=draw.choice([3, 1000]),
               pivot=draw.choice(["random", "farthest"]))  # fmt: skip


def sets_of(made: MethodResult) -> list[list[int]]:
    """The trajectories that were put together, and those that came out alike."""
    alike: dict[Any, list[int]] = {}
    for i in range(len(made.data)):
        rows = made.data.record(i)
        if rows and (made.groups is None or made.claim.delta == 0):  # type: ignore[attr-defined]
            alike.setdefault(tuple(rows), []).append(i)
        if rows and made.groups is not None:
            alike.setdefault(int(made.groups[i]), []).append(i)
    return list(alike.values())


def check_publications(name: str, trials: int, seed: int) -> None:
    published = 0
    for trial in range(trials):
        draw = random.Random(f"{name} {seed} {trial}")
        data, method = scene(draw), a_method(name, draw)
        try:
            made = method.run(data, rng=np.random.default_rng(trial), engine=LocalEngine(workers=1))
        except InputError:  # too few people, or nothing that could be together
            continue
        if made.data.n_rows == 0:
            continue
        published += 1
        for members in sets_of(made):
            trips = Counter(data.owner[members].tolist())
            assert len(trips) >= method.k
            assert max(trips.values()) <= made.claim.owner_share * len(members)
        about_truth = {"original": data} if made.claim.about_truth else {}
        assert VERIFIERS[made.claim.name](made.data, made.claim, **about_truth).holds
    assert published > trials / 4


@pytest.mark.parametrize("name", METHODS)
def test_nobody_dominates_whatever_the_trips(name: str) -> None:
    check_publications(name, 120, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_nobody_dominates_in_many_publications(name: str) -> None:
    check_publications(name, 3000, seed=2)
