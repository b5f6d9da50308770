"""How the report says things: names of the code in words, spans of time, dates, odds and exact shares."""

from __future__ import annotations

import math
import re
from datetime import datetime
from fractions import Fraction
from typing import Any

from wayveil.report.text.number_format import format_number, format_percent

__all__ = [
    "adversary_words",
    "as_fraction",
    "bound_words",
    "date_words",
    "duration",
    "exact_text",
    "extent_words",
    "is_share",
    "knowledge_words",
    "measured_words",
    "name_parts",
    "one_in",
    "sentence",
    "words",
]

_SHARE_WORDS = {
    "share", "mean", "max", "median", "risk", "probability", "confidence", "loss", "rate", "lost", "kept", "overlap",
    "identity", "attribute", "inference", "success", "posterior",
}  # fmt: skip
_COUNT_WORDS = {"n", "number", "count", "people", "owners", "visits", "trajectories", "sequences", "matches"}

_UNITS = {"_m": "m", "_m2": "m²"}
_WORDS = {"min": "smallest", "max": "largest", "n": "number of", "mfs": "maximal sequences", "qi": "not sensitive"}


_PHRASES = {
    "max_owner_share": "Largest share of trajectories of one person",
    "max_confidence_trajectories": "Largest confidence, of trajectories",
    "posterior_aggregate": "Probability of a sensitive value where nothing fits",
    "base_rate": "Share of all who have the value",
    "posterior_excess": "By how much that is above both what is allowed and this share",
    "posterior_mean": "The same, knowing who had what was left out: mean",
    "posterior_max": "The same, knowing who had what was left out: largest",
    "share_above": "People of whom a value is told with more than is allowed",
    "suppressed_share": "Known visits that fit nothing",
    "max_share": "Largest share of one place",
    "max_share_trajectories": "Largest share of one place, of trajectories",
    "max_inference": "Surest inference of one place of one person",
    "unsafe": "Places that tell too much",
    "unsafe_people": "People of whom several trajectories tell too much",
    "min_candidates": "Fewest candidates of a person",
    "min_people": "Fewest people behind a trajectory",
    "edges": "Trajectories that fit people",
    "edges_left": "Left after ruling out what cannot be",
    "symmetric": "Whoever fits is fitted",
    "not_contained": "People who do not fit their own trajectory",
    "boxes_untrue": "Boxes that are not true",
    "points_outside": "Points outside of their box",
    "inference_mean": "Mean over people",
    "inference_max": "Person most at risk",
    "inference_share_above": "People with a risk above the promise",
    "max_probability": "Largest probability of a sensitive place",
    "max_probability_people": "Largest probability of a sensitive place, over people",
    "max_probability_trajectories": "Largest probability of a sensitive place, over trajectories",
    "min_place_people": "Fewest people at a sensitive place",
    "dominated_classes": "Classes of which one person owns too much",
    "rare_places": "Sensitive places of too few people",
    "small_classes": "Classes of too few people",
    "nested_classes": "Classes with one sensitive node above another",
    "sensitive_rows": "Stops at sensitive places",
    "generalized_rows": "Stops at a wider place than the true one",
    "suppressed_rows": "Stops left out",
    "false_trajectories": "Trajectories that are not true",
    "victims_missed_share": "Another person is taken instead",
    "victims_published_share": "People with something published",
    "exposed_people_share": "Share of people exposed",
    "exact_share": "People judged exactly",
    "broken": "Places where a route is not connected",
}


def words(name: str) -> str:
    """Return a name of the code in words; a name that already has spaces stays as it is.

    Examples
    --------
    >>> words("min_support"), words("visits_kept_share"), words("rows read"), words("sha256 of a file")
    ('Smallest support', 'Share of visits kept', 'Rows read', 'sha256 of a file')
    >>> words("max_distance_m")
    'Largest distance (m)'
    """
    if name in _PHRASES:
        return _PHRASES[name]
    for end, unit in _UNITS.items():
        if name.endswith(end) and " " not in name:
            return f"{words(name.removesuffix(end))} ({unit})"
    text = name if " " in name else " ".join(_WORDS.get(token, token) for token in name.split("_") if token)
    if text.endswith(" share") and " " not in name:
        text = f"share of {text.removesuffix(' share')}"
    return text[:1].upper() + text[1:] if text.split(" ")[0].isalpha() else text


def sentence(text: str) -> str:
    """Return a text as a sentence; an adversary may come without a subject, as in "knows 3 visits"."""
    text = text.strip()
    if text[:1].islower():
        text = f"An attacker who {text}" if text.startswith(("knows ", "sees ", "has ")) else text[0].upper() + text[1:]
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def duration(seconds: float) -> str:
    """Return a time span for people.

    Examples
    --------
    >>> [duration(s) for s in (0.0004, 0.0426, 3.21, 75, 7322)]
    ['< 1 ms', '43 ms', '3.2 s', '1 min 15 s', '2 h 2 min']
    """
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def date_words(text: str) -> str:
    """Return an ISO 8601 time for people; anything else as it is.

    Examples
    --------
    >>> date_words("2026-03-01T14:05:09+00:00"), date_words("yesterday")
    ('1 March 2026, 14:05 UTC', 'yesterday')
    """
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = (when.tzname() or "").removesuffix("+00:00")
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M} {zone}".rstrip()


