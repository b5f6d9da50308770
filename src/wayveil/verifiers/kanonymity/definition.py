"""Trajectory k-anonymity, word for word: equal sequences of boxes, and people who were in them."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

from wayveil.model import Boxes, KAnonymity, Points
from wayveil.verifiers.common.both_ways import find_break, find_break_of_wishes, list_people, list_published

__all__ = ["find_break_of_kanonymity"]

ROUNDING_M = 1e-3
"""Positions between two samples are computed: a millimetre is no distance."""

DEGREES_M = 1e-6
"""Degrees become metres by arithmetic: recorded positions may be a micrometre beyond a side then."""

Box = tuple[int, int, float, float, float, float]
"""t_min, t_max, x_min, x_max, y_min, y_max."""


def find_break_of_kanonymity(
    published: Boxes | Points, claim: KAnonymity, *, original: Points | None = None, boxes: Boxes | None = None
) -> str:
    """Return how the publication breaks k-anonymity, "" if it keeps it.

    Examples
    --------
    >>> data = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)]] * 2)
    >>> find_break_of_kanonymity(data, KAnonymity(k=2))
    ''
    >>> truth = Points.from_records([[(0, 1.0, 0.5)], [(0, 3.0, 0.5)]])
    >>> find_break_of_kanonymity(data, KAnonymity(k=2), original=truth)
    'A trajectory was not in its boxes.'
    """
    people = list_people(published)
    shown = published if boxes is None else boxes
    slack = DEGREES_M if shown.frame.degrees else 0.0
    # Whoever sees the same boxes, or points where there are none, cannot tell the people behind them apart.
    looking_alike = defaultdict(list)
    for i in list_published(published):
        looking_alike[tuple(shown.record(i))].append(i)
    if not looking_alike:
        return "Nothing is published."
    sets = [[people[i] for i in members] for members in looking_alike.values()]
    sentence = find_break(sets, claim.k, claim.owner_share)
    if original is not None and not sentence:
        until = [max((int(box[1]) for box in shown.record(i)), default=0) for i in range(len(shown))]
        in_time = None if shown.as_boxes() is None else until
        sentence = find_break_of_wishes(looking_alike.values(), people, claim, original, in_time)
    if sentence:
        return sentence
    # A box nobody was in would make people look alike for nothing: it must be true.
    shown_boxes = shown.as_boxes()
    points = published.as_points()
    for i in list_published(published):
        truth = None if original is None else original.record(i)
        if shown_boxes is not None and truth is not None and not was_in(shown_boxes.record(i), truth, slack):
            return "A trajectory was not in its boxes."
        if boxes is not None and points is not None:
            pairs = zip(boxes.record(i), points.record(i), strict=True)
            if not all(contains(box, t, x, y, slack) for box, (t, x, y) in pairs):
                return "A published point is not in its box."
    return ""


def was_in(boxes: list[Box], truth: list[tuple[int, float, float]], slack: float) -> bool:
    """Tell whether somebody was in every box in its time: a later sample for each, or on the way between two."""
    last_taken = -1
    for box in boxes:
        in_time = [n for n, (t, _, _) in enumerate(truth) if box[0] <= t <= box[1]]
        if in_time:
            inside = [n for n in in_time if n > last_taken and contains(box, *truth[n], slack)]
            if not inside:
                return False
            last_taken = inside[0]
            continue
        around = [(before, after) for before, after in pairwise(truth) if before[0] < box[0] and box[1] < after[0]]
        if not around:
            return False
        (t_0, x_0, y_0), (t_1, x_1, y_1) = around[0]
        for t in box[:2]:
            part = Fraction(t - t_0, t_1 - t_0)
            x = float(Fraction(x_0) + (Fraction(x_1) - Fraction(x_0)) * part)
            y = float(Fraction(y_0) + (Fraction(y_1) - Fraction(y_0)) * part)
            if not contains(box, t, x, y, ROUNDING_M):
                return False
    return True


def contains(box: Box, t: int, x: float, y: float, slack: float) -> bool:
    """Tell whether a position is in a box, in time and space, or beyond a side of it by no more than the slack."""
    t_min, t_max, x_min, x_max, y_min, y_max = box
    in_space = x_min - slack <= x <= x_max + slack and y_min - slack <= y <= y_max + slack
    return t_min <= t <= t_max and in_space
