"""The cheapest reading of a publication against all readings."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.stop_alignment import PlaceTree, align_stops
from wayveil.model.data.ragged import offsets_of

# 0 is above 1 (above 2 and 3) and above 4, which is of another kind and above 5 and 6.
FIRST, LAST = [0, 1, 2, 3, 4, 5, 6], [7, 4, 3, 4, 7, 6, 7]
KIND, WEIGHT = [0, 0, 0, 0, 1, 1, 1], [9, 5, 1, 2, 7, 3, 4]
OUT = 10


def cost(old, new):
    found = []
    for chosen in combinations(range(len(old)), len(new)):
        pairs = [(old[i], g) for i, g in zip(chosen, new, strict=True)]
        if all(KIND[p] == KIND[g] and FIRST[g] <= FIRST[p] < LAST[g] for p, g in pairs):
            found.append(sum(abs(WEIGHT[p] - WEIGHT[g]) for p, g in pairs) + OUT * (len(old) - len(new)))
    return min(found, default=-1)


def aligned(pairs):
    columns = []
    for side in (0, 1):
        columns.append(offsets_of(np.array([len(pair[side]) for pair in pairs], np.int64)))
        columns.append(np.array([x for pair in pairs for x in pair[side]], np.int64))
    tree = [np.array(column, np.int64) for column in (FIRST, LAST, KIND, WEIGHT)]
    return align_stops(*columns, PlaceTree(*tree), OUT).tolist()


stops = st.lists(st.sampled_from([2, 3, 5, 6, 1]), max_size=6)
nodes = st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6]), max_size=4)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(stops, nodes), max_size=4))
def test_any_two(pairs):
    assert aligned(pairs) == [cost(*pair) for pair in pairs]


UP = {2: (2, 1, 0), 3: (3, 1, 0), 5: (5, 4), 6: (6, 4), 1: (1, 0)}


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.sampled_from([2, 3, 5, 6, 1]), st.integers(0, 2), st.booleans()), max_size=7))
def test_publications(drawn):
    old = [p for p, _, _ in drawn]
    new = [UP[p][min(up, len(UP[p]) - 1)] for p, up, kept in drawn if kept]
    assert aligned([(old, new)]) == [cost(old, new)]
    assert aligned([(old, new)])[0] >= 0
