"""Road networks from two texts, one of nodes and one of edges, as the collection of Brinkhoff and Li has them."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import numpy as np

from wayveil.errors import InputError
from wayveil.io.network.assemble import BACK, both_ways, put_together
from wayveil.io.tabular.csv_position import first_bad_byte
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import peek
from wayveil.model import RoadNetwork
from wayveil.model.normal import normal_text

__all__ = ["EDGES", "NODES", "read_road_text"]

NODES = ".cnode.txt"
EDGES = ".cedge.txt"


def read_road_text(prefix: str) -> RoadNetwork:
    """Read ``<prefix>.cnode.txt`` (id x y) and ``<prefix>.cedge.txt`` (id start end length), separated by blanks.

    Every edge is two roads, ``id`` and ``id-back``.  Coordinates and lengths are taken as metres.
    """
    node_file = prefix + NODES
    edge_file = prefix + EDGES
    _, nodes, xy = _table(node_file, "id x y", names=1)
    code = {node: i for i, (node,) in enumerate(nodes)}
    if len(code) < len(nodes):
        raise InputError(f"{node_file}: {_there(len(nodes) - len(code), 'line')} with the id of another node.")
    lines, edges, length = _table(edge_file, "id start end length", names=3)
    repeated = len(edges) - len({edge for edge, _, _ in edges})
    if repeated:
        raise InputError(f"{edge_file}: {_there(repeated, 'line')} with the id of another edge.")
    unknown = [line for line, (_, start, end) in zip(lines, edges, strict=True) if start not in code or end not in code]
    if unknown:
        raise InputError(
            f"{edge_file}: {_there(len(unknown), 'edge')} with a node that {node_file} does not have, first at "
            f"line {unknown[0]:,}."
        )
    negative = [line for line, value in zip(lines, length[:, 0].tolist(), strict=True) if value < 0]
    if negative:
        raise InputError(f"{edge_file}: {_there(len(negative), 'length')} below 0, first at line {negative[0]:,}.")
    # Every edge stands twice, there and back, side by side; lengths are repeated to fit.
    start, end = ([code[edge[i]] for edge in edges] for i in (1, 2))
    return put_together(
        roads=both_ways([edge for edge, _, _ in edges], [edge + BACK for edge, _, _ in edges]),
        from_node=np.array(both_ways(start, end), np.int64),
        to_node=np.array(both_ways(end, start), np.int64),
        nodes=[node for (node,) in nodes],
        places=(xy[:, 0], xy[:, 1]),
        length_m=np.repeat(length[:, 0], 2),
    )


def _table(path: str, columns: str, *, names: int) -> tuple[list[int], list[tuple[str, ...]], np.ndarray]:
    """Return (numbers of the lines, the first `names` words of each, the rest as finite numbers)."""
    file = Path(path)
    width = len(columns.split())
    if peek(path, file)[2] == 0:
        raise InputError(f"{path}: the file is empty; lines with {columns} are needed.")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        byte, line = first_bad_byte(file) or (1, 1)
        raise InputError(f"{path}: the text is not UTF-8 at line {line:,} (byte {byte:,}).") from None
    rows = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    wrong = [number for number, words in rows if len(words) != width or not _numbers(words[names:])]
    if wrong or not rows:
        where = f"{_there(len(wrong), 'line')} that is not so, first line {wrong[0]:,}" if wrong else "there is none"
        raise InputError(f"{path}: every line must have {width} fields, {columns}, but {where}.")
    numbers = np.array([words[names:] for _, words in rows], np.float64)
    return (
        [number for number, _ in rows],
        [tuple(normal_text(word) for word in words[:names]) for _, words in rows],
        numbers,
    )


def _there(number: int, noun: str) -> str:
    return f"there {'is' if number == 1 else 'are'} {count(number, noun)}"


def _numbers(words: list[str]) -> bool:
    try:
        return all(isfinite(float(word)) for word in words)
    except ValueError:
        return False
