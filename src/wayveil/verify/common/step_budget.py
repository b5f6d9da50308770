"""How much a judge may do before it says that it cannot certify; steps are counted, so every machine agrees."""

from __future__ import annotations

from dataclasses import dataclass

from wayveil.model.budget import spend

__all__ = ["LimitReached", "Work"]


class LimitReached(Exception):
    """The work limit is reached; nothing is known of what is left."""


@dataclass
class Work:
    """The steps that are left, and what each of them takes of the limit on all work, in nanoseconds.

    Examples
    --------
    >>> work = Work(5)
    >>> work.spend(3)
    >>> work.left
    2
    """

    left: int
    cost: int = 1

    def spend(self, steps: int) -> None:
        """Take `steps` from what is left; raise LimitReached when there are not so many."""
        spend(steps * self.cost)
        self.left -= steps
        if self.left < 0:
            raise LimitReached
