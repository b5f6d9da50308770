"""Trajectories in which one sequence breaks a promise and everything shorter keeps it, for both KCL verifiers."""

from __future__ import annotations

__all__ = ["base", "common_parts"]


def base(length: int, copies: int) -> list[list[tuple[str, int]]]:
    """`copies` trajectories with the same visits at times 0 ... length - 1."""
    return [[(f"p{t}", t) for t in range(length)] for _ in range(copies)]


def common_parts(length: int, copies: int) -> list[list[tuple[str, int]]]:
    """`copies` trajectories for each way to leave one visit out of `length`: everything shorter is frequent."""
    whole = base(length, 1)[0]
    return [[v for v in whole if v != out] for out in whole for _ in range(copies)]
