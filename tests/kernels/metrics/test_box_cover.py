"""The smallest covering box against a look at all of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.box_cover import smallest_cover
from wayveil.model.data.ragged import offsets_of


def frozen(values, dtype):
    found = np.array(values, dtype)
    found.flags.writeable = False
    return found


@st.composite
def boxes(draw):
    spans = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5))
    begins, ends = sorted(min(s) for s in spans), sorted(max(s) for s in spans)
    return [(a, b, draw(st.integers(0, 4))) for a, b in zip(begins, ends, strict=True)]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.sets(st.integers(0, 10), max_size=5), boxes()), max_size=4))
def test_the_smallest_of_all_that_cover(found):
    samples, covers = [sorted(s) for s, _ in found], [b for _, b in found]
    result = smallest_cover(
        frozen(offsets_of(np.array([len(s) for s in samples], np.int64)), np.int64),
        frozen([t for s in samples for t in s], np.int64),
        frozen(offsets_of(np.array([len(b) for b in covers], np.int64)), np.int64),
        *(frozen([row[c] for b in covers for row in b], np.int64) for c in (0, 1)),
        np.array([row[2] for b in covers for row in b], np.float64),
    )
    expected = [
        min((area for begin, end, area in b if begin <= t <= end), default=-1)
        for s, b in zip(samples, covers, strict=True)
        for t in s
    ]
    assert result.tolist() == expected
