"""Taxonomies from nested JSON, and from keys such as amenity/restaurant/pizza."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.io.places.taxonomy_build import ROOT
from wayveil.io.tabular.csv_position import first_bad_byte
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import peek
from wayveil.model import Taxonomy
from wayveil.model.normal import normal_text

__all__ = ["read_json", "read_keys", "tree_of_keys"]

_BELOW = ("categories", "children")


def read_json(shown: str, file: Path) -> Taxonomy:
    """Return the tree of a document: nested objects with name and categories or children, or an object of keys."""
    document = _document(shown, file)
    if isinstance(document, list) and document and all(isinstance(key, str) for key in document):
        return tree_of_keys(shown, [(key, f"entry {i:,}") for i, key in enumerate(document, 1)])
    # Three forms: a list of keys, an object whose keys are nodes, or nested objects with names.
    if isinstance(document, dict) and not isinstance(document.get("name"), str) and _below(document) is None:
        if any(isinstance(value, dict) and _below(value) is not None for value in document.values()):
            raise InputError(
                f"{shown}: an object of the JSON has nodes below it but no 'name'; give the list of nodes itself."
            )
        return tree_of_keys(shown, [(key, f"entry {i:,}") for i, key in enumerate(document, 1)])
    if isinstance(document, (dict, list)):
        return _nested(shown, document)
    raise InputError(f"{shown}: the JSON holds no taxonomy; a list or an object of nodes is needed.")


def read_keys(shown: str, file: Path) -> Taxonomy:
    """Return the tree of a text with one key per line."""
    text = _text(shown, _content(shown, file))
    lines = [(line.strip(), f"line {i:,}") for i, line in enumerate(text.splitlines(), 1)]
    return tree_of_keys(shown, [(key, where) for key, where in lines if key])


def tree_of_keys(shown: str, keys: Iterable[tuple[str, str]]) -> Taxonomy:
    """Return the tree of slash-separated keys, given with where each is; those that begin with @ are left out.

    Nodes are called by their whole keys; parents that are missing are added, and a root.

    Examples
    --------
    >>> tree_of_keys("keys.txt", [("shop/toys", "line 1"), ("@me", "line 2")]).nodes
    ('Place', 'shop', 'shop/toys')
    """
    code: dict[str, int] = {ROOT: 0}
    parent = [-1]
    names = set[str]()
    for written, where in keys:
        key = normal_text(written)
        if key.startswith("@"):
            continue
        parts = key.split("/")
        if not all(normal_text(part) for part in parts):
            raise InputError(
                f"{shown}: the key {key!r} at {where} has an empty name; write it like amenity/restaurant."
            )
        if parts[0] == ROOT:
            raise InputError(f"{shown}: the key {key!r} at {where} is called like the root; rename it.")
        if key in names:
            raise InputError(f"{shown}: the node {key!r} comes twice, the second time at {where}; give it once.")
        names.add(key)
        above = 0
        # Each part of a key is a node of its own, made the first time it occurs.
        for end in range(1, len(parts) + 1):
            name = normal_text("/".join(parts[:end]))
            if name not in code:
                code[name] = len(parent)
                parent.append(above)
            above = code[name]
    if len(parent) == 1:
        raise InputError(f"{shown}: there are no keys; at least one such as amenity/restaurant is needed.")
    return Taxonomy(nodes=tuple(code), parent=np.array(parent), sensitive=np.zeros(len(parent), np.bool_))


@dataclass
class _Nodes:
    """Nodes of a nested document, every one after its parent."""

    name: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    sensitive: list[bool] = field(default_factory=list)

    def add(self, name: str, parent: int, sensitive: bool) -> int:
        self.name.append(name)
        self.parent.append(parent)
        self.sensitive.append(sensitive)
        return len(self.name) - 1


def _nested(shown: str, document: Any) -> Taxonomy:
    nodes = _Nodes()
    tops = (
        document
        if isinstance(document, list)
        else [document]
        if isinstance(document.get("name"), str)
        else _below(document) or []
    )
    root = nodes.add(ROOT, -1, False) if len(tops) != 1 else -1
    # Depth first with a stack, so that deep documents do not exhaust Python's own; children keep their order.
    waiting = [(top, root) for top in reversed(tops)]
    while waiting:
        item, above = waiting.pop()
        name = item.get("name") if isinstance(item, dict) else item if isinstance(item, str) else None
        name = normal_text(name) if isinstance(name, str) else ""
        if not name:
            raise InputError(f"{shown}: {_where(nodes, above)} is a node without a name; give every node a 'name'.")
        sensitive = item.get("sensitive") if isinstance(item, dict) else None
        if sensitive not in (None, False, True):
            raise InputError(f"{shown}: 'sensitive' of the node {name!r} must be true or false.")
        below = (_below(item) or []) if isinstance(item, dict) else []
        code = nodes.add(name, above, bool(sensitive))
        waiting.extend((child, code) for child in reversed(below))
    if len(nodes.name) == 1 and root == 0:
        raise InputError(f"{shown}: the JSON holds no nodes; at least one with a 'name' is needed.")
    if nodes.sensitive[0]:
        raise InputError(
            f"{shown}: the root {nodes.name[0]!r} is sensitive, so every place would be; label the sensitive kinds "
            "below it."
        )
    return Taxonomy(
        nodes=tuple(_unique(shown, nodes)), parent=np.array(nodes.parent), sensitive=np.array(nodes.sensitive)
    )


def _unique(shown: str, nodes: _Nodes) -> Sequence[str]:
    """Return names without repetition: where one repeats, the names above are added, as many as are needed."""
    # The ancestors of each node, the nearest first.
    above = [[node] for node in nodes.parent]
    for chain in above:
        while chain[-1] >= 0:
            chain.append(nodes.parent[chain[-1]])
        chain.pop()
    steps = [0] * len(nodes.name)
    # Before each round some names repeat.  A round adds one more ancestor to those that do and have one left; it ends
    # when no name repeats, or nothing can be added.
    while True:
        names = [
            f"{name} ({', '.join(nodes.name[node] for node in chain[:step])})" if step else name
            for name, chain, step in zip(nodes.name, above, steps, strict=True)
        ]
        often = {name for name, times in Counter(names).items() if times > 1}
        if not often:
            return names
        longer = [name in often and step < len(chain) for name, chain, step in zip(names, above, steps, strict=True)]
        if not any(longer):
            name = min(often)
            raise InputError(f"{shown}: the node {name!r} comes twice at the same place of the tree; give it once.")
        steps = [step + more for step, more in zip(steps, longer, strict=True)]


def _below(item: dict[str, Any]) -> list[Any] | None:
    return next((item[key] for key in _BELOW if isinstance(item.get(key), list)), None)


def _where(nodes: _Nodes, above: int) -> str:
    return "at the top" if above < 0 else f"below {nodes.name[above]!r}"


def _document(shown: str, file: Path) -> Any:
    text = _text(shown, _content(shown, file))
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            twice.extend(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{shown}: the file is not valid JSON from line {error.lineno:,} on; it may be cut short. Write it again."
        ) from None
    except (RecursionError, ValueError):
        raise InputError(f"{shown}: the JSON is nested too deeply or has a number too long to read.") from None
    if twice:
        raise InputError(
            f"{shown}: {count(len(twice), 'key')} of the JSON, first {twice[0]!r}, comes twice in one object; give "
            "each once."
        )
    return document


def _content(shown: str, file: Path) -> bytes:
    start, _, size = peek(shown, file)
    if not size:
        raise InputError(f"{shown}: the file is empty; a taxonomy is needed.")
    if start[:2] != b"\x1f\x8b":
        return file.read_bytes()
    try:
        return gzip.decompress(file.read_bytes())
    except (EOFError, OSError, zlib.error):
        raise InputError(f"{shown}: the gzip file is damaged or cut short; write or copy it again.") from None


def _text(shown: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        byte, line = first_bad_byte(content) or (1, 1)
        raise InputError(
            f"{shown}: the text is not UTF-8 at line {line:,} (byte {byte:,}); save the file as UTF-8."
        ) from None
