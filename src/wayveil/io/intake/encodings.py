"""Which encoding a text has: a mark at its beginning, UTF-8, or what its letters say."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["detect_encoding"]

_SAMPLE_BYTES = 1 << 16
_MOST = 0.9
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_ALEF_LAM = b"\xc7\xe1"
"""The Arabic article in cp1256, with which every other word begins."""


def detect_encoding(start: bytes, *, whole: bool) -> str:
    """Return the encoding of a text from how it begins; `whole` says that this is all of it.

    Texts that are not Unicode are told by their letters: Korean, Chinese and Japanese in pairs of bytes, Cyrillic and
    Arabic in words of high bytes, and Western languages where such bytes stand alone between plain letters.

    Examples
    --------
    >>> [detect_encoding("Zürich".encode(name), whole=True) for name in ("utf-8", "cp1252", "utf-16")]
    ['utf-8', 'cp1252', 'utf-16-le']
    >>> texts = {"gb18030": "卡号,进站时间", "cp949": "대여일시", "cp932": "利用者の番号"}
    >>> texts |= {"cp1251": "Долгота", "cp1256": "خط الطول"}
    >>> all(detect_encoding(text.encode(name), whole=True) == name for name, text in texts.items())
    True
    """
    if start.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if start.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if start.startswith(b"\xfe\xff"):
        return "utf-16-be"
    # Text of ASCII letters in UTF-16 has a zero in every second byte, before or after the letter.
    sample = start[:4096]
    if sample.count(0) > len(sample) // 4:
        return "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    try:
        # UTF-8 is so strict that text in another encoding hardly ever passes; at the end of a sample a letter may be
        # cut.
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        cut_character = not whole and error.start >= len(start) - 3
        return "utf-8" if cut_character else _detect_code_page(start)
    return "utf-8"


def _detect_code_page(start: bytes) -> str:
    """Return the code page of a text by its runs of high bytes."""
    # Different ones only: one and the same letter in every row, as that of a province on a plate, says nothing more.
    runs = sorted(set(_HIGH_RUN.findall(start[:_SAMPLE_BYTES]) or _HIGH_RUN.findall(start)))
    # Japanese first: its phonetic letters, kana, tell it from the others.
    kana = _decoded(start, "cp932")
    if any("\u3041" <= sign <= "\u30ff" and sign != "\u30fb" for sign in kana) and _share(kana, _is_japanese) > _MOST:
        return "cp932"
    # In both Korean and Chinese the first byte of a pair says how common the letter is, in ranges of their own.
    even = [run for run in runs if len(run) % 2 == 0]
    pairs = sorted({run[i : i + 2] for run in even for i in range(0, len(run), 2)})
    if pairs and sum(map(len, even)) > _MOST * sum(map(len, runs)):
        if _among(pairs, 0xB0, 0xC8) > _MOST and _share(_decoded(start, "cp949"), _is_hangul) > _MOST:
            return "cp949"
        if _among(pairs, 0xA1, 0xD7) > _MOST and _share(_decoded(start, "gb18030"), _is_chinese) > _MOST:
            return "gb18030"
    # Words of Cyrillic or Arabic letters are runs; accented letters of the West stand alone.
    # Accented letters stand alone between plain ones in Western words; whole words of high bytes are another alphabet.
    long_runs = sum(len(run) for run in runs if len(run) > 1)
    if long_runs > _MOST * sum(map(len, runs)):
        letters = b"".join(runs)
        if letters.count(_ALEF_LAM) * 20 > len(letters):
            return "cp1256"
        if sum(byte >= 0xC0 or byte in b"\xa8\xb8" for byte in letters) > _MOST * len(letters):
            return "cp1251"
    return "cp1252"


def _decoded(text: bytes, encoding: str) -> str:
    """Return the different letters beyond ASCII of the beginning of a text; none where it is not of this encoding."""
    sample = text[:_SAMPLE_BYTES]
    # The last letter of a sample may be cut: up to three bytes are left out.
    for cut in range(4):
        try:
            letters = sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
        return "".join(sorted({sign for sign in letters if not sign.isascii()}))
    return ""


def _share(letters: str, is_usual: Callable[[str], bool]) -> float:
    return sum(map(is_usual, letters)) / len(letters) if letters else 0.0


def _among(pairs: list[bytes], low: int, high: int) -> float:
    return sum(low <= pair[0] <= high for pair in pairs) / len(pairs)


def _is_hangul(sign: str) -> bool:
    return "\uac00" <= sign <= "\ud7a3"


def _is_chinese(sign: str) -> bool:
    return "\u4e00" <= sign <= "\u9fff" or "\u3000" <= sign <= "\u303f" or "\uff00" <= sign <= "\uffef"


def _is_japanese(sign: str) -> bool:
    return _is_chinese(sign) or "\u3041" <= sign <= "\u30ff"
