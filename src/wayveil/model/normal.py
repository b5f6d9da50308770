"""One normal form of ids, places and values, and when two of them are suspiciously alike."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normal_text", "similar_key"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # all but tabs and line ends
_NEGATIVE_ZERO = re.compile(r"-0+(?:\.0*)?")
_NUMBER = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*?)0*)?")


def normal_text(text: str) -> str:
    """Return the form in which ids, places and values are compared and published.

    Unicode NFC, without format characters (category Cf: zero-width joiners, byte order marks, soft hyphens), without
    white space at both ends, and with a blank for each control character but tabs and line ends; a negative zero is
    zero.  Case, inner white space and leading zeros stay: see `similar_key`.

    Examples
    --------
    >>> normal_text(" u1\\u200b "), normal_text("Cafe\\u0301") == "Caf\\u00e9", normal_text("-0.0"), normal_text("007")
    ('u1', True, '0.0', '007')
    >>> normal_text("a\\x1b[31m")
    'a [31m'
    """
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)  # one that reached a terminal could steer it
    if text.isascii():
        bare = text.strip()
    else:
        bare = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
        bare = unicodedata.normalize("NFC", bare).strip()
    return bare[1:] if _NEGATIVE_ZERO.fullmatch(bare) else bare


def similar_key(text: str) -> str:
    """Return a text that is equal for values which differ only by case, white space, leading zeros or letter forms.

    Letter forms are those of Unicode NFKC, such as full-width digits and ligatures.  Numbers are compared by value:
    1, 01 and 1.0 are alike.  `text` is in normal form.

    Examples
    --------
    >>> similar_key("U 1") == similar_key("u1"), similar_key("01") == similar_key("1.0") == similar_key("\\uff11")
    (True, True)
    >>> similar_key("u1") == similar_key("u10"), similar_key("-1") == similar_key("1")
    (False, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(folded.split())
    number = _NUMBER.fullmatch(bare)
    if number is None or not any(digit.isdigit() for digit in bare):
        return bare.lstrip("0")
    sign, whole, rest = number.groups()
    if not whole and not rest:
        return "0"
    return ("-" if sign == "-" else "") + (whole or "0") + (f".{rest}" if rest else "")
