"""Methods as their papers print them where that is unsound or useless: to study, never to publish.

The product has no option for these.  They are made of its methods, under names of their own, so that a study, a test
or a recipe (through entry points, see docs/research/plugins.md) can still run what was printed, and see the verifier
refuse it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from printed_validity import is_valid_as_printed
from wayveil.kernels.kcl.pattern_loss import Patterns
from wayveil.kernels.routes.cluster_candidates import LITERAL
from wayveil.methods import Icba, Kcl
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.methods.kcl.kcl_strategies import Instance, Sequences, Solution, suppress_greedily
from wayveil.methods.routes.road_parts import Parts

__all__ = ["PrintedIcba", "PrintedKcl"]


@dataclass(frozen=True, kw_only=True)
class PrintedSolver(KclSolver):
    """Algorithm 1 of Chen et al. (2013) with the validity test of Procedure 2: one strategy, people counted only."""

    @property
    def several(self) -> bool:
        return False

    def counts_records(self, trajectories: int, people: int) -> bool:
        return False

    def needs_everybody(self, trajectories: int, people: int) -> bool:
        return True

    def suppress_greedily(
        self, instance: Instance, sequences: Sequences, spared: Patterns | None, *, local: bool
    ) -> Solution:
        return suppress_greedily(instance, sequences, spared, local=local, validity=is_valid_as_printed)


@dataclass(frozen=True, kw_only=True)
class PrintedKcl(Kcl):
    """`kcl` with the validity test as printed, which is unsound from three known visits on."""

    name: ClassVar[str] = "kcl_printed"
    summary: ClassVar[str] = "(K,C)_L-privacy with the paper's own validity test, which is unsound: for study"

    @property
    def solver(self) -> KclSolver:
        return PrintedSolver(params=self)

    @property
    def kernels(self) -> tuple[str, ...]:
        return ("kcl_find",)


@dataclass(frozen=True, kw_only=True)
class PrintedIcba(Icba):
    """`icba` with the local error of Equation 5 of Gurung et al. (2014): the mean over all roads of a cluster.

    It is sound, but a cluster with many roads is near to everything by it and takes in nearly all routes.
    """

    name: ClassVar[str] = "icba_printed"
    summary: ClassVar[str] = "strict k-anonymity of routes with the paper's own local error: for study"
    error: ClassVar[int] = LITERAL

    def _bound_again(self, bound: float) -> float:
        return bound

    def _bounds(self, parts: Parts) -> list[float]:
        return [float(self.rho_c)] if not isinstance(self.rho_c, str) else [self.k * self.k / 4]
