"""What axe-core finds wrong with a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

__all__ = ["violations"]

_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map(
  one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' | '))"""


def violations(page: Any) -> list[str]:
    """Return what is wrong in light and dark."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    found: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        page.evaluate(axe)
        found += [f"{scheme}: {one}" for one in page.evaluate(_RUN)]
    page.emulate_media(color_scheme="light")
    return found
