"""Which settings are worth a look: those that no other beats in risk and in loss, drawn and put into one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wayveil.report.charts.axes import make_axis, tick_name
from wayveil.report.charts.svg import FONT, join, tag, width_of
from wayveil.report.text.number_format import clean, format_percent, format_value

__all__ = ["Candidate", "advice", "choose", "dominated", "draw_frontier"]

ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10
WIDTH = 400.0
HEIGHT = 280.0
TOP = 12.0
BOTTOM = 24.0
RIGHT = 14.0
_RADIUS = 4.5


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A verified setting with both numbers: its place in the table, its name, and how risky and lossy it is."""

    number: int
    name: str
    risk: float
    loss: float


def dominated(candidates: Sequence[Candidate]) -> frozenset[int]:
    """Return the numbers of settings that another one beats: not worse in risk and loss, and better in one of them.

    Examples
    --------
    >>> pairs = [(0.1, 0.5), (0.2, 0.5), (0.3, 0.1)]
    >>> candidates = [Candidate(number=i, name="", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs)]
    >>> sorted(dominated(candidates))
    [1]
    """
    return frozenset(
        candidate.number
        for candidate in candidates
        for other in candidates
        if other.risk <= candidate.risk
        and other.loss <= candidate.loss
        and (other.risk, other.loss) != (candidate.risk, candidate.loss)
    )


def choose(candidates: Sequence[Candidate], limit: float) -> Candidate | None:
    """Return the setting with the least loss among those with a risk of at most `limit`, of equal ones the safest."""
    within = [candidate for candidate in candidates if candidate.risk <= limit + ROUNDING]
    return min(within, key=lambda candidate: (candidate.loss, candidate.risk, candidate.number), default=None)


def advice(candidates: Sequence[Candidate], limit: float | None, *, settings: int, percent: bool) -> str:
    """Return one sentence that says which setting to take."""

    def told(candidate: Candidate) -> str:
        loss = format_value(candidate.loss, percent=percent)
        return f"setting {candidate.number}, {candidate.name} (risk {format_percent(candidate.risk)}, loss {loss})"

    if not candidates:
        return f"No setting can be recommended: of {settings:,}, none was published and measured."
    safest = min(candidates, key=lambda candidate: (candidate.risk, candidate.loss, candidate.number))
    if limit is None:
        cheapest = min(candidates, key=lambda candidate: (candidate.loss, candidate.risk, candidate.number))
        if cheapest == safest:
            return f"Take {told(safest)}: no other has less risk or less loss."
        return (
            f"The choice is between {told(safest)} and {told(cheapest)}: give the risk that you accept as --max-risk."
        )
    chosen = choose(candidates, limit)
    if chosen is None:
        return f"No setting has a risk of at most {format_percent(limit)}; the nearest is {told(safest)}."
    within = sum(candidate.risk <= limit + ROUNDING for candidate in candidates)
    only = "it is the only one" if within == 1 else f"it loses least of the {within:,}"
    return f"For a risk of at most {format_percent(limit)} take {told(chosen)}: {only} within the limit."


def draw_frontier(
    candidates: Sequence[Candidate],
    *,
    limit: float | None,
    chosen: int | None,
    risk_name: str,
    loss_name: str,
    percent: bool,
) -> Markup:
    """Return risk over loss as a <figure>; dominated settings are grey, the others joined by a line."""
    if not candidates:
        return tag("figure", tag("p", "No setting was published, so there is nothing to draw.", class_="empty"),
                   class_="chart frontier")  # fmt: skip
    plot = _Plot(candidates, limit, percent)
    beaten = dominated(candidates)
    best = sorted(
        (candidate for candidate in candidates if candidate.number not in beaten), key=lambda candidate: candidate.loss
    )
    body = plot.frame()
    if limit is not None:
        y = plot.y(limit)
        body.append(tag("line", x1=plot.left, x2=WIDTH - RIGHT, y1=y, y2=y, class_="limit"))
        body.append(plot.text(f"limit {format_percent(limit)}", WIDTH - RIGHT, y - 4, "end", "limit-name"))
    if len(best) > 1:
        body.append(tag("polyline", points=_steps(plot, best), class_="front"))
    names = _Names(plot, candidates)
    for candidate in sorted(candidates, key=lambda candidate: candidate.number not in beaten):
        kind = "beaten" if candidate.number in beaten else "taken" if candidate.number == chosen else "best"
        loss = format_value(candidate.loss, percent=percent)
        hint = tag(
            "title", f"{candidate.number}: {clean(candidate.name)}; risk {format_percent(candidate.risk)}, loss {loss}"
        )
        radius = _RADIUS + 2 if kind == "taken" else _RADIUS
        body.append(
            tag("circle", hint, cx=plot.x(candidate.loss), cy=plot.y(candidate.risk), r=radius, class_=f"spot {kind}")
        )
    # The names of the best are placed first: where there is no room, those of dominated settings are left out.
    for candidate in sorted(
        candidates, key=lambda candidate: (candidate.number != chosen, candidate.number in beaten, candidate.number)
    ):
        body += names.place(candidate, "beaten" if candidate.number in beaten else "best")
    spoken = f"Risk over loss of {len(candidates)} settings. The numbers are in the table."
    svg = tag("svg", join(body), viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=spoken)
    parts = [
        tag("p", f"risk: {clean(risk_name)}; lower is safer", class_="axis above"),
        svg,
        tag("p", f"loss: {clean(loss_name)}; further left is better", class_="axis below"),
    ]
    return tag("figure", join(parts), class_="chart frontier")


