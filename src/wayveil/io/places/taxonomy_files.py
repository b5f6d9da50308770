"""Taxonomies from and to files: which place is a kind of what, and which kinds are sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import has_format
from wayveil.io.places.taxonomy_build import in_tree_order, labelled, with_own_leaves
from wayveil.io.places.taxonomy_json import read_json, read_keys
from wayveil.io.publish.writer import write_table
from wayveil.io.publish.written_form import check_form, check_start
from wayveil.io.read.trajectory_tables import required
from wayveil.io.tabular.headers import columns_error, shown_names
from wayveil.io.tabular.messages import count, listed
from wayveil.io.tabular.table import Rows, as_text, open_table
from wayveil.model import Taxonomy
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["in_tree_order", "read_published_taxonomy", "read_taxonomy", "with_own_leaves", "write_taxonomy"]

_COLUMNS = ("node", "parent", "sensitive")
_SCHEMA = [pl.String(), pl.String(), pl.Boolean()]
_YES = ("1", "true", "yes", "1.0")
_NO = ("0", "false", "no", "0.0")
_AGAIN = "Publish again; a published file must not be edited."


def read_taxonomy(path: str | Path, *, sensitive_nodes: Sequence[str] = ()) -> Taxonomy:
    """Read a tree of places; the suffix tells the format.

    Parameters
    ----------
    path : str or Path
        A table (.csv, .csv.gz, .parquet) with the columns node, parent (empty for the root) and, if any node is
        sensitive, sensitive (1, true or yes; 0, false, no or empty); nested JSON (.json, .json.gz) of objects with
        ``name`` and ``categories`` or ``children``; or slash-separated keys such as amenity/restaurant/pizza, as the
        keys of a JSON object or as lines of a text (.txt), where keys that begin with @ are left out.
    sensitive_nodes : sequence of str
        Names of nodes that are sensitive, besides those that the file labels.

    Returns
    -------
    Taxonomy
        Its nodes are in an order that depends on the tree alone.  Nested JSON with several nodes at the top, and keys,
        get a root "Place".  In nested JSON a name that repeats gets the names above it, as many as are needed:
        "Bar (Hotel)" and "Bar (Nightlife)".

    Raises
    ------
    InputError
        If the file cannot be read, or there is not one root, a cycle, a parent that is no node, a node twice or without
        a name, a label that cannot be read, or a sensitive root.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "tree.csv")
    ...     _ = file.write_text("node,parent,sensitive\\nPlace,,\\nClinic,Place,yes\\nBar,Place,no\\n")
    ...     tree = read_taxonomy(file, sensitive_nodes=["Bar"])
    >>> tree.nodes, tree.sensitive.tolist()
    (('Place', 'Bar', 'Clinic'), [False, True, True])
    """
    shown = str(path)
    file = Path(path)
    if has_format(file, "csv", "parquet"):
        table = _table(path)
    elif has_format(file, "tree_json"):
        table = read_json(shown, file)
    elif has_format(file, "tree_text"):
        table = read_keys(shown, file)
    else:
        raise InputError(
            f"{shown}: the format of a taxonomy is told by the suffix; give a .csv, .csv.gz, .parquet, .json, .json.gz "
            "or .txt file."
        )
    return in_tree_order(labelled(shown, table, sensitive_nodes))


def write_taxonomy(taxonomy: Taxonomy, path: str | Path) -> None:
    """Write the columns node, parent and sensitive, for the public.

    Parameters
    ----------
    taxonomy : Taxonomy
        All of it is written.  Rows are in an order that depends on the tree alone; a node below a sensitive one is
        written as sensitive, too.
    path : str or Path
        Ends in .csv or .parquet.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_table(_frame(taxonomy), path, None)


def _frame(taxonomy: Taxonomy) -> pl.DataFrame:
    tree = in_tree_order(taxonomy)
    names = pl.Series(tree.nodes, dtype=pl.String)
    above = pl.Series(tree.parent)
    return pl.DataFrame(
        {"node": names, "parent": names.gather(above.set(above < 0, None)), "sensitive": pl.Series(tree.sensitive)}
    )


