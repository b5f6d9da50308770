"""Compile kernels before they are needed, the slowest one in a process of its own.

numba compiles under one lock, so threads do not help, but two processes that share a cache folder do.  Each job calls a
kernel with the smallest input of the types that its users pass; a file in the cache folder says that it is done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.kernels.common.code_cache import cache_folder

__all__ = ["JOBS", "is_warm", "mark_warm", "start_warming", "warm"]


def is_warm(name: str) -> bool:
    """Return whether a job was done with these kernels, or whether doing it would be of no use."""
    folder = cache_folder()
    return folder is None or Path(folder, f"{name}.warm").exists()


def mark_warm(name: str) -> None:
    """Note that a job is done."""
    folder = cache_folder()
    if folder is not None:
        Path(folder, f"{name}.warm").touch()


def warm(name: str) -> None:
    """Do a job here."""
    JOBS[name]()
    mark_warm(name)


def start_warming(names: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Do jobs in another process; wait for it before the kernels are used.  None where there is nothing to do."""
    cold = [name for name in names if not is_warm(name)]
    if not cold:
        return None
    # a process of its own, not a fork: threads of this one may hold numba's lock
    code = f"from wayveil.kernels.common.warm import warm\nfor name in {cold!r}: warm(name)"
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen([sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:
        return None


def _kcl_find() -> None:
    from wayveil.kernels.kcl.violating_sequences import find_sequences

    find_sequences(_one_record(), 1, 1, np.zeros(2, np.int64))


def _kcl_suppress() -> None:
    from wayveil.kernels.common.sequence_table import new_table
    from wayveil.kernels.kcl.greedy_suppression import suppress
    from wayveil.kernels.kcl.projected_lists import Privacy
    from wayveil.kernels.kcl.violating_sequences import Common, Violating

    def some() -> np.ndarray:
        return np.zeros(2, np.int64)

    violating = Violating(new_table(1, 1), some(), some())
    common = Common(new_table(1, 1), some(), some(), some(), some(), some())
    suppress(_one_record(), some(), violating, common, Privacy(1, 1, some()), True, None, None)


def _kcl_restore() -> None:
    from wayveil.kernels.kcl.restoration import Bounds, restore, restore_singly

    bounds = Bounds(1, np.zeros(2, np.int64), np.zeros(2, np.int64))
    restore(_one_record(), np.zeros(1, np.int64), 1, bounds, False)
    restore_singly(_one_record(), np.zeros(1, np.int64), 1, bounds)


def _kcl_restore_many() -> None:
    from wayveil.kernels.kcl.restoration import Bounds, restore

    record = _one_record()
    small = {name: getattr(record, name).astype(np.int32) for name in ("items", "owner", "sensitive")}
    bounds = Bounds(1, np.zeros(2, np.int64), np.zeros(2, np.int64))
    many = record._replace(alive=np.ones(1, np.int8), **small)
    restore(many, np.zeros(1, np.int64), 1, bounds, False)


def _kcl_count() -> None:
    from wayveil.kernels.kcl.candidate_counts import (
        Counts,
        count_candidates,
        fill_table,
        judge_candidates,
        locate_threats,
    )
    from wayveil.kernels.kcl.projected_lists import Privacy, inverted

    zero = np.zeros(1, np.int64)
    one = np.ones(1, np.int64)
    records = _one_record()
    table = fill_table(np.zeros(0, np.int64), 1)
    count_candidates(records, inverted(records), table, 1, 0, 1)
    judge_candidates(Counts(zero, one, zero), 1, table, one, Privacy(1, 1, np.zeros(2, np.int64)))
    locate_threats(records, table, one, table, 1)


def _one_record() -> Any:
    from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Records

    return Records(
        offsets=np.array([0, 1]),
        items=np.zeros(1, np.int64),
        alive=np.ones(1, np.int64),
        owner=np.zeros(1, np.int64),
        owner_first=np.array([0, 1]),
        sensitive=np.full(1, -1, np.int64),
        n_items=1,
        n_values=1,
        n_attributes=1,
        most_common=NO_LIMIT,
    )


JOBS: dict[str, Callable[[], None]] = {
    "kcl_count": _kcl_count,
    "kcl_restore_many": _kcl_restore_many,
    "kcl_find": _kcl_find,
    "kcl_suppress": _kcl_suppress,
    "kcl_restore": _kcl_restore,
}
