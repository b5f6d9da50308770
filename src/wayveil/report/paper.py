"""The report on paper: three pages as PDF, printed by a browser that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from wayveil.errors import OutputError, UsageError

__all__ = ["find_browser", "print_report"]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
_PATIENCE_S = 120
_QUIET = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--no-pdf-header-footer", "--virtual-time-budget=3000",
)  # fmt: skip


def find_browser() -> str:
    """Return the browser that prints; UsageError where none is installed."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise UsageError(
            "--pdf needs Chromium, Chrome or Edge, and none of them is installed. Leave it out, and print "
            "private/report.html from any browser: it has three pages."
        )
    return browser


def print_report(report: Path) -> Path:
    """Print a report beside itself as ``report.pdf``, readable by its owner only; return where it is."""
    paper = report.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="wayveil-paper-") as folder:
        pdf = Path(folder) / "report.pdf"
        # A browser refuses its own sandbox to root; the page is ours, and its policy lets nothing in.
        unboxed = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
        # A profile of its own, which is thrown away: the browser of the user keeps no trace of the report.
        command = [find_browser(), *_QUIET, *unboxed, f"--user-data-dir={folder}/profile", f"--print-to-pdf={pdf}"]
        try:
            subprocess.run([*command, report.absolute().as_uri()], capture_output=True, timeout=_PATIENCE_S, check=True)
            content = pdf.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise OutputError(
                f"The browser could not print {str(report)!r}; everything else is done. Print it from a browser window."
            ) from None
    # Only the owner may read it, from its first byte on.
    handle = os.open(paper, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    return paper
