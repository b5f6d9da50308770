"""Parameters, declared once: checks, command-line options, recipe keys and documentation are read from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal

from wayveil.errors import ParameterError, check_choice, check_fraction, check_int, check_number
from wayveil.model.normal import normal_text

__all__ = [
    "Parameter",
    "ParameterKind",
    "Sensitive",
    "check_parameters",
    "duration_s",
    "parameter",
    "parameters_of",
    "plain",
]

ParameterKind = Literal["int", "number", "fraction", "choice", "duration", "sensitive", "groups", "text"]

# From the largest unit down: `_check_duration` takes the first that divides evenly.
_UNITS_S = {"d": 86_400, "h": 3_600, "min": 60, "m": 60, "s": 1}
_DURATION = re.compile(r"([0-9]{1,18})(d|h|min|m|s)?")
_LONGEST_S = 10**12

Sensitive = tuple[tuple[str, tuple[str, ...]], ...]
"""Attributes and their sensitive values, as sorted pairs, so that a claim can be compared and hashed; or any other
groups of values by name."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What is known of one parameter: enough to check it, to ask for it and to explain it."""

    name: str
    kind: ParameterKind
    help: str
    default: Any = None
    required: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    why: str = ""

    def check(self, component: str, value: Any) -> Any:
        """Return `value` in its exact form, or raise ParameterError."""
        # A word that stands for a number ("1/k", "none") is taken before the number is checked.
        if value in self.choices and isinstance(value, str):
            return value
        if self.kind in ("int", "number"):
            return self._check_number(component, value)
        if self.kind == "fraction":
            low = int(self.low or 0)
            high = int(1 if self.high is None else self.high)
            return check_fraction(component, self.name, value, low=low, high=high, why=self.why)
        if self.kind == "choice":
            return check_choice(component, self.name, value, self.choices)
        if self.kind == "duration":
            return _check_duration(component, self.name, value, self.why)
        if self.kind == "text":
            return _check_text(component, self.name, value)
        return _check_sensitive(component, self.name, value)

    def _check_number(self, component: str, value: Any) -> int | float:
        """Check a number; where words stand for numbers too, the message names them."""
        # Parameters without a lower limit begin at 0: none is negative.
        limits: dict[str, Any] = {"low": self.low or 0, "high": self.high, "why": self.why}
        try:
            if self.kind == "int":
                return check_int(component, self.name, value, **limits)
            return check_number(component, self.name, value, **limits)
        except ParameterError:
            if not self.choices:
                raise
            words = " or ".join([self._span, *map(repr, self.choices)])
            article = "an" if self.kind == "int" else "a"
            message = f"{component}: {self.name} must be {article} {words}, got {value!r}. {self.why}".rstrip()
            raise ParameterError(message) from None

    def parse(self, component: str, text: str | list[str]) -> Any:
        """Return the value that a person typed as `text`."""
        if self.kind in ("sensitive", "groups"):
            return _parse_sensitive(component, self.name, [text] if isinstance(text, str) else text)
        if not isinstance(text, str):
            raise ParameterError(f"{component}: {self.name} is given more than once.")
        # Text that is no integer goes on to `check`, whose message says what is needed.
        if self.kind == "int" and text not in self.choices:
            try:
                return self.check(component, int(text))
            except ValueError:
                return self.check(component, text)
        return self.check(component, text)

    @property
    def range(self) -> str:
        """The range in words, for tables and help."""
        if self.kind == "choice":
            return " | ".join(self.choices)
        if self.kind == "sensitive":
            return "ATTRIBUTE=VALUE,VALUE, repeatable"
        if self.kind == "groups":
            return "NAME=VALUE,VALUE, repeatable, or @TABLE"
        if self.kind == "duration":
            return " or ".join(["90s, 15min, 1h, 1d, or a positive integer", *self.choices])
        if self.kind == "text":
            return "text"
        return " or ".join([self._span, *self.choices])

    @property
    def _span(self) -> str:
        word = "integer" if self.kind == "int" else "number"
        low = 0 if self.low is None else self.low
        return f"{word} >= {low:g}" if self.high is None else f"{word} from {low:g} to {self.high:g}"


