"""The axis of values of a chart: where its ticks are, and what they are called."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Axis", "make_axis", "tick_name"]


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, and ticks at every `step`."""

    low: float
    high: float
    step: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return where a value lies between the ends of the axis, as a share."""
        return (value - self.low) / (self.high - self.low)


def make_axis(low: float, high: float, whole: bool) -> Axis:
    """Return an axis with 3 to 7 ticks at 1, 2 or 5 times a power of ten."""
    low = max(low, -1e300)
    high = min(high, 1e300)
    if high - low < 1e-300:
        high = low + 1.0
    wanted = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= wanted * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    ticks = tuple(i * step for i in range(first, last + 1))
    return Axis(low=ticks[0], high=ticks[-1], step=step, ticks=ticks)


def tick_name(tick: float, step: float, percent: bool) -> str:
    scale, unit = (100.0, "\N{NO-BREAK SPACE}%") if percent else (1.0, "")
    tick = tick * scale
    step = step * scale
    size = max(abs(tick), step)
    if tick == 0 and step >= 1e6:
        return f"0{unit}"
    if size >= 1e12 or step < 1e-6:
        return f"{tick:.2g}{unit}"
    for limit, letter in ((1e9, "G"), (1e6, "M")):
        if size >= limit and step >= limit / 100:
            return f"{tick / limit:g}{letter}{unit}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick:,.{digits}f}{unit}"
