"""Candidates of known sequences of places, and what they add up to, against the definition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.attacks.place_match import Preorder, Questions, StopClasses, match_places
from wayveil.model.data.ragged import offsets_of

# 0 is above 1 (2, 3), 4 and 5, which is sensitive: 6 (7, 8) and 9.
ABOVE = [-1, 0, 1, 1, 0, 0, 5, 6, 6, 5]
END = [10, 4, 3, 4, 5, 10, 9, 8, 9, 10]
QI, PLACES, SECRET, LEAVES = [0, 1, 2, 3, 4], [2, 3, 4], [5, 6, 7, 8, 9], [7, 8, 9]


def covers(g, p):
    return g <= p < END[g]


def contains(sequence, known):
    chosen = combinations(sequence, len(known))
    return any(all(covers(g, p) for g, p in zip(part, known, strict=True)) for part in chosen)


def flat(listed, dtype=np.int64):
    return np.array([x for one in listed for x in one], dtype), offsets_of(np.array([len(one) for one in listed]))


classes = st.lists(
    st.tuples(
        st.lists(st.sampled_from(QI), min_size=1, max_size=5),
        st.integers(1, 9),
        st.dictionaries(st.sampled_from(SECRET), st.floats(0.125, 4), max_size=3),
    ),
    max_size=6,
)
queries = st.lists(
    st.tuples(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3), st.lists(st.sampled_from(LEAVES), max_size=3)),
    max_size=6,
)


@settings(deadline=None, max_examples=300)
@given(classes, queries)
def test_the_definition(listed, asked):
    index = [sorted({c for c, (sequence, _, _) in enumerate(listed) if g in sequence}) for g in range(10)]
    classes_of, index_offsets = flat(index)
    signs = np.array([sum({1 << g % 63 for g in listed[c][0]}) for c in classes_of], np.int64)
    evidence, evidence_offsets = flat([tuple(one[2]) for one in listed])
    weight = flat([tuple(one[2].values()) for one in listed], np.float64)[0]
    people = np.array([n for _, n, _ in listed], np.int64)
    questions = Questions(*flat([known for known, _ in asked]), *flat([leaves for _, leaves in asked]))
    item, class_offsets = flat([sequence for sequence, _, _ in listed])
    published = StopClasses(
        item, class_offsets, people, evidence, weight, evidence_offsets, classes_of, signs, index_offsets
    )
    fitting, largest, found = match_places(questions, Preorder(np.array(ABOVE), np.array(END)), published)
    answers = iter(found.tolist())
    for q, (known, leaves) in enumerate(asked):
        fit = [one for one in listed if contains(one[0], known)]
        n = sum(one[1] for one in fit)
        assert fitting[q] == n
        value = {s: sum(w for one in fit for g, w in one[2].items() if covers(g, s)) / max(1, n) for s in LEAVES}
        assert largest[q] == pytest.approx(max(value.values()))
        assert [next(answers) for _ in leaves] == pytest.approx([value[s] for s in leaves])
