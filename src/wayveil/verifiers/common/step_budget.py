"""How much a judge may do before it says that it cannot certify; steps are counted, so every machine agrees."""

from __future__ import annotations

from dataclasses import dataclass

from wayveil.model.budget import spend

__all__ = ["BudgetExceeded", "StepBudget"]


class BudgetExceeded(Exception):
    """There are no steps left; nothing is known of what was not looked at."""


@dataclass
class StepBudget:
    """The steps that are left, and what each of them takes of the limit on all work, in nanoseconds.

    Examples
    --------
    >>> budget = StepBudget(5)
    >>> budget.consume(3)
    >>> budget.left
    2
    """

    left: int
    cost: int = 1

    def consume(self, steps: int) -> None:
        """Take `steps` from what is left; BudgetExceeded when there are not so many."""
        spend(steps * self.cost)
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded
