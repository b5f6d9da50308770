"""What any method publishes keeps its claim by the definition, too: from the files, and against the truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import NEED_TRUTH


def test_what_a_method_publishes_keeps_the_definition(
    make_content: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    content = make_content()
    outcome = publish(make_recipe(content), secret=Secret(bytes(32)))
    from_files = verify_folder(tmp_path / "out", by_definition=True)
    assert from_files.failures == ()
    assert from_files.by_definition == ("not judged" if outcome.verdict.claim.name in NEED_TRUTH else "holds")
    with_truth = verify_folder(tmp_path / "out", original=content["input"]["path"], by_definition=True)
    assert with_truth.failures == ()
    assert with_truth.by_definition == "holds"
