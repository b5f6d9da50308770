"""A ladder of settings, finest first: each is tried with the real method, and the first that keeps half is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.io import Loaded
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.input import load, prepare
from wayveil.pipeline.remaining import Remaining, count_published
from wayveil.pipeline.seeds import rng_for
from wayveil.recipe.recipe import make_recipe

__all__ = ["ENOUGH", "Candidate", "Choice", "Trial", "choose_candidate", "climb_ladder", "sample_people", "try_recipe"]

ENOUGH = 0.5
_SAMPLE_ROWS = 20_000
_PROMISING = ENOUGH / 2
_CONFIRMED_ROWS = 100_000
_SEED = 1


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Settings that may be taken: a whole recipe, and its resolution in words."""

    content: Mapping[str, Any]
    words: str


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a candidate left of what was read: shares of rows, trips and people, as in the result of a run."""

    candidate: Candidate
    shares: Mapping[str, float]

    @property
    def kept(self) -> float:
        """The smaller one of the shares of rows and trips; 0 where nothing can be published."""
        return min((share for what, share in self.shares.items() if what != "people"), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the trial as plain values."""
        return {"resolution": self.candidate.words, "shares": dict(self.shares), "kept": self.kept}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The trials in their order, of which the last is the one that was taken."""

    trials: tuple[Trial, ...]

    @property
    def taken(self) -> Trial:
        """The trial whose candidate was taken."""
        return self.trials[-1]

    @property
    def enough(self) -> bool:
        """Whether it keeps at least half."""
        return self.taken.kept >= ENOUGH


def climb_ladder(
    candidates: Sequence[Candidate],
    measure: Callable[[Candidate], Mapping[str, float]],
    progress: Callable[[str], None] = lambda line: None,
) -> Choice:
    """Try candidates, the finest first, and take the first one that keeps enough; the last one where none does.

    Examples
    --------
    >>> hours, days = (Candidate(content={}, words=words) for words in ("by hour", "by day"))
    >>> choice = climb_ladder((hours, days), lambda one: {"visits": 0.2 if one is hours else 0.6, "trips": 0.9})
    >>> choice.taken.candidate.words, choice.taken.kept, choice.enough
    ('by day', 0.6, True)
    """
    trials: list[Trial] = []
    for number, candidate in enumerate(candidates, 1):
        trial = Trial(candidate=candidate, shares=measure(candidate))
        trials.append(trial)
        progress(f"{number} of at most {len(candidates)}: {candidate.words}: {trial.kept:.0%} left")
        if trial.kept >= ENOUGH:
            break
    return Choice(trials=tuple(trials))


def choose_candidate(
    candidates: Sequence[Candidate],
    *,
    rows: int = _SAMPLE_ROWS,
    progress: Callable[[str], None] = lambda line: None,
) -> Choice:
    """Try candidates on a sample of whole people from their file; a file is read once for each way to read it.

    What keeps a quarter of the sample is tried on the whole file, unless that is too large, because a sample misleads
    in both ways: fewer people meet at its places, and its zones, which have so many people each, are larger.
    """
    files: dict[str, tuple[Loaded, Loaded]] = {}

    def measure(candidate: Candidate) -> Mapping[str, float]:
        recipe = make_recipe(dict(candidate.content))
        key = recipe.input.model_dump_json(exclude={"guesses"})
        if key not in files:
            whole = load(recipe.input, attributes=())
            files[key] = whole, sample_people(whole, rows)
        whole, sample = files[key]
        trial = Trial(candidate=candidate, shares=try_recipe(recipe, sample))
        if sample is whole or trial.kept < _PROMISING or whole.data.n_rows > _CONFIRMED_ROWS:
            return trial.shares
        return try_recipe(recipe, whole)

    return climb_ladder(candidates, measure, progress)


def try_recipe(recipe: Any, loaded: Loaded) -> dict[str, float]:
    """Return the shares that steps and method leave of what was read; none where they refuse.

    There are no attacks, no metrics and no files, and so no promise: this is for choosing only.
    """
    try:
        ready = prepare(loaded, recipe.prepare, recipe.input)
        result = recipe.method.run(ready.data, rng=rng_for(_SEED, "method"), engine=LocalEngine(workers=1))
    except InputError:
        return {}
    assert ready.origin is not None
    last = count_published(recipe.method.name, ready.data, result, ready.origin)
    read = ready.stages[1:]  # what reading left out is lost with every setting
    return Remaining(stages=(*read, last)).shares


def sample_people(loaded: Loaded, rows: int) -> Loaded:
    """Return the trajectories of some people, drawn by a fixed seed, with about so many rows; all where there are less.

    People come whole, because it is people who are counted.
    """
    data = loaded.data
    if data.n_rows <= rows:
        return loaded
    per_person = np.bincount(data.owner, weights=data.lengths)
    drawn: IntArray = np.random.default_rng(_SEED).permutation(len(per_person))
    chosen = drawn[np.cumsum(per_person[drawn]) <= rows]
    trajectories = np.flatnonzero(np.isin(data.owner, chosen))
    some = data.take(trajectories)
    numbers = np.unique(some.owner, return_inverse=True)[1].reshape(-1)
    some = replace(some, owner=numbers.astype(data.owner.dtype))
    return replace(loaded, data=some, rows=some.n_rows, ids=loaded.ids.gather(trajectories))
