"""What axe-core finds wrong with a page, where it is installed (``npm ci`` in ``frontend``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["AXE", "violations"]

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map(
  one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' | '))"""


def violations(page: Any) -> list[str]:
    """Return what is wrong in light and dark; nothing where axe-core is not installed."""
    found: list[str] = []
    if not AXE.exists():
        return found
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found += [f"{scheme}: {one}" for one in page.evaluate(_RUN)]
    page.emulate_media(color_scheme="light")
    return found
