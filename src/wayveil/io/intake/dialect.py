"""The dialect of a text table: encoding, separator, decimal mark, header, and what stands above it.

A dialect is told from the first megabyte.  Nothing here says what a column means.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from wayveil.errors import InputError
from wayveil.io.intake.encodings import detect_encoding

__all__ = ["SEPARATORS", "Dialect", "detect_dialect", "looks_like_value", "split_records"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"}
"""What may stand between two fields, and how messages call it."""

_COMMENTS = ("#", "%", "//")
_SAMPLE_RECORDS = 2_000
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+")
_DATE_LIKE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2})?.*")
_GEOMETRY = re.compile(r"(SRID=\d+;)?\s*(POINT|LINESTRING|MULTI\w+|POLYGON)\s*\(.*", re.IGNORECASE | re.DOTALL)
_SRID = re.compile(r"SRID=\d+;", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a text table is written.

    Parameters
    ----------
    encoding : str
        As Python calls it.
    separator : str
        Between two fields.
    decimal : {".", ","}
        The decimal mark of numbers.
    header : bool
        Whether the first record names the columns.
    skip_lines : int
        Lines above the header, or above the data where there is none: a ``sep=;`` line, titles, metadata.
    comment : str
        What a line begins with that is no record, or "".
    """

    encoding: str = "utf-8"
    separator: str = ","
    decimal: Literal[".", ","] = "."
    header: bool = True
    skip_lines: int = 0
    comment: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the table is what readers take without any conversion."""
        return self == Dialect(separator=self.separator) and self.separator in (",", ";", "\t")


def detect_dialect(start: bytes, *, whole: bool, shown: str = "the file") -> Dialect:
    """Return the dialect of a text table from how it begins.

    Parameters
    ----------
    start : bytes
        The first bytes; a last line that is cut is left out of the judgement.
    whole : bool
        Whether `start` is the whole text.
    shown : str
        How messages call the file.

    Raises
    ------
    InputError
        If there is no text, or no separator gives the lines equally many fields.

    Notes
    -----
    Every separator is tried.  The best one gives most records the same number of fields, at least two, and leaves no
    other separator inside fields.  Records above the first one of that number are skipped; that one is the header if
    its fields are names, and fields below them are values.

    Examples
    --------
    >>> detect_dialect(b"sep=;\\nid;x\\n1;2,5\\n2;3,5\\n", whole=True)
    Dialect(encoding='utf-8', separator=';', decimal=',', header=True, skip_lines=1, comment='')
    >>> detect_dialect(b"7\\t3\\t1185638400.0\\n7\\t4\\t1185638500.0\\n", whole=True).header
    False
    """
    encoding = detect_encoding(start, whole=whole)
    text = start.decode(encoding, errors="ignore").lstrip("\ufeff")
    lines = text.splitlines()
    # The last line of a sample is cut somewhere; its number of fields would mislead.
    if not whole and len(lines) > 1:
        lines = lines[:-1]
    if not any(line.strip() for line in lines):
        raise InputError(f"{shown}: the file is empty; a header and at least one row are needed.")
    announced = re.fullmatch(r"\s*sep=(.)\s*", lines[0], re.IGNORECASE)
    above = 1 if announced else 0
    comment = _find_comment(lines[above:])
    # Some publishers write "# id,lon,lat": one line that begins like a comment and has as many fields as the rows is a
    # header.
    if comment and _is_marked_header(lines[above:], comment):
        comment = ""
    separators = [announced.group(1)] if announced else list(SEPARATORS)
    # Every separator is tried on all lines, and the one that makes the best table wins.
    tried = [_rank(lines[above:], sign, comment) for sign in separators]
    ranked = [ranking for ranking in tried if ranking is not None]
    if not ranked:
        raise InputError(
            f"{shown}: no separator gives the lines equally many fields; columns must be separated by commas, "
            "semicolons, tabs, vertical bars or spaces."
        )
    best = max(ranked, key=lambda ranking: ranking.score)
    return Dialect(
        encoding=encoding,
        separator=best.separator,
        # A comma cannot be both the separator and the decimal mark.
        decimal="," if best.separator != "," and _has_decimal_commas(best.records) else ".",
        header=_is_header(best.records),
        skip_lines=above + best.skipped,
        comment=comment,
    )


@dataclass(frozen=True, kw_only=True)
class _Ranking:
    """How well a separator fits: the records from the first one with the usual number of fields on."""

    separator: str
    score: tuple[float, int]
    records: list[list[str]]
    skipped: int


def split_records(lines: list[str], separator: str) -> list[tuple[int, list[str]]]:
    """Return records with the line on which each begins, from 0; blank lines are left out.

    Examples
    --------
    >>> split_records(["a,b", "", '"x', 'y",2'], ",")
    [(0, ['a', 'b']), (2, ['x\\ny', '2'])]
    """
    # Records, not lines: a line end inside quotation marks belongs to the field.
    text = io.StringIO("\n".join(lines), newline="")
    reader = csv.reader(text, delimiter=separator, skipinitialspace=separator == " ")
    records = []
    begin = 0
    try:
        for record in reader:
            if any(field.strip() for field in record):
                records.append((begin, record))
            begin = reader.line_num
    # A quotation mark that is never closed ends the table; what came before it still says how it is written.
    except csv.Error:
        return records
    return records


def looks_like_value(text: str) -> bool:
    """Whether a text is a number, a date, a time, a geometry or a key: something that is no name of a column.

    Examples
    --------
    >>> [looks_like_value(text) for text in ("-3.5", "2008/06/08 07:14:47", "0:21", "POINT (1 2)", "lon", "t_0")]
    [True, True, True, True, False, False]
    """
    text = text.strip()
    return any(shape.fullmatch(text) for shape in (_NUMBER, _DATE_LIKE, _GEOMETRY, _UUID))


def _find_comment(lines: list[str]) -> str:
    """Return the sign with which comment lines begin at the top of a file, "" where there are none."""
    first = next((line.strip() for line in lines if line.strip()), "")
    return next((sign for sign in _COMMENTS if first.startswith(sign)), "")


def _is_marked_header(lines: list[str], comment: str) -> bool:
    """Whether the one line that begins like a comment names the columns: it has as many fields as those below."""
    marked = [i for i, line in enumerate(lines) if line.lstrip().startswith(comment)]
    if len(marked) != 1 or len(lines) <= marked[0] + 1:
        return False
    # Spaces stand inside names, so they are no sign that this line is a header.
    for separator in SEPARATORS:
        if separator == " ":
            continue
        records = [fields for _, fields in split_records(lines[marked[0] : marked[0] + 20], separator)]
        names = [field.strip() for field in records[0]] if records else []
        if len(names) > 1 and all(len(fields) == len(names) for fields in records):
            return all(names) and not any(looks_like_value(name) for name in names)
    return False


def _rank(lines: list[str], separator: str, comment: str) -> _Ranking | None:
    """Return how well a separator fits, None if it never separates anything."""
    content = [line if not comment or not line.lstrip().startswith(comment) else "" for line in lines]
    if separator != ";" or not all(";" in line for line in content[:1]):
        content = [_SRID.sub("", line) for line in content]  # the sign in SRID=4326;POINT (...) separates no columns
    records = split_records(content, separator)[:_SAMPLE_RECORDS]
    if not records:
        return None
    # How many records have how many fields: in a table nearly all have the same number.
    sizes = Counter(len(fields) for _, fields in records)
    # Of several equally frequent numbers of fields the largest one is the table, the others stand above it.
    width, frequent = max(sizes.items(), key=lambda item: (item[1], item[0]))
    if width < 2:
        return None
    first = next(i for i, (_, fields) in enumerate(records) if len(fields) == width)
    # Lines above the first record of that width are titles; below it, odd records are errors for the reader to tell.
    table = [fields for _, fields in records[first:] if len(fields) == width]
    if first and _is_shorter_header(records[first - 1][1], table):
        first -= 1
        names = records[first][1]
        table.insert(0, [*names, *(f"column_{i + 1}" for i in range(len(names), width))])
    others = [sign for sign in SEPARATORS if sign not in (separator, " ", ",")]
    # A separator that leaves others inside fields probably is not the right one: "a;b,c" cut at commas.
    torn = sum(sign in field for fields in table[:200] for field in fields for sign in others)
    cells = sum(len(fields) for fields in table[:200])
    fit = frequent / len(records) - torn / cells
    # Spaces separate words and dates as well: they count only where nothing else does.
    score = (round(fit, 2) - (0.5 if separator == " " else 0.0), width)
    skipped_line = records[first][0]
    # Comment lines are skipped by the reader, and must not be skipped twice.
    comments = sum(not line for line in content[:skipped_line]) if comment else 0
    return _Ranking(separator=separator, score=score, records=table, skipped=skipped_line - comments)


def _is_shorter_header(names: list[str], table: list[list[str]]) -> bool:
    """Whether a line names all columns of the rows below but the last ones, which are empty in all of them."""
    n = len(names)
    return (
        2 <= n < len(table[0])
        and all(name.strip() and not looks_like_value(name) for name in names)
        and not any(field.strip() for fields in table for field in fields[n:])
    )


def _has_decimal_commas(records: list[list[str]]) -> bool:
    """Whether a column has numbers with a decimal comma, and none has numbers with a decimal point."""
    cells = [field.strip() for record in records[1:] for field in record]
    # Points win where both occur: commas may separate thousands.
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    points = sum(bool(_DECIMAL_POINT.fullmatch(cell)) for cell in cells)
    return commas > 0 and commas > points


def _is_header(records: list[list[str]]) -> bool:
    """Whether the first record names the columns: no field of it is a value, and it differs from what is below."""
    names = [field.strip() for field in records[0]]
    if any(looks_like_value(name) for name in names):
        return False
    below = records[1:200]
    if not below or any(looks_like_value(field) for record in below for field in record):
        return True
    # Text over text: names stand once, values come again.
    return not any(name and any(record[i].strip() == name for record in below) for i, name in enumerate(names))
