"""Attacks on data in pieces: victims are drawn in every piece, and everybody in every piece is compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.model import AttackResult, Engine
from wayveil.run.asked import attacks_of, sensitive_of, sequence_for
from wayveil.run.blocks.adding import add_counts
from wayveil.run.blocks.files import load_data, load_value
from wayveil.run.blocks.part import Job
from wayveil.run.blocks.reading import Pieces

__all__ = ["attack_pieces"]


def attack_pieces(
    job: Job, pieces: Pieces, published: Sequence[Path], engine: Engine
) -> tuple[tuple[tuple[AttackResult, AttackResult], ...], list[str]]:
    """Return the results on raw and published data, and the names of attacks that cannot be asked in pieces."""
    results, without = [], []
    asking: Sequence[Any] = attacks_of(job.recipe)
    for position, attack in enumerate(asking):
        if not hasattr(attack, "ask"):
            without.append(attack.name)
            continue
        engine.progress(f"attack {attack.name}")
        drawn = _victims(attack, pieces)
        asked = [(i, file, n) for i, (file, n) in enumerate(zip(pieces.files, drawn, strict=True)) if n]
        questions = attack.join_questions(engine.map(partial(_ask, job, attack, position), asked))
        before, after = (
            attack.conclude(questions, add_counts(engine.map(partial(_answer, job, attack, questions), list(files))))
            for files in (pieces.files, published)
        )
        results.append((before, after))
    return tuple(results), without


def _victims(attack: Any, pieces: Pieces) -> list[int]:
    """Return how many victims are drawn in each piece: in proportion to its people, at least one in all."""
    people = np.array([len(np.unique(keys.person)) for keys in pieces.keys])
    wanted = min(int(getattr(attack, "victims", people.sum())), int(people.sum()))
    upto = np.rint(np.cumsum(people) * wanted / people.sum()).astype(np.int64)
    found: list[int] = np.diff(upto, prepend=0).tolist()
    return found


def _ask(job: Job, attack: Any, position: int, asked: tuple[int, Path, int]) -> Any:
    number, file, victims = asked
    sensitive = {name: list(values) for name, values in sensitive_of(job.recipe)}
    rng = np.random.default_rng(sequence_for(job.seed, "attacks", position, number))
    return attack.ask(load_data(file, load_value(job.shared)), sensitive=sensitive, rng=rng, victims=victims)


def _answer(job: Job, attack: Any, questions: Any, file: Path) -> Any:
    return attack.answer(questions, load_data(file, load_value(job.shared)))
