"""The templates of all pages that Wayveil writes."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wayveil.report.text.number_format import clean

__all__ = ["environment"]


@cache
def environment() -> Environment:
    """Return the templates of all pages: everything that is filled in is escaped, and a missing name is an error."""
    return Environment(
        loader=PackageLoader("wayveil.run", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else clean(value),
    )
