"""README.html: what a publication is and promises, for who gets it and has no Python; made of the manifest alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from wayveil.report.page_templates import environment

__all__ = ["README", "render_readme"]

README = "README.html"
"""The name of the page in a public folder."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #ddd; }
code { font: 0.85em ui-monospace, monospace; overflow-wrap: anywhere; }
.promise { border-left: 4px solid #2a6f4e; padding-left: 1rem; font-size: 1.1rem; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616; } th, td { border-color: #444; } }
"""
_KINDS = {
    "visits": "visits: who was at which place at what time, without names",
    "trips": "trips: where and when each began and ended, without names",
    "points": "tracks: positions with times, without names",
    "regions": "boxes: between which times somebody was in which rectangle, without names",
    "boxes": "boxes: between which times somebody was in which rectangle, without names",
    "routes": "routes: along which roads trips went, without names",
    "counts": "counts: how many people or visits there were, by zone and time or from zone to zone",
    "stops": "stops: which kinds of places were visited one after the other, without names",
}


def render_readme(manifest: Mapping[str, Any], manifest_sha256: str) -> str:
    """Return the page for a manifest, as JSON holds it, and the hash of its file.

    Everything on it follows from the two, so that `wayveil verify` writes it again and compares.  There is no script,
    nothing is loaded, and all that is filled in is escaped.
    """
    # The page has one style, named by its hash, and no script.
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    kind = str(manifest["schema"]["kind"])
    view = {
        "manifest": manifest,
        "manifest_sha256": manifest_sha256,
        "style": _STYLE,
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        "what": _KINDS.get(kind, kind),
        "measured": {name.replace("_", " "): value for name, value in manifest["verdict"]["measured"].items()},
    }
    return environment().get_template("readme.html.j2").render(view)
