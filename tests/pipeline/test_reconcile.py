"""Classes are told apart by two programs, that of the maker and that of the judge, which must agree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wayveil.model import Stops, Taxonomy
from wayveil.pipeline.blocks.reconcile import key_classes
from wayveil.verifiers import class_keys

TREE = Taxonomy.from_parents(
    [("place", ""), ("shop", "place"), ("park", "place"), ("clinic", "place"), ("parkshop", "place")],
    sensitive=["clinic"],
)
RECORDS = st.lists(st.lists(st.sampled_from(["shop", "park", "clinic", "parkshop"]), max_size=4), max_size=8)


@given(records=RECORDS)
def test_a_class_is_what_the_definition_says(records: list[list[str]]) -> None:
    stops = Stops.from_records(records, taxonomy=TREE)
    known = [tuple(place for place in record if place != "clinic") for record in records]
    for keys in (key_classes(stops), class_keys(stops)):
        assert len(keys) == len(records)
        assert (keys[:, None] == keys[None, :]).tolist() == [[one == two for two in known] for one in known]


def test_a_class_has_the_same_number_under_another_taxonomy() -> None:
    other = Taxonomy.from_parents(
        [("place", ""), ("clinic", "place"), ("zoo", "place"), ("park", "place"), ("shop", "place")],
        sensitive=["clinic"],
    )
    records = [["shop", "clinic", "park"], ["park"], []]
    one, two = (key_classes(Stops.from_records(records, taxonomy=tree)) for tree in (TREE, other))
    assert np.array_equal(one, two)
