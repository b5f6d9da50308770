"""How kernels are written: what a reader of one finds in all of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import wayveil

SOURCE = Path(wayveil.__file__).parent
KERNELS = SOURCE / "kernels"

FOR_READERS = tuple(sorted(path.parent.name for path in KERNELS.glob("*/__init__.py")))
"""All folders with source: every kernel is written for a reader.  An installed package has machine code beside them."""

MOST_PARAMETERS = 8


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """The functions of a file that numba compiles."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            names = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
            if names & {"kernel", "inner"}:
                yield node


def simple_tuples(tree: ast.AST) -> list[int]:
    """Return the lines with ``a, b = x, y`` that is no swap: where what is assigned is not what was there."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        values = sorted(ast.unparse(value) for value in node.value.elts)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and sorted(ast.unparse(one) for one in target.elts) != values:
                lines.append(node.lineno)
    return lines


def test_a_swap_is_no_tuple_of_simple_values() -> None:
    assert simple_tuples(ast.parse("a, b = b, a\nx[i], x[j] = x[j], x[i]\na, b = f()\nA, B = range(2)")) == []
    assert simple_tuples(ast.parse("a, b = 0, 1\n\nx[i], n = y, n + 1")) == [1, 3]


@pytest.mark.parametrize("folder", FOR_READERS)
def test_one_statement_per_line(folder: str) -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}"
        for path in modules(KERNELS / folder)
        for line in simple_tuples(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


def unnamed_fields(function: ast.FunctionDef) -> list[int]:
    """Return the lines where a number stands for a field: ``meta[0]``, ``state[2]``, ``heap.size[1]``.

    The first entry of an array that belongs to a tuple is none: scalars that change are arrays of one, ``n_rows[0]``.
    """
    lines = []
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
        ):
            name = node.value.attr if isinstance(node.value, ast.Attribute) else ast.unparse(node.value)
            is_field = isinstance(node.value, ast.Attribute) and name != "shape" and node.slice.value > 0
            if is_field or name in {"meta", "state"}:
                lines.append(node.lineno)
    return lines


def test_a_number_for_a_field_is_found() -> None:
    [function] = ast.parse("def f(x):\n x.meta[0]\n state[2]\n heap.size[1]\n heap.size[0]\n x.shape[1]\n p[1]").body
    assert isinstance(function, ast.FunctionDef)
    assert unnamed_fields(function) == [2, 3, 4]


@pytest.mark.parametrize("folder", FOR_READERS)
def test_state_has_names(folder: str) -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}"
        for path in modules(KERNELS / folder)
        for function in functions(path)
        for line in unnamed_fields(function)
    }
    assert found == set()


def test_few_parameters() -> None:
    found = {
        f"{path.relative_to(KERNELS)}:{function.name}"
        for path in modules(KERNELS)
        for function in functions(path)
        if len(function.args.args) > MOST_PARAMETERS
    }
    assert found == set()


def silent_functions(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(SOURCE)}:{function.name}"
        for path in modules(folder)
        for function in functions(path)
        if not ast.get_docstring(function)
    ]


@pytest.mark.parametrize("folder", FOR_READERS)
def test_every_kernel_says_what_it_does(folder: str) -> None:
    assert silent_functions(KERNELS / folder) == []


def test_every_kernel_that_others_call_says_what_it_does() -> None:
    assert [name for name in silent_functions(KERNELS) if not name.split(":")[1].startswith("_")] == []


def test_folders_are_small() -> None:
    files = Counter(path.parent for path in modules(KERNELS))
    assert files.pop(KERNELS) == 1  # nothing but __init__.py
    assert len(files) >= len(FOR_READERS)
    for folder, n in files.items():
        assert n <= 15 + 1, folder.name  # and __init__.py
        assert (folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')


def test_a_file_name_of_a_kernel_stands_in_one_package() -> None:
    names = Counter(path.stem for path in modules(SOURCE) if path.stem != "__init__")
    assert {path.stem for path in modules(KERNELS) if names[path.stem] > 1} == set()
