"""One claim about data that nobody holds as a whole: judged in shares of the sequences, by when these begin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model import KCL, Verdict, Visits, concat
from wayveil.pipeline.folder.manifest import Manifest
from wayveil.pipeline.input import load_parts, load_published
from wayveil.verify import check_kcl, cut_share, join_shares, judge_share

__all__ = ["SHARE_ROWS", "count_pairs", "count_times", "judge_together", "spans_of_time"]

SHARE_ROWS = 2_000_000
"""About so many visits begin the sequences of a share."""


def count_times(tables: Iterable[Visits]) -> dict[int, int]:
    """Return how many visits there are at every time."""
    found: dict[int, int] = {}
    for data in tables:
        for t, n in zip(*(values.tolist() for values in np.unique(data.t, return_counts=True)), strict=True):
            found[t] = found.get(t, 0) + n
    return found


def count_pairs(data: Visits) -> int:
    """Return how many pairs of visits trajectories have: a share that lacks visits shows in their number."""
    lengths = np.diff(data.offsets)
    return int((lengths * (lengths - 1) // 2).sum())


def spans_of_time(visits: dict[int, int], *, rows: int) -> list[tuple[int, int]]:
    """Cut all times into spans ``first <= t < until`` of about `rows` visits, at least one time in each.

    Examples
    --------
    >>> spans_of_time({5: 3, 1: 2, 9: 1}, rows=3)
    [(1, 5), (5, 9), (9, 10)]
    """
    spans: list[tuple[int, int]] = []
    first, held, last = None, 0, 0
    for t in sorted(visits):
        if first is None:
            first = t
        elif held + visits[t] > rows:
            spans.append((first, t))
            first, held = t, 0
        held, last = held + visits[t], t
    return spans if first is None else [*spans, (first, last + 1)]


def judge_together(folder: Path, manifest: Manifest) -> Verdict:
    """Judge the claim about all parts of a public folder together; no more than a share of it is held at once."""
    claim = manifest.guarantee
    if not isinstance(claim, KCL):
        raise InputError(f"Parts that keep {claim.name} only together cannot be judged.")
    if isinstance(claim.l, str):
        whole: Any = load_published(folder, manifest).data
        return check_kcl(whole, claim)
    visits = count_times(_parts(folder, manifest))
    shares = []
    for first, until in spans_of_time(visits, rows=SHARE_ROWS):
        some = [cut_share(data, first=first, until=until) for data in _parts(folder, manifest)]
        shares.append(judge_share(concat(some), claim, first=first, until=until))
    sizes = [
        (int((np.diff(data.offsets) > 0).sum()), data.n_visits, count_pairs(data)) for data in _parts(folder, manifest)
    ]
    return join_shares(
        shares,
        claim,
        owners=manifest.table.owners,
        trajectories=sum(n for n, _, _ in sizes),
        visits=sum(n for _, n, _ in sizes),
        pairs=sum(n for _, _, n in sizes),
    )


def _parts(folder: Path, manifest: Manifest) -> Iterable[Visits]:
    begin = 0
    for part in load_parts(folder, manifest):
        data: Any = part.data
        yield replace(data, owner=data.owner + begin)
        begin += len(data)