def parameter(*, kind: ParameterKind, help: str, default: Any = MISSING, **limits: Any) -> Any:
    """Declare a dataclass field that is a parameter of a method, an attack or a workload."""
    metadata = {"parameter": {"kind": kind, "help": help, **limits}}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """Return the declared parameters of a class, in order."""
    parameters = []
    for f in fields(cls):
        if "parameter" in f.metadata:
            required = f.default is MISSING
            parameters.append(
                Parameter(
                    name=f.name, required=required, default=None if required else f.default, **f.metadata["parameter"]
                )
            )
    return tuple(parameters)


def check_parameters(configured: Any, component: str) -> None:
    """Check every declared parameter of a frozen dataclass and store it in its exact form."""
    for p in parameters_of(type(configured)):
        object.__setattr__(configured, p.name, p.check(component, getattr(configured, p.name)))


def duration_s(value: str) -> int | None:
    """Return the seconds of a duration in its exact form, or None for a plain integer, which has no unit.

    Examples
    --------
    >>> duration_s("15min"), duration_s("15")
    (900, None)
    """
    match = _DURATION.fullmatch(value)
    if match is None:
        raise ParameterError(f"duration_s: a duration such as 15min or 15 is needed, got {value!r}.")
    return int(match[1]) * _UNITS_S[match[2]] if match[2] else None


def plain(value: Any) -> Any:
    """Return a parameter's value as JSON can hold it and as `Parameter.check` takes it back.

    Examples
    --------
    >>> plain(Fraction(3, 5)), plain(Fraction(1, 3)), plain((("ill", ("HIV",)),))
    ('0.6', '1/3', {'ill': ['HIV']})
    """
    # Exact decimals where there is one, so that 0.1 is written as 0.1 and read back as the same fraction.
    if isinstance(value, Fraction):
        return _decimal(value)
    if isinstance(value, tuple):
        return {name: list(values) for name, values in value}
    return value


def _decimal(value: Fraction) -> str:
    # At most 12 decimals; 1/3 stays "1/3".
    for digits in range(13):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole, rest = divmod(int(scaled), 10**digits)
            return f"{whole}.{rest:0{digits}d}" if digits else str(whole)
    return str(value)


def _check_duration(component: str, name: str, value: Any, why: str) -> str:
    """Return a duration with its largest unit, such as "1h" for "60min"; a number without unit stays a number."""
    # True is an integer in Python, and no duration.
    match = None if isinstance(value, bool) else _DURATION.fullmatch(str(value))
    number = int(match[1]) if match else 0
    seconds = number * _UNITS_S[match[2]] if match and match[2] else 0
    if number < 1 or seconds > _LONGEST_S:
        raise ParameterError(
            f"{component}: {name} must be a duration such as 90s, 15min, 1h or 1d, or a positive integer, got "
            f"{value!r}. "
            f"{why}".rstrip()
        )
    # "60min" and "1h" are the same setting and must be the same text, or claims that are equal would differ.
    for unit, size in _UNITS_S.items():
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return str(number)


def _check_text(component: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or "\n" in value:
        raise ParameterError(f"{component}: {name} must be one line of text, got {value!r}.")
    return value


def _check_sensitive(component: str, name: str, value: Any) -> Sensitive:
    try:
        pairs = list(value.items() if isinstance(value, Mapping) else value)
        # Sorted and without repetition, in the normal form of Unicode: claims are compared and hashed.
        checked = {normal_text(str(a)): tuple(sorted({normal_text(str(v)) for v in values})) for a, values in pairs}
    except (TypeError, ValueError):
        raise ParameterError(f"{component}: {name} must map attributes to lists of values, got {value!r}.") from None
    # A text is a list of letters to Python: "a=x" must not become the values "a", "=", "x".
    if any(isinstance(values, str) for _, values in pairs) or not all(checked.values()):
        raise ParameterError(f"{component}: {name} must give at least one value for each attribute, as a list.")
    if "" in checked or any("" in values for values in checked.values()):
        raise ParameterError(f"{component}: {name} must not have blank names or values.")
    if len(checked) < len(pairs):
        raise ParameterError(f"{component}: {name} has the same name twice; put its values into one list.")
    return tuple(sorted(checked.items()))


def _parse_sensitive(component: str, name: str, texts: list[str]) -> Sensitive:
    merged: dict[str, list[str]] = {}
    for text in texts:
        attribute, sign, values = text.partition("=")
        if not sign or not attribute or not all(values.split(",")):
            raise ParameterError(f"{component}: {name} must look like ATTRIBUTE=VALUE,VALUE; got {text!r}.")
        merged.setdefault(attribute, []).extend(values.split(","))
    return _check_sensitive(component, name, merged)