class _Plot:
    """The two axes, from 0 on, and where a value lies on them."""

    def __init__(self, candidates: Sequence[Candidate], limit: float | None, percent: bool) -> None:
        losses = [candidate.loss for candidate in candidates]
        self.across = make_axis(min(0.0, *losses), max(1e-6, *losses), False)
        self.up = make_axis(0.0, max(1e-6, limit or 0.0, *(candidate.risk for candidate in candidates)), False)
        self.across_names = [tick_name(tick, self.across.step, percent) for tick in self.across.ticks]
        self.up_names = [tick_name(tick, self.up.step, True) for tick in self.up.ticks]
        self.left = max(width_of(name) for name in self.up_names) + 8

    def x(self, loss: float) -> float:
        return self.left + (WIDTH - RIGHT - self.left) * self.across.at(loss)

    def y(self, risk: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - self.up.at(risk))

    def frame(self) -> list[Markup]:
        """Return the lines at ticks, and what they are called."""
        body = []
        for tick, name in zip(self.up.ticks, self.up_names, strict=True):
            y = self.y(tick)
            kind = "zero" if tick == 0 else "level"
            body.append(tag("line", x1=self.left, x2=WIDTH - RIGHT, y1=y, y2=y, class_=kind))
            body.append(self.text(name, self.left - 6, y + 4, "end", "tick"))
        for tick, name in zip(self.across.ticks, self.across_names, strict=True):
            x = self.x(tick)
            kind = "zero" if tick == 0 else "level"
            body.append(tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_=kind))
            half = width_of(name) / 2
            body.append(self.text(name, min(x, WIDTH - half), HEIGHT - 8, "middle", "tick"))
        return body

    @staticmethod
    def text(text: str, x: float, y: float, anchor: str, kind: str) -> Markup:
        return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


class _Names:
    """Puts the number of a setting beside its mark, where nothing else is."""

    def __init__(self, plot: _Plot, candidates: Sequence[Candidate]) -> None:
        self.plot = plot
        self.taken = [
            (plot.x(s.loss) - 4, plot.y(s.risk) - 4, plot.x(s.loss) + 4, plot.y(s.risk) + 4) for s in candidates
        ]

    def place(self, candidate: Candidate, kind: str) -> list[Markup]:
        wide = width_of(str(candidate.number))
        name = str(candidate.number)
        x = self.plot.x(candidate.loss)
        y = self.plot.y(candidate.risk)
        for dx, dy in ((8, -4), (-8 - wide, -4), (8, 12), (-8 - wide, 12), (-wide / 2, -9), (-wide / 2, 18)):
            box = (x + dx, y + dy - FONT + 3, x + dx + wide, y + dy)
            inside = box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= HEIGHT
            if inside and not any(_meet(box, other) for other in self.taken):
                self.taken.append(box)
                return [self.plot.text(name, x + dx, y + dy, "start", f"spot-name {kind}")]
        return []


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _steps(plot: _Plot, best: Sequence[Candidate]) -> str:
    """Return the corners of the frontier: what is above and right of it is beaten."""
    corners = []
    for one, next_one in zip(best, [*best[1:], best[-1]], strict=True):
        corners += [(one.loss, one.risk), (next_one.loss, one.risk)]
    return " ".join(f"{plot.x(loss):.1f},{plot.y(risk):.1f}" for loss, risk in corners)
