"""Synthetic data from a seed, as files."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.commands.table_files import check_file, write_beside, write_data, write_file
from wayveil.model import Data
from wayveil.recipe import catalog

__all__ = ["Generated", "generate"]


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A data set that was written, with the seed that makes it again."""

    path: Path
    data: Data
    seed: int
    sensitive: Mapping[str, tuple[str, ...]]


def generate(
    name: str, given: Mapping[str, Any], out: Path, *, seed: int | None = None, overwrite: bool = False
) -> Generated:
    """Write a synthetic data set; the same parameters and seed give the same bytes."""
    workload = catalog.build("workload", name, given)
    seed = secrets.randbits(128) if seed is None else seed
    check_file(out, overwrite=overwrite)
    data = workload.generate(rng=np.random.default_rng(seed))
    write_beside(data, out, overwrite=overwrite, private=False)
    write_file(out, lambda path: write_data(data, path), private=False)  # of nobody
    return Generated(path=out, data=data, seed=seed, sensitive=workload.sensitive)
