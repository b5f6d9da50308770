"""What every method publishes and measures on small tables, as hashes in a table that is kept: `frozen_bytes.json`.

A change that moves code, not results, leaves the table alone.  A change that is meant to alter results writes
it anew (``python tests/contract/test_frozen_bytes.py``) and says in its message which lines changed, and why.

Public files are hashed as they are; Parquet by its content, because other versions of Polars lay out the same content
in other bytes.  Measured numbers are rounded to six digits: the last ones depend on the machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from still_noise import still_noise
from tables import CONFIGURED, write_inputs

from wayveil.engines import LocalEngine
from wayveil.methods import METHODS
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

TABLE = Path(__file__).parent / "frozen_bytes.json"
SECRET = Secret(bytes(32))
SETTINGS = CONFIGURED | {
    "gsup": {"p": "0.6", "adversaries": {"east": ["stop-0", "stop-1"], "west": ["stop-2", "stop-3"]}},
    "qid": {"k": 2, "cell": 100.0},
}
TIMED = ("timings_s", "usage", "total_s", "versions", "manifest_sha256", "created")
"""What of the results says when, how fast and with which versions they were made."""
SHOWN = ("version", "maps", "marks", "questions", "risks")
"""What tells the other numbers once more, for those who show them."""


def cases() -> Iterator[tuple[str, str, str | None]]:
    """Yield every method with a form of file and, where data can be cut, with a key to cut them by."""
    for name in sorted(METHODS):
        yield name, "csv", None
        yield name, "parquet", None
        for key in METHODS[name].blocks:
            yield name, "csv", key
        for kind in METHODS[name].accepts_also:
            yield f"{name}-on-{kind.kind}", "csv", None
            yield f"{name}-on-{kind.kind}", "parquet", None


def case_id(case: tuple[str, str, str | None]) -> str:
    name, form, key = case
    return f"{name}-{form}" if key is None else f"{name}-blocks-by-{key}"


def make_content(case: tuple[str, str, str | None], inputs: Path, out: Path) -> dict[str, Any]:
    named, form, key = case
    name, _, other = named.partition("-on-")
    kind = other or METHODS[name].accepts.__name__.lower()
    beside = {"routes": {"network": "network.csv"}, "stops": {"taxonomy": "taxonomy.csv"}}.get(kind, {})
    blocks = {"blocks": {"by": key, "rows": 70 if kind == "stops" else 140}} if key else {}
    return {
        "seed": 1,
        "input": {"path": str(inputs / f"{kind}.csv"), **{k: str(inputs / v) for k, v in beside.items()}},
        "prepare": [{"step": "slices", "width": "100"}] if kind == "routes" else [],
        "method": {"name": name, **SETTINGS[name]},
        "output": {"path": str(out), "format": form},
        **blocks,
    }


def digest_plain(name: str, inputs: Path, out: Path) -> dict[str, str]:
    """Publish with one method, without attacks and metrics; return the hashes of its public files."""
    content = make_content((name, "csv", None), inputs, out) | {"attacks": [], "metrics": []}
    with still_noise():
        outcome = publish(make_recipe(content), engine=LocalEngine(workers=1), secret=SECRET)
    assert outcome.public is not None
    return {path.name: digest_file(path) for path in sorted(outcome.public.iterdir())}


def digest_run(case: tuple[str, str, str | None], inputs: Path, out: Path) -> dict[str, Any]:
    """Publish one case; return the hashes of its public files and of everything that was measured."""
    with still_noise():  # of methods with noise, all but the noise is frozen
        outcome = publish(make_recipe(make_content(case, inputs, out)), engine=LocalEngine(workers=1), secret=SECRET)
    assert outcome.public is not None
    results = json.loads((outcome.private / "results.json").read_text())
    for name in (*TIMED, *SHOWN):
        results.pop(name, None)
    results["input_facts"].pop("File", None)
    attacks: dict[str, Any] = {}
    for number, pair in enumerate(results.pop("attacks")):
        attacks[f"{number} {pair['raw']['name']}"] = digest(pair)
    metrics: dict[str, Any] = {}
    for number, score in enumerate(results.pop("scores")):
        metrics[f"{number} {score['name']}"] = digest(score)
    return {
        "public": {path.name: digest_file(path) for path in sorted(outcome.public.iterdir())},
        "attacks": attacks,
        "metrics": metrics,
        "others": {name: digest(value) for name, value in sorted(results.items())},
    }


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(rounded(value), sort_keys=True).encode()).hexdigest()[:16]


def digest_file(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        content = pl.read_parquet(path).write_csv().encode()
    elif path.name == "manifest.json":
        manifest = json.loads(content)
        for name in [name for name in manifest["files"] if name.endswith(".parquet")]:
            manifest["files"][name] = "by content"
        manifest.pop("versions")
        content = json.dumps(manifest, sort_keys=True).encode()
    elif path.name == "README.html":
        # Hashes and sizes of files, and that of the manifest, depend on versions: the rest is frozen.
        content = re.sub(rb"<code>[0-9a-f]{64}</code>|<td>[0-9,]+</td>", b"", content)
    return hashlib.sha256(content).hexdigest()[:16]


def rounded(value: Any) -> Any:
    """Return a value with its numbers rounded to six digits."""
    if isinstance(value, dict):
        if value.keys() == {"name", "values", "people"}:  # how many people are behind a mark is not what is measured
            value = {key: value[key] for key in ("name", "values")}
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.6g}")
    return value


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def test_every_case_is_frozen() -> None:
    assert set(json.loads(TABLE.read_text())) == {case_id(case) for case in cases()}


@pytest.mark.parametrize("case", list(cases()), ids=case_id)
def test_results_are_those_of_the_table(case: tuple[str, str, str | None], inputs: Path, tmp_path: Path) -> None:
    frozen = json.loads(TABLE.read_text())[case_id(case)]
    assert digest_run(case, inputs, tmp_path / "out") == frozen


def test_kernels_as_plain_python_publish_the_same_bytes(inputs: Path, tmp_path: Path) -> None:
    """The table was written with compiled kernels: integers that overflow there, or an order that only they have,
    would show here."""
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom test_frozen_bytes import METHODS, digest_plain\n"
        "inputs, out = map(Path, sys.argv[1:])\n"
        "print(json.dumps({name: digest_plain(name, inputs, out / name) for name in sorted(METHODS)}))\n"
    )
    done = subprocess.run(
        # hashes of sequences overflow on purpose, which NumPy says only of plain code
        [sys.executable, "-W", "ignore:overflow encountered:RuntimeWarning", "-c", code, str(inputs), str(tmp_path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    frozen = json.loads(TABLE.read_text())
    plain = json.loads(done.stdout)
    assert set(plain) == set(METHODS)
    for name, files in plain.items():
        assert files == frozen[f"{name}-csv"]["public"], name


def write_table(folder: Path) -> None:
    """Publish every case and write the table anew."""
    write_inputs(folder)
    frozen = {case_id(case): digest_run(case, folder, folder / "out" / case_id(case)) for case in cases()}
    TABLE.write_text(json.dumps(frozen, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        write_table(Path(scratch))
    sys.stdout.write(f"{TABLE.name} written\n")
