"""How verifiers are written: what a reader of one finds in all of them."""

from __future__ import annotations

import ast
from pathlib import Path

import wayveil.verifiers

VERIFY = Path(wayveil.verifiers.__file__).parent
MODULES = sorted(VERIFY.rglob("*.py"))

BARE_WORDS = {"found", "told", "there", "known", "made", "said", "asked"}
"""They say that something happened, not what it is."""


def tuples_of_values(tree: ast.AST) -> list[int]:
    """Return the lines with ``a, b = x, y`` that is no swap: several statements in one line."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        values = sorted(ast.unparse(value) for value in node.value.elts)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and sorted(ast.unparse(one) for one in target.elts) != values:
                lines.append(node.lineno)
    return lines


def bare_names(tree: ast.AST) -> list[int]:
    """Return the lines that give such a name to a variable, a parameter, a field, a function or a class."""
    lines = []
    for node in ast.walk(tree):
        is_variable = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in BARE_WORDS
        is_parameter = isinstance(node, ast.arg) and node.arg in BARE_WORDS
        is_definition = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in BARE_WORDS
        if is_variable or is_parameter or is_definition:
            lines.append(node.lineno)  # type: ignore[attr-defined]
    return lines


def places(lines_of: object) -> set[str]:
    assert callable(lines_of)
    return {
        f"{path.relative_to(VERIFY)}:{line}"
        for path in MODULES
        for line in lines_of(ast.parse(path.read_text(encoding="utf-8")))
    }


def test_what_is_looked_for_is_seen() -> None:
    assert tuples_of_values(ast.parse("a, b = b, a\na, b = f()\na, b = 0, 1")) == [3]
    assert sorted(bare_names(ast.parse("found = 1\nx = found\ndef f(told): pass\ndef known(): pass"))) == [1, 3, 4]


def test_one_statement_per_line() -> None:
    assert places(tuples_of_values) == set()


def test_names_say_what_things_are() -> None:
    assert places(bare_names) == set()
