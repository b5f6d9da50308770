"""Counts of pieces add up to those of the whole, by the rule of each kind of count."""

import pickle
from collections import Counter
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.model import AttackResult, Chart, Series, accumulators
from wayveil.model.accumulators import Constant, Maximum, Minimum, Tally, add, join_results, side_by_side
from wayveil.model.numbers import count, probability, share


def test_counts_are_added_by_their_kind():
    one = {"n": 1, "table": np.array([1, 2]), "pair": (1, {"x": 2.5}), "mine": 7}
    other = {"n": 2, "table": np.array([10, 20]), "pair": (3, {"x": 1.0, "y": 4}), "yours": np.int64(8)}
    both = add(one, other)
    assert both["table"].tolist() == [11, 22]
    del both["table"]
    assert both == {"n": 3, "pair": (4, {"x": 3.5, "y": 4}), "mine": 7, "yours": 8}
    assert one["n"] == 1
    assert one["table"].tolist() == [1, 2]


def test_what_is_not_known_makes_a_sum_unknown():
    assert add(None, 1) is add(1, None) is add(None, None) is None
    assert add({"a": None}, {}) == {"a": None}


def test_extremes_and_what_all_pieces_share():
    assert add(Maximum(-3), Maximum(-5)).value == -3
    assert add(Minimum(-3), Minimum(-5)).value == -5
    assert add(Maximum(None), Maximum(0)).value == add(Minimum(0), Minimum(None)).value == 0
    assert add(Maximum(None), Maximum(None)).value is add(Minimum(None), Minimum(None)).value is None
    assert add(Constant((1, 2)), Constant((1, 2))).value == (1, 2)
    assert add(Constant({"a": 1}), Constant({"a": 1, "b": 2})).value == {"a": 1, "b": 2}
    with pytest.raises(InputError, match="differ in what all of it has in common"):
        add(Constant("utc"), Constant("local"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, (1,)),
        ((1,), (1, 2)),
        (np.zeros(1), np.zeros(2)),
        ({}, 1),
        (1, {}),
        ((1,), [1]),
        (np.zeros(2), 1),
        (1, np.zeros(2)),
        ("a", "a"),
        (Maximum(1), Minimum(1)),
        (Maximum(1), 1),
        (Tally.of(np.arange(2)), Tally.of(np.arange(2), np.arange(2))),
        (Tally.of(np.arange(2)), Tally.of(np.arange(2), names="ab", named=1)),
    ],
)
def test_counts_of_different_kinds_are_refused(one, other):
    with pytest.raises(InputError, match="counted in different ways"):
        add(one, other)


# Tables of counts against a counter of plain rows.

NUMBERS = {
    "near": st.integers(-3, 3),
    "wide": st.sampled_from([-(10**12), 0, 5, 10**12]),
    "all": st.sampled_from([np.iinfo(np.int64).min, -1, 0, np.iinfo(np.int64).max]),
    "fractions": st.sampled_from([-0.5, 0.0, 0.25, 1e300]),
}


@st.composite
def rows(draw):
    """Return how many columns are names, and pieces of rows of names and numbers."""
    named, kinds = draw(st.integers(0, 2)), draw(st.lists(st.sampled_from(sorted(NUMBERS)), max_size=2))
    if not named and not kinds:
        kinds = ["near"]
    row = st.tuples(*[st.sampled_from("abcd")] * named, *(NUMBERS[kind] for kind in kinds))
    return named, kinds, draw(st.lists(st.lists(row, max_size=8), min_size=1, max_size=4))


def tally(listed, named, kinds, seed=0):
    """Return the counts of rows, with codes of names that differ from piece to piece."""
    names = np.random.default_rng(seed).permutation([*"abcdx"]).tolist()
    columns = [list(column) for column in zip(*listed, strict=True)] or [[] for _ in range(named + len(kinds))]
    coded = [np.array([names.index(name) for name in column], np.int32) for column in columns[:named]]
    numbers = [
        np.array(column, np.float64 if kind == "fractions" else np.int64)
        for column, kind in zip(columns[named:], kinds, strict=True)
    ]
    return Tally.of(*coded, *numbers, names=names, named=named)


def plain(found):
    """Return the rows of a table, with names for codes, and their counts."""
    columns = [
        [found.names[code] for code in column.tolist()] if i < found.named else column.tolist()
        for i, column in enumerate(found.columns)
    ]
    return list(zip(zip(*columns, strict=True), found.counts.tolist(), strict=True))