def read_published_taxonomy(path: str | Path, *, exact: bool = False) -> Taxonomy:
    """Read back what `write_taxonomy` wrote; anything else is refused, also other labels and another order of rows.

    If it must be `exact`, the file has the very bytes that `write_taxonomy` writes; see `check_form`.

    Raises
    ------
    InputError
        If the file is not as `write_taxonomy` writes it.
    """
    check_start(path, len(_COLUMNS))
    table = open_table(path)
    if table.names != _COLUMNS:
        raise table.wrong(f"not a published taxonomy: the columns must be {listed(_COLUMNS)}, in this order. {_AGAIN}")
    if table.csv is None and list(table.lazy.collect_schema().values()) != _SCHEMA:
        raise table.wrong(f"not a published taxonomy: the type of a column is not the one written. {_AGAIN}")
    rows = table.read(range(3))
    sensitive = [as_text(rows, position) for position in range(3)][2]
    if rows.respelled:
        raise table.wrong(f"not a published taxonomy: a name is not in normal form. {_AGAIN}")
    file_table = _table(path)
    # Each check is a place where something could be said that no reader looks at: other words for true, labels that the
    # tree implies, an order of rows.
    if rows.blank or not sensitive.is_in(["true", "false"]).fill_null(False).all():
        raise table.wrong(f"not a published taxonomy: 'sensitive' must be true or false in every row. {_AGAIN}")
    if ((sensitive == "true").to_numpy() != file_table.sensitive).any():
        raise table.wrong(
            f"not a published taxonomy: a node below a sensitive one is not labelled as sensitive. {_AGAIN}"
        )
    tree = in_tree_order(file_table)
    if tree.nodes != file_table.nodes:
        raise table.wrong(f"not a published taxonomy: the rows are not in the order of the tree. {_AGAIN}")
    if exact:
        check_form(path, _frame(tree), None)
    return tree


def _table(path: str | Path) -> Taxonomy:
    table = open_table(path)
    at = {name: i for i, name in enumerate(table.names) if name}
    missing = [name for name in _COLUMNS[:2] if name not in at]
    if missing:
        raise columns_error(
            table,
            f"a taxonomy has the columns node, parent and sensitive, but {listed(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; the file has {shown_names(table)}.",
        )
    rows = table.read([at[name] for name in _COLUMNS if name in at])
    if not len(rows):
        raise table.wrong("the file has a header but no nodes; at least the root is needed.")
    nodes = required(rows, at["node"])
    names = nodes.to_list()
    twice = np.flatnonzero(~nodes.is_first_distinct().to_numpy())
    if len(twice):
        raise table.wrong(
            f"the node {names[twice[0]]!r} comes twice, the second time at {rows.place(int(twice[0]))}"
            f"{_and_more(len(twice))}; give every node once, with one parent."
        )
    parent = _parents(rows, as_text(rows, at["parent"]), names)
    labels = _labels(rows, at["sensitive"]) if "sensitive" in at else np.zeros(len(names), np.bool_)
    root = int(np.flatnonzero(parent < 0)[0])
    if labels[root]:
        raise table.wrong(
            f"the root {names[root]!r} at {rows.place(root)} is sensitive, so every place would be; label the "
            "sensitive kinds below it."
        )
    return Taxonomy(nodes=tuple(names), parent=parent, sensitive=labels)


def _parents(rows: Rows, above: pl.Series, names: list[str]) -> IntArray:
    """Return the parents as codes; one root, no orphan and no cycle."""
    code = {name: i for i, name in enumerate(names)}
    parent = np.array([-1 if name is None else code.get(name, -2) for name in above.to_list()], np.int64)
    orphans = np.flatnonzero(parent == -2)
    if len(orphans):
        first = int(orphans[0])
        raise rows.table.wrong(
            f"the parent {above[first]!r} of {names[first]!r} at {rows.place(first)} is not a node"
            f"{_and_more(len(orphans))}; add a row for it, or correct the name."
        )
    roots = np.flatnonzero(parent == -1)
    if not len(roots):
        raise rows.table.wrong("the taxonomy has no root; exactly one node must have an empty parent.")
    if len(roots) > 1:
        first, second = (int(i) for i in roots[:2])
        raise rows.table.wrong(
            f"the taxonomy has {len(roots):,} roots, the first two {names[first]!r} at {rows.place(first)} and "
            f"{names[second]!r} at {rows.place(second)}; exactly one node must have an empty parent."
        )
    round_ = _cycle(parent)
    if round_:
        first = min(round_)
        raise rows.table.wrong(
            f"the taxonomy has a cycle of {count(len(round_), 'node')}: {names[first]!r} at {rows.place(first)} is "
            "below itself; correct the parents."
        )
    return parent


def _cycle(parent: IntArray) -> list[int]:
    """Return the nodes of one cycle, or none."""
    above = parent.tolist()
    # Every start walks up until it meets a node that was seen.  If that was in this very walk, the walk has closed a
    # circle; all others ended at the root, or in an older walk.
    seen_from = [-1] * len(parent)
    for start in range(len(above)):
        node = start
        while node >= 0 and seen_from[node] < 0:
            seen_from[node] = start
            node = above[node]
        if node >= 0 and seen_from[node] == start:
            cycle = [node]
            while above[cycle[-1]] != node:
                cycle.append(above[cycle[-1]])
            return cycle
    return []


def _labels(rows: Rows, position: int) -> BoolArray:
    marks = as_text(rows, position).fill_null("0").str.strip_chars().str.to_lowercase()
    marks = marks.set(marks == "", "0")
    rows.refuse(
        ~marks.is_in([*_YES, *_NO]),
        "column 'sensitive' is neither yes nor no",
        "Write 1, true or yes; or 0, false, no or nothing.",
    )
    return marks.is_in(list(_YES)).to_numpy()


def _and_more(number: int) -> str:
    return f" ({number - 1:,} more like it)" if number > 1 else ""
