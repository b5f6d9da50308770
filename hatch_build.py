"""Compiles the kernels when a wheel is built, so that the first run is as fast as the second.

Machine code goes to ``wayveil/kernels/compiled``, and the wheel is for this platform and Python then.  It is made for
the processors that ``WAYVEIL_PROCESSORS`` names (``generic,x86-64-v3``), by default for the best of those on which this
machine can run it; with ``WAYVEIL_PROCESSORS=none`` the wheel holds sources only, and kernels are compiled when they
are first called.  The same happens where compiling fails: a package that has to compile later is better than none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "wayveil/kernels/compiled"


class CompileKernels(BuildHookInterface):
    """Adds machine code to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the files that go into the wheel."""
        wanted = os.environ.get("WAYVEIL_PROCESSORS", "best")
        if version == "editable" or wanted == "none":
            return
        made = Path(self.directory, "kernels")
        asked = [sys.executable, "-m", "wayveil.commands.ship", str(made), wanted]
        with TemporaryDirectory() as facts:
            # Where a package is built it is not installed, but it asks for its own version.
            installed = Path(facts, f"wayveil-{self.metadata.version}.dist-info", "METADATA")
            installed.parent.mkdir()
            installed.write_text(f"Metadata-Version: 2.1\nName: wayveil\nVersion: {self.metadata.version}\n")
            # pip isolates a build by changing sys.path, which a new process would not know.
            path = os.pathsep.join([str(Path(self.root, "src")), facts, *sys.path])
            try:
                done = subprocess.run(asked, env={**os.environ, "PYTHONPATH": path}, check=False)
            except OSError as error:
                self.app.display_warning(f"Kernels are not compiled ahead: {error}")
                return
        if done.returncode or not made.is_dir():
            self.app.display_warning("Kernels could not be compiled ahead; they are compiled when they are first used.")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"][str(made)] = TARGET