@given(rows(), st.integers(0, 9))
@settings(deadline=None, max_examples=150)
def test_tallies_of_pieces_add_up_to_the_tally_of_all(case, seed):
    named, kinds, pieces = case
    whole = [row for piece in pieces for row in piece]
    added = reduce(add, [tally(piece, named, kinds, seed + i) for i, piece in enumerate(pieces)])
    expected = sorted(Counter(whole).items())
    assert plain(added) == expected
    assert plain(tally(whole, named, kinds)) == expected
    assert (len(added), added.total) == (len(expected), len(whole))
    assert added.names == tuple(sorted({name for row in whole for name in row[:named]}))
    assert plain(pickle.loads(pickle.dumps(added))) == expected
    for i in range(named + len(kinds)):
        assert plain(added.only(i)) == sorted(Counter((row[i],) for row in whole).items())


@given(rows())
@settings(deadline=None, max_examples=60)
def test_two_tables_side_by_side(case):
    named, kinds, pieces = case
    before, after = pieces[0], pieces[-1]
    both, old, new = side_by_side(tally(before, named, kinds, 1), tally(after, named, kinds, 2))
    assert [row for row, _ in plain(both)] == sorted({*before, *after})
    assert old.tolist() == [before.count(row) for row, _ in plain(both)]
    assert new.tolist() == [after.count(row) for row, _ in plain(both)]
    assert both.counts.tolist() == [(before + after).count(row) for row, _ in plain(both)]


def test_fractions_are_counted_alone_and_beside_others():
    values = np.array([0.5, -0.25, 0.0, 0.5, -0.0, 0.5])
    alone = Tally.of(values)
    assert plain(alone) == [((-0.25,), 1), ((0.0,), 2), ((0.5,), 3)]
    assert alone.total == 6
    numbers = np.array([7, 1, 1, 7, 1, 6])
    assert plain(Tally.of(values, numbers)) == [((-0.25, 1), 1), ((0.0, 1), 2), ((0.5, 6), 1), ((0.5, 7), 2)]
    assert plain(Tally.of(numbers, values)) == [((1, -0.25), 1), ((1, 0.0), 2), ((6, 0.5), 1), ((7, 0.5), 2)]
    assert plain(Tally.of(values[:0])) == plain(Tally.of(values[:0], numbers[:0])) == []


def test_names_stay_only_where_a_column_needs_them():
    found = Tally.of(np.array([1, 0, 1]), np.array([7, 7, 8]), names=("a", "b"), named=1)
    assert (found.only(0).names, found.only(0).named) == (("a", "b"), 1)
    assert (found.only(1).names, found.only(1).named) == ((), 0)


def test_rows_are_not_sorted_again_where_codes_are_in_the_order_of_names(monkeypatch):
    codes = np.array([2, 0, 2, 1])
    expected = plain(Tally.of(codes, names=("a", "b", "c"), named=1))
    asked = []

    def copied(columns):
        return asked.append(len(columns[0])) or np.arange(len(columns[0]))

    monkeypatch.setattr(accumulators, "_sorting", copied)
    assert plain(Tally.of(codes, names=("a", "b", "c"), named=1)) == expected
    assert not asked
    Tally.of(codes, names=("b", "a", "c"), named=1)
    assert asked == [3]


def test_many_different_rows_are_counted_by_sorting():
    values = np.arange(100_000) * 10**6
    found = Tally.of(np.concatenate([values, values[:5]]))
    assert found.values.tolist() == values.tolist()
    assert found.counts.tolist() == [2] * 5 + [1] * (len(values) - 5)


# Results of attacks on pieces.


def result(victims, numbers, charts=(), *, sampled=False):
    return AttackResult(
        name="a", adversary="knows", victims=victims, sampled=sampled, numbers=numbers, charts=tuple(charts)
    )


def mean(value, **more):
    return {"identity_mean": probability(value, "Mean", **more)}


def chart(values, labels=("x", "y"), **changes):
    parts = {"title": "t", "kind": "bars", "percent": True, "series": (Series(name="s", values=values),), **changes}
    return Chart(labels=labels, **parts)


