import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.model import Stops, Taxonomy

TREE = Taxonomy.from_parents(
    [("Place", ""), ("Park", "Place"), ("Health", "Place"), ("C", "Health")], sensitive=["Health"]
)


def stops(**changed):
    given = {
        "offsets": [0, 2, 3],
        "place": [1, 3, 1],
        "t": [5, 7, 0],
        "t_end": [6, 7, 0],
        "taxonomy": TREE,
        "owner": [4, 9],
    }
    return Stops(**{**given, **changed})


def test_counts_and_records():
    data = stops()
    assert (len(data), data.n_rows, data.n_owners) == (2, 3, 2)
    assert data.record(0) == ["Park", "C"]
    assert data.sensitive.tolist() == [False, True, False]
    assert data.place.dtype == np.int32


def test_where_keeps_rows_and_take_trajectories():
    data = stops()
    kept = data.where(~data.sensitive)
    assert kept.offsets.tolist() == [0, 1, 2]
    assert (kept.place.tolist(), kept.t.tolist(), kept.t_end.tolist()) == ([1, 1], [5, 0], [6, 0])
    taken = data.take(np.array([1, 0]))
    assert (taken.owner.tolist(), taken.record(0), taken.record(1)) == ([9, 4], ["Park"], ["Park", "C"])
    assert (taken.t.tolist(), taken.t_end.tolist()) == ([0, 5, 7], [0, 6, 7])


def test_records_with_times_and_owners():
    data = Stops.from_records([["Park", "C"], []], taxonomy=TREE, times=[[(1, 2), (3, 4)], []], owner=[7, 7])
    assert (data.t.tolist(), data.t_end.tolist(), data.owners, data.n_owners) == ([1, 3], [2, 4], "given", 1)
    assert Stops.from_records([["Park"]], taxonomy=TREE).owners == "declared"


@pytest.mark.parametrize(
    "changed",
    [
        {"offsets": [1, 2, 3]},
        {"offsets": [0, 2, 1]},
        {"offsets": [0, 2, 2]},
        {"place": [1, 3]},
        {"t": [5, 7]},
        {"t_end": [6, 7, 0, 0]},
        {"owner": [4]},
        {"place": [1, 4, 1]},
        {"place": [1, -1, 1]},
        {"t": [8, 7, 0], "t_end": [8, 7, 0]},
        {"t_end": [6, 6, 0]},
    ],
)
def test_columns_that_do_not_fit_are_refused(changed):
    with pytest.raises(InputError, match=r"^Stops: "):
        stops(**changed)
