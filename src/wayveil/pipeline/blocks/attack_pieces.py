"""Attacks on data in pieces: victims are drawn in every piece, and everybody in every piece is compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.model import AttackResult, Engine, Sensitive
from wayveil.pipeline.blocks.combine import add_counts
from wayveil.pipeline.blocks.input_pieces import Pieces
from wayveil.pipeline.blocks.task_files import load_data, load_value

__all__ = ["attack_pieces"]


def attack_pieces(
    attacks: Sequence[Any],
    pieces: Pieces,
    targets: Sequence[Sequence[Path]],
    *,
    sensitive: Sensitive,
    seed: np.random.SeedSequence,
    engine: Engine,
    positions: Sequence[int] | None = None,
) -> tuple[tuple[tuple[AttackResult, ...], ...], list[str]]:
    """Return, for every attack, the results on each target, and the names of attacks that cannot be asked in pieces.

    A target is data in pieces, such as the raw data and what was published of them.  An attack draws from its position
    in the list; `positions` are others, where it is one of a longer list.
    """
    results = []
    without = []
    # Per attack: draw victims and what is known of them in each piece, put these queries together, and let every piece
    # answer all of them.  What the pieces counted is added, which only additive attacks can do.
    for position, attack in zip(positions or range(len(attacks)), attacks, strict=True):
        if not attack.additive:
            without.append(attack.name)
            continue
        engine.progress(f"attack {attack.name}")
        drawn = _victims(attack, pieces)
        tasks = [(i, file, n) for i, (file, n) in enumerate(zip(pieces.files, drawn, strict=True)) if n]
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, position))
        queries = attack.join_queries(engine.map(partial(_ask, attack, pieces.shared, sensitive, own), tasks))
        answer = partial(_answer, attack, pieces.shared, queries)
        results.append(
            tuple(attack.summarize(queries, add_counts(engine.map(answer, list(files)))) for files in targets)
        )
    return tuple(results), without


def _victims(attack: Any, pieces: Pieces) -> list[int]:
    """Return how many victims are drawn in each piece: in proportion to its people, at least one in all."""
    # Rounding the running sum, not each number: the numbers of victims then add up to exactly what was asked for.
    people = np.array([len(np.unique(keys.person)) for keys in pieces.keys])
    n_victims = min(attack.victims, int(people.sum()))
    upto = np.rint(np.cumsum(people) * n_victims / people.sum()).astype(np.int64)
    victims: list[int] = np.diff(upto, prepend=0).tolist()
    return victims


def _ask(
    attack: Any, shared: Path, sensitive: Sensitive, seed: np.random.SeedSequence, task: tuple[int, Path, int]
) -> Any:
    number, file, victims = task
    values = {name: list(listed) for name, listed in sensitive}
    # Each piece draws from a stream of its own number, so that where it runs does not matter.
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number)))
    piece = load_data(file, load_value(shared))
    return attack.join_queries([replace(attack, victims=victims).queries(piece, sensitive=values, rng=rng)])


def _answer(attack: Any, shared: Path, queries: Any, file: Path) -> Any:
    alone = LocalEngine(workers=1)
    return attack.match(queries, load_data(file, load_value(shared)), truth=None, rng=None, engine=alone)
