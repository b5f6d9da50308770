"""Frequent sequences before and after, on tables that are small enough to count by hand."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics import METRICS, FrequentSequences
from wayveil.metrics.patterns import frequent_sequences
from wayveil.model import Visits

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "kcl" / "mfs.json").read_text())


def table(*records):
    """Trajectories from words: "a1 b2" is place a at time 1, then b at time 2."""
    return Visits.from_records([[(word[0], int(word[1:])) for word in record.split()] for record in records])


def scored(original, published, **parameters):
    return FrequentSequences(**parameters).run(original, published)


def test_the_tables_of_the_paper():
    score = scored(table(*GOLDEN["table_1"]), table(*GOLDEN["table_2"]), min_support=GOLDEN["min_support"])
    loss = Fraction(GOLDEN["loss"])
    assert score.value == pytest.approx(float(loss))
    assert score.measured["mfs_count_loss"] == pytest.approx(float(loss))
    assert (score.measured["mfs_before"], score.measured["mfs_after"]) == (6, 5)
    assert (score.measured["mfs_precision"], score.measured["mfs_recall"]) == (1, pytest.approx(5 / 6))
    assert score.measured["mfs_f_measure"] == pytest.approx(10 / 11)
    assert score.measured["longest_before"] == 4
    # only a1 d2 f6 c7 changes, from 2 to 0
    assert score.measured["mean_relative_error"] == pytest.approx(1 / 6)


def test_one_lost_sequence_can_leave_several_behind():
    before = table(*["a1 b2 c3"] * 2)
    score = scored(before, table("a1 b2 c3", "a1 b2", "b2 c3"), min_support=2)
    assert score.value == 1
    assert (score.measured["mfs_before"], score.measured["mfs_after"]) == (1, 2)
    assert score.measured["mfs_count_loss"] == -1
    assert score.measured["mfs_f_measure"] == 0
    assert score.measured["mean_relative_error"] == 0.5


def test_a_sequence_that_is_frequent_but_no_longer_maximal_is_not_lost():
    score = scored(table("a1 b2", "a1 b2", "a1 b2 c3"), table(*["a1 b2 c3"] * 3), min_support=2)
    assert score.value == 0
    assert score.measured["mfs_recall"] == 0


def test_the_same_data_in_another_order_with_other_codes_lose_nothing():
    records = ["a1 b2 c3", "a1 b2 c3", "b1 c2", "b1 c2", "c4"]
    with_more_places = table(*reversed(records), "A9")
    score = scored(table(*records), with_more_places, min_support=2)
    assert score.value == 0
    assert score.measured["mfs_f_measure"] == 1
    assert score.measured["mean_relative_error"] == 0
    assert score.measured["top_20_overlap"] == 1
    assert score.charts[0].series[0].values == score.charts[0].series[1].values


def test_the_most_frequent_sequences():
    before = table(*["a1 b2"] * 5, *["c1 d2"] * 4, *["e1 f2"] * 3)
    after = table(*["a1"] * 5, *["c1 d2"] * 4, *["e1 f2"] * 3)
    score = scored(before, after, top=2)
    assert score.measured["top_2_overlap"] == 0.5
    chart = score.charts[0]
    assert chart.labels == ("a @ 1 → b @ 2", "c @ 1 → d @ 2")
    assert [(s.name, s.values) for s in chart.series] == [("original", (5, 4)), ("published", (0, 4))]


def test_ties_at_the_end_of_the_top_count_as_in():
    before = table("a1 b2", "a1 b2", "c1 d2", "c1 d2", "e1 f2", "e1 f2")
    after = table("e1 f2", "c1 d2", "a1 b2")
    assert scored(before, after, top=1).measured["top_1_overlap"] == 1


def test_labels_are_shortened_unless_they_would_be_equal():
    long = "a place with a very long name"
    data = Visits.from_records([[(long, 1), *((c, i) for i, c in enumerate("bcdef", 2))]] * 2)
    labels = scored(data, data, top=100).charts[0].labels
    assert len(labels) == 12
    one = Visits.from_records([[(long, 1), ("b", 2)]] * 2)
    assert scored(one, one).charts[0].labels == ("a place with a … @ 1 → b @ 2",)
    two = Visits.from_records([[(long + " 1", 1), ("b", 2)], [(long + " 2", 1), ("b", 2)]])
    assert set(scored(two, two).charts[0].labels) == {f"{long} 1 @ 1 → b @ 2", f"{long} 2 @ 1 → b @ 2"}


def test_long_sequences_are_shown_by_their_ends():
    data = table(*["a1 b2 c3 d4 e5 f6"] * 2)
    top = ((np.array([0, 6]), np.arange(6), np.array([2])), np.arange(6), data.location[:6], data.t[:6])
    labels, names = frequent_sequences._labels(*top, data.locations, data)
    assert labels == ("a @ 1 → b @ 2 → 3 more → f @ 6",)
    assert names == [("a", "b", "c", "d", "e", "f", "1", "2", "3", "4", "5", "6")]  # what few people may hide behind


def test_the_default_support_is_one_percent_and_at_least_two():
    assert scored(table(*["a1"] * 250), table("a1")).measured["min_support"] == 3
    assert scored(table(*["a1"] * 50), table("a1")).measured["min_support"] == 2


def test_a_support_larger_than_the_data_gives_nothing_to_compare():
    score = scored(table("a1 b2", "a1 b2"), table("a1 b2"), min_support=3)
    assert score.value is None
    undefined = ("mfs_loss", "mfs_count_loss", "mfs_precision", "mfs_recall", "mfs_f_measure", "mean_relative_error")
    assert {score.measured[name] for name in undefined} == {None}
    assert (score.measured["mfs_before"], score.measured["mfs_after"]) == (0, 0)
    assert score.measured["top_20_overlap"] == 1


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published(records):
    score = scored(table("a1 b2", "a1 b2"), Visits.from_records(records))
    assert score.value == 1
    assert score.measured["mfs_count_loss"] == 1
    assert score.measured["mfs_precision"] is None
    assert score.measured["mfs_f_measure"] == 0
    assert score.measured["top_20_overlap"] == 0


def test_nothing_original():
    score = scored(Visits.from_records([[]]), Visits.from_records([]))
    assert score.value is None
    assert score.measured["top_20_overlap"] is None
    assert score.charts == ()
    assert scored(Visits.from_records([]), table("a1 b2", "a1 b2")).measured["mfs_after"] == 1


def test_the_support_is_doubled_where_there_are_too_many_sequences(monkeypatch):
    words = [f"{place}{t}" for t, place in enumerate("abcdefghijkl", 1)]
    data = table(*(" ".join(w for i, w in enumerate(words) if i != who % 12) for who in range(48)))
    assert scored(data, data, min_support=20).measured["min_support"] == 20
    monkeypatch.setattr(frequent_sequences, "_MOST_STEPS", 20_000)
    monkeypatch.setattr(frequent_sequences, "_STEPS_PER_VISIT", 0)
    score = scored(data, data, min_support=20)
    assert score.measured["min_support"] == 40
    assert (score.value, score.measured["mfs_before"]) == (0, 66)


def test_supports_count_trajectories_and_not_people():
    data = Visits.from_records([[("a", 1)], [("a", 1)]], owner=[7, 7])
    assert scored(data, data, min_support=2).measured["mfs_before"] == 1


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="min_support must be an integer >= 1"):
        FrequentSequences(min_support=0)
    with pytest.raises(ParameterError, match="top must be an integer from 1 to 1000"):
        FrequentSequences(top=0)


def test_times_must_be_comparable():
    with pytest.raises(InputError, match="cannot be compared"):
        scored(table("a1"), Visits.from_records([[("a", 1)]], time_format="utc"))


def test_the_registry_knows_it_by_name():
    assert METRICS["frequent_sequences"] is FrequentSequences
