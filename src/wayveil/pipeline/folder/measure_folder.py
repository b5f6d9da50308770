"""Measure a finished publication in full: run what was left out when it was made, and write its report anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from wayveil.engines.scratch import scratch_folder
from wayveil.errors import InputError, UsageError, VerdictFailed
from wayveil.model import Engine
from wayveil.pipeline.folder.secret import SECRET_FILE, Secret
from wayveil.pipeline.folder.staging import MANIFEST, RECIPE_FILE, check_private
from wayveil.pipeline.folder.verify_folder import differing_files
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import load_recipe

__all__ = ["measure_folder"]

_WRITTEN = ("report.html", "log.txt", "results.json")
"""What measuring writes anew; everything else in the private folder stays."""


def measure_folder(folder: str | Path, *, engine: Engine | None = None) -> Outcome:
    """Run every attack and metric that fits on a finished publication, and replace its report and scores.

    Parameters
    ----------
    folder : str or Path
        The output folder of a publication, with ``public`` and ``private``; or its ``public`` folder.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.

    Notes
    -----
    The input is published once more, from the recipe, the seed and the secret in ``private``.  Only if every public
    file comes out as it is, byte for byte, are the results those of this publication.  No public file is touched.
    """
    out = Path(folder)
    out = out.parent if (out / MANIFEST).is_file() else out
    public = out / "public"
    private = out / "private"
    if not (public / MANIFEST).is_file():
        raise UsageError(f"{str(out)!r} holds no publication; give the folder that publish wrote with --out.")
    for name in (RECIPE_FILE, SECRET_FILE):
        if not (private / name).is_file():
            raise UsageError(
                f"There is no {name} in the private folder beside the publication, so that it cannot be measured."
            )
    # Seed, secret and recipe must be those of this very publication; their results file names its manifest.
    check_private(public)
    recipe = load_recipe(private / RECIPE_FILE)
    secret = Secret.read(private / SECRET_FILE)
    with scratch_folder(out) as scratch:
        again = scratch / "again"
        # Published into a scratch folder beside the output, without a signature and without a mapping: only bytes
        # count.
        output = recipe.output.model_copy(
            update={"path": again, "overwrite": False, "keep_mapping": False, "sign_key": None}
        )
        full = recipe.model_copy(update={"output": output, "measure": "full"})
        try:
            outcome = publish(full, engine=engine, secret=secret)
        except NotPublished as refusal:
            raise VerdictFailed(
                f"Measured in full, this would not have been published. Take it back, and report it: {refusal}"
            ) from None
        differing = differing_files(public, again / "public")
        if differing:
            raise InputError(
                f"Published again, other files come out ({', '.join(differing)}): the input, the tables beside it or "
                "the installed versions are not those of this publication. Nothing was changed."
            )
        # One file at a time, each in one step; results.json, which names the manifest, comes last.
        for name in _WRITTEN:
            os.replace(again / "private" / name, private / name)
    return replace(outcome, public=public, private=private)