# Not strftime("%B"): that speaks the language of the machine.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def adversary_words(raw: str, published: str) -> str:
    """Return who attacks raw and published data, and what is different about the published ones, if anything.

    Examples
    --------
    >>> adversary_words("knows all", "knows all; finds nothing")
    'knows all; in the published data: finds nothing'
    """
    more = published.removeprefix(raw).removeprefix("; ")
    return f"{raw}; in the published data: {more}" if more else raw


def as_fraction(value: Any) -> Fraction | None:
    """Return a measured or promised value as an exact number: "1/3", "0.5", 3 and 0.25 alike; None if it is not one."""
    if value is None or isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    try:
        return Fraction(value) if isinstance(value, int) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def knowledge_words(name: str, what: str = "position") -> tuple[str, str]:
    """Return the name of a number without how much was known, and that in words; `what` is what a sample is.

    Examples
    --------
    >>> knowledge_words("identity_mean_with_2_samples"), knowledge_words("unique_share_without_times")
    (('identity_mean', ', 2 positions known'), ('unique_share', ', times not known'))
    >>> knowledge_words("attribute_mean_with_1_place"), knowledge_words("identity_mean")
    (('attribute_mean', ', 1 place known'), ('identity_mean', ''))
    """
    found = re.fullmatch(r"(.+)_with_(\d+)_(sample|place|point|visit|road)s?", name)
    if found is not None:
        thing = what if found[3] == "sample" else found[3]
        return found[1], f", {found[2]} {thing}{'' if found[2] == '1' else 's'} known"
    if name.endswith("_without_times"):
        return name.removesuffix("_without_times"), ", times not known"
    return name, ""


def exact_text(value: Any) -> str | None:
    """Return a number with all its digits, as scores.json has it; None for what is none there.

    Examples
    --------
    >>> exact_text(1 / 3), exact_text(3), exact_text("1/3"), exact_text(None), exact_text(float("nan"))
    ('0.3333333333333333', '3', None, None, None)
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else repr(value)


def extent_words(victims: int, *, sampled: bool) -> str:
    """Return how many people were attacked, and whether what was found is exact.

    Examples
    --------
    >>> extent_words(2000, sampled=True), extent_words(1, sampled=False)
    ('an estimate from random draws, 2,000 people', 'exact, for all 1 person')
    """
    people = f"{format_number(victims)} {'person' if victims == 1 else 'people'}"
    return f"an estimate from random draws, {people}" if sampled else f"exact, for all {people}"


def measured_words(value: Fraction | None, share: bool, bound: Fraction | None = None) -> tuple[str, str]:
    """Return a value and, if its digits are not exact, its fraction; it never looks equal to a bound that it is not.

    Examples
    --------
    >>> measured_words(Fraction(1, 2), True)[0].replace("\\xa0", " "), measured_words(Fraction(1, 3), True)[1]
    ('50 %', '1/3')
    >>> measured_words(Fraction(500004, 1000000), True, bound=Fraction(1, 2))[0].replace("\\xa0", " ")
    '50.0004 %'
    """
    if value is None:
        return "–", ""
    if not share:
        return format_number(int(value) if value.denominator == 1 else float(value)), ""
    text = ""
    for digits in (4, 6, 9, 12):
        text = f"{float(value * 100):.{digits}g}"
        if bound is None or value == bound or text != f"{float(bound * 100):.{digits}g}":
            break
    short = value.denominator < 10**6 and Fraction(text) != value * 100
    return f"{text}\N{NO-BREAK SPACE}%", f"{value.numerator}/{value.denominator}" if short else ""


def one_in(share: float | None) -> str:
    """Return odds beside a probability, where they say more than the percentage.

    Examples
    --------
    >>> [one_in(share) for share in (1 / 12, 0.034, 0.5, 0.41, 1.0, 0.0)]
    ['1 in 12', 'about 1 in 29', '1 in 2', '', '', '']
    """
    if share is None or not 1e-9 < share <= 0.5:
        return ""
    exact = abs(1 / share - round(1 / share)) < 1e-6
    return f"{'' if exact else 'about '}1 in {round(1 / share):,}" if exact or share < 0.25 else ""


def bound_words(bound: float, *, odds: bool) -> str:
    """Return a threshold for people: in percent, or with `odds` as 1/30 where it is that.

    Examples
    --------
    >>> [bound_words(bound, odds=True).replace("\\xa0", " ") for bound in (1 / 30, 0.1, 0.6, 0.123, 1)]
    ['1/30', '1/10', '60 %', '12.3 %', '100 %']
    """
    near = Fraction(bound).limit_denominator(10**6)
    if odds and near.numerator == 1 and near.denominator > 1 and abs(near - bound) < 1e-12:
        return f"1/{near.denominator:,}"
    return format_percent(bound)


def is_share(name: str, *values: float | None) -> bool:
    """Whether values of this name are told in percent.

    Examples
    --------
    >>> is_share("unique_share", 0.5), is_share("mean_visits", 0.5), is_share("mean_length", 3.5)
    (True, False, False)
    """
    parts = set(name_parts(name))
    inside = all(value is None or 0 <= value <= 1 for value in values) and any(v is not None for v in values)
    return inside and bool(parts & _SHARE_WORDS) and (bool({"share", "confidence"} & parts) or not parts & _COUNT_WORDS)


def name_parts(name: str) -> list[str]:
    """Return the parts of a name of the code, in small letters."""
    return re.split(r"[_\s]+", name.lower())
