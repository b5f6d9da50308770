"""Who may import whom, as DESIGN draws it and pyproject.toml says it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIPELINE = ROOT / "src" / "wayveil" / "pipeline"


def test_import_rules() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_judge_asks_a_verifier() -> None:
    """The catalog has the verifiers, too, so that it is not enough to look at imports of `verifiers`."""
    asking = [path.name for path in PIPELINE.rglob("*.py") if "catalog.verify" in path.read_text(encoding="utf-8")]
    assert sorted(asking) == ["judge.py", "verify_folder.py"]
