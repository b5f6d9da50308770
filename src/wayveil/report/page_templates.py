"""The templates of all pages that Wayveil writes."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wayveil.report.text.number_format import clean

__all__ = ["environment", "page_style"]


@cache
def environment() -> Environment:
    """Return the templates of all pages: everything that is filled in is escaped, and a missing name is an error."""
    return Environment(
        loader=PackageLoader("wayveil.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else clean(value),
    )


@cache
def page_style(*names: str) -> str:
    """Return style sheets as one text, as it stands in a page."""
    folder = files("wayveil.report").joinpath("templates")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8").strip() for name in names)