def piece(mean_risk, largest, smallest, confidence, exposed, fewest):
    """The same numbers of one piece of the data; none of their names says how they are joined."""
    return {
        "a": probability(mean_risk, "Mean", interval=(0.1, 0.9)),
        "b": probability(largest, "Largest", joined="largest"),
        "c": probability(smallest, "Smallest", joined="smallest"),
        "d": share(0.5, "Above", about="identity", threshold=0.1),
        "e": probability(confidence, "Confidence"),
        "f": count(exposed, "Exposed", "people"),
        "g": count(fewest, "Fewest", "people", joined="smallest"),
        "h": count(None, "Nothing"),
    }


def test_numbers_of_pieces_are_joined_as_they_say():
    one = result(1, piece(0.5, 0.75, 0.25, None, 2, 4))
    other = result(3, piece(0.1, 0.8, 0.5, 0.25, 3, 9), sampled=True)
    joined = join_results([one, other])
    assert (joined.name, joined.adversary, joined.victims, joined.sampled) == ("a", "knows", 4, True)
    assert joined.measured == {
        "a": pytest.approx(0.2), "a_low": None, "a_high": None, "b": 0.8, "c": 0.25, "identity_threshold": 0.1,
        "d": 0.5, "e": 0.25, "f": 5, "g": 4, "h": None,
    }  # fmt: skip
    assert {name: (number.unit, number.label) for name, number in joined.numbers.items()} == {
        name: (number.unit, number.label) for name, number in one.numbers.items()
    }


def test_equal_risks_stay_what_they_are():
    for victims in ((1, 2), (1, 5), (2, 3, 7)):
        pieces = [result(n, mean(1 / 10)) for n in victims]
        assert join_results(pieces).measured["identity_mean"] == 1 / 10


def test_a_share_that_happens_to_be_whole_is_not_added():
    for one, other in ((0, 0.5), (0.5, 0)):
        pieces = [result(1, mean(one)), result(1, mean(other))]
        assert join_results(pieces).measured["identity_mean"] == 0.25


def test_one_piece_with_victims_is_the_result():
    only = result(2, mean(0.5, interval=(0.2, 0.9)), [chart((0.5, 0.5))])
    empty = result(0, mean(None, interval=(None, None)), [chart((0.0, 0.0))])
    joined = join_results([empty, only])
    assert (joined.victims, joined.measured, joined.charts) == (2, only.measured, only.charts)
    assert join_results([empty, empty]).victims == 0
    assert not joined.sampled
    sampled = [result(0, {}, sampled=True), only]  # victims were drawn at random, and none of them was there
    assert join_results(sampled).sampled
    assert join_results([result(0, {}, sampled=True), only, only]).sampled
    with pytest.raises(InputError, match="no result"):
        join_results([])


def test_charts_of_shares_are_joined_where_they_are_alike():
    ours = [chart((1.0, None)), chart((1.0, 0.0), title="u"), chart((5.0, 2.0), title="v", percent=False)]
    theirs = [chart((0.0, 1.0), title="u", labels=("x", "z")), chart((0.0, 1.0)), ours[2]]
    joined = join_results([result(1, {}, ours), result(3, {}, theirs)])
    assert [c.title for c in joined.charts] == ["t"]
    assert joined.charts[0].series[0].values == (0.25, 1.0)
    assert join_results([result(1, {}, ours), result(1, {})]).charts == ()


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "line"},
        {"labels": ("x",)},
        {"lines": ((0.0, 0.0, 1.0, 1.0),)},
        {"series": (Series(name="other", values=(0.0, 1.0)),)},
        {"series": (Series(name="s", values=(0.0, 1.0)),) * 2},
    ],
)
def test_charts_that_differ_in_anything_but_their_values_are_left_out(other):
    pieces = [result(1, {}, [chart((1.0, 0.0))]), result(1, {}, [chart((0.0, 1.0), **other)])]
    assert join_results(pieces).charts == join_results(pieces[::-1]).charts == ()


def test_every_series_of_a_chart_is_joined_by_itself():
    def two(a, b):
        return chart(None, series=(Series(name="a", values=a), Series(name="b", values=b)))

    joined = join_results(
        [result(1, {}, [two((1.0, 0.0), (0.5, None))]), result(3, {}, [two((0.0, 1.0), (0.5, None))])]
    )
    assert [(one.name, one.values) for one in joined.charts[0].series] == [("a", (0.25, 0.75)), ("b", (0.5, None))]
    assert joined.charts[0].labels == ("x", "y")
