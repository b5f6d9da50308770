"""The kinds of places of `errands`: a taxonomy that is made up, with a number of places below its kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from wayveil.errors import ParameterError
from wayveil.model import Taxonomy
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["Kind", "kinds_of", "taxonomy_of"]

_MOST_KINDS = 1_000_000

# Kinds with their share of the leaves, or with the kinds below them; a star means sensitive.
_Kinds = dict[str, "float | _Kinds"]
_MILANO: _Kinds = {
    "Station": 0.12,
    "Entertainment": {"Restaurant": 0.34, "Disco": 0.1},
    "Park": 0.14,
    "Health*": {"Clinic": 0.2, "Hospital": 0.1},
}
_PISA: _Kinds = {
    "Transport": {"Station": 0.04, "Airport": 0.01, "Parking": {"Car park": 0.04, "Bus park": 0.02}},
    "Entertainment": {
        "Food": {"Restaurant": 0.12, "Pizzeria": 0.07, "Bar": 0.08},
        "Nightlife": {"Disco": 0.03, "Pub": 0.04},
        "Culture": {"Museum": 0.03, "Theatre": 0.02, "Cinema": 0.02},
    },
    "Shopping": {"Daily": {"Supermarket": 0.06, "Market": 0.03}, "Clothes": 0.05, "Mall": 0.02},
    "Outdoors": {"Park": 0.04, "Beach": 0.03, "Sports": {"Football": 0.02, "Tennis": 0.02, "Pool": 0.01}},
    "Services": {"School": 0.04, "Bank": 0.03, "Office": 0.03},
    "Health*": {"Clinic": {"General": 0.03, "Cancer": 0.01, "Fertility": 0.01}, "Hospital": 0.02},
    "Worship*": {"Church": 0.02, "Mosque": 0.005, "Synagogue": 0.005},
}
_PRESETS = {"milano": _MILANO, "pisa": _PISA}
_DEPTH = 3  # of a tree without a preset
_BRANCHING = 4


class Kind(NamedTuple):
    """A kind of places, the kind above it, and its share of all places: 0 where there are kinds below."""

    name: str
    above: str
    share: float
    sensitive: bool


def kinds_of(preset: str, depth: int | str, branching: int | str) -> Iterator[Kind]:
    """Yield the kinds, every one before those below it; the parameters are those of `Errands`.

    Examples
    --------
    >>> [kind.name for kind in kinds_of("none", 2, 3)]
    ['Kind 1', 'Kind 2', 'Kind 3']
    """
    if preset in _PRESETS and depth == branching == "auto":
        yield from _named(_PRESETS[preset], "Place")
        return
    depth = _DEPTH if depth == "auto" else int(depth)
    branching = _BRANCHING if branching == "auto" else int(branching)
    if branching ** (depth - 1) > _MOST_KINDS:
        raise ParameterError(
            f"errands: depth and branching would make more than {_MOST_KINDS:,} kinds, got {depth} and {branching}."
        )
    level = [("Place", "")]
    for step in range(1, depth):
        below = [(f"{number}{i}" if step == 1 else f"{number}.{i}", name)
                 for name, number in level for i in range(1, branching + 1)]  # fmt: skip
        for number, above in below:
            share = branching ** -(depth - 1.0) if step == depth - 1 else 0.0
            # Sensitivity is inherited, so that of the kinds below the root is enough.
            yield Kind(f"Kind {number}", above, share, step == 1 and int(number) <= max(1, branching // 4))
        level = [(f"Kind {number}", number) for number, _ in below]


def taxonomy_of(kinds: Sequence[Kind], places: int) -> Taxonomy:
    """Return the tree of the kinds, with `places` leaves below them.

    Examples
    --------
    >>> taxonomy_of(list(kinds_of("none", 2, 2)), 3).nodes
    ('Place', 'Kind 1', 'Kind 2', 'Kind 1-001', 'Kind 2-001', 'Kind 2-002')
    """
    counts = _shared(places, np.array([kind.share for kind in kinds]))
    width = max(3, len(str(int(counts.max()))))
    parents = [("Place", ""), *((kind.name, kind.above) for kind in kinds)]
    for kind, many in zip(kinds, counts.tolist(), strict=True):
        parents += [(f"{kind.name}-{i:0{width}d}", kind.name) for i in range(1, many + 1)]
    return Taxonomy.from_parents(parents, sensitive=[kind.name for kind in kinds if kind.sensitive])


def _named(kinds: _Kinds, above: str) -> Iterator[Kind]:
    for starred, below in kinds.items():
        name = starred.rstrip("*")
        yield Kind(name, above, 0.0 if isinstance(below, dict) else below, name != starred)
        if isinstance(below, dict):
            yield from _named(below, name)


def _shared(leaves: int, shares: FloatArray) -> IntArray:
    """Return numbers of leaves that sum to `leaves`, at least one for every share that is not 0."""
    # One leaf for each kind, and the rest by share; rounding the running sum makes the numbers add up.
    counts = (shares > 0).astype(np.int64)
    room = leaves - int(counts.sum())
    edges = np.floor(np.cumsum(shares) / shares.sum() * room + 1e-9).astype(np.int64)
    return counts + np.diff(np.append(0, edges))
