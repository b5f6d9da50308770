"""Parts of texts: as Python cuts them."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.io.tabular.column_slice import cut_text, split_name

ends = st.none() | st.integers(-6, 6)


@given(st.lists(st.none() | st.text("aé東🚉", max_size=6), min_size=1, max_size=6), ends, ends)
@settings(deadline=None, max_examples=200)
def test_as_python_cuts(texts: list[str | None], start: int | None, stop: int | None) -> None:
    found = cut_text(pl.Series(texts, dtype=pl.String), slice(start, stop)).to_list()
    assert found == [(text[start:stop] or None) if text else None for text in texts]


def test_names() -> None:
    assert split_name("a[1:]", ["a"]) == ("a", slice(1, None))
    assert split_name("a[ -3 : +2 ]", ["a"]) == ("a", slice(-3, 2))
    assert split_name("a[b][:4]", ["a[b]"]) == ("a[b]", slice(None, 4))
    for plain in ("a", "a[]", "a[1]", "a[1:2:3]", "[:2]", "a[:2] "):
        assert split_name(plain, ["a"]) == (plain, None)
    assert split_name("a[:2]", ["a", "a[:2]"]) == ("a[:2]", None)
    assert cut_text(pl.Series(["x"]), None).to_list() == ["x"]
