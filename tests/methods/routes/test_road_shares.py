"""Nobody owns too much: what stays is the most that can, by trying everything; nobody loses their last trip."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.methods.routes.road_shares import rows_within_share, shorten_within_share

shares = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(3, 4), Fraction(1)])


def most(fixed: Counter[int], free: Counter[int], others: int, share: Fraction) -> int:
    """The most rows that can stay: every number of rows of every person that can go is tried."""
    best = 0
    for kept in product(*(range(n + 1) for n in free.values())):
        own = fixed + Counter(dict(zip(free, kept, strict=True)))
        rows = own.total() + others
        if all(n <= share * rows for n in own.values()):
            best = max(best, rows)
    return best


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.just(True)), min_size=1, max_size=14),
    shares,
    st.integers(0, 2),
)
@settings(deadline=None, max_examples=150, derandomize=True)
def test_as_much_stays_as_can(rows: list[tuple[int, int, bool]], share: Fraction, others: int) -> None:
    group, person, may_go = (np.array(column) for column in zip(*rows, strict=True))
    stays = rows_within_share(group, person, may_go, share, np.full(2, others))
    for g in (0, 1):
        mine = [i for i in range(len(rows)) if group[i] == g]
        free = Counter(int(person[i]) for i in mine)
        kept = Counter(int(person[i]) for i in mine if stays[i])
        total = kept.total() + others
        assert all(n <= share * total for n in kept.values())
        assert total == max(most(Counter(), free, others, share), others)
        for who in free:  # the first trips of everybody stay
            assert [bool(stays[i]) for i in mine if person[i] == who] == sorted(
                (bool(stays[i]) for i in mine if person[i] == who), reverse=True
            )


@given(st.lists(st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=4), st.integers(0, 5)), max_size=18), shares)
@settings(deadline=None, max_examples=150, derandomize=True)
def test_every_beginning_keeps_the_share_and_its_people(rows: list[tuple[list[int], int]], share: Fraction) -> None:
    # Everybody with a beginning that too few people have is cut to one that enough have, as the method does it.
    enough = -(-share.denominator // share.numerator)

    def people(beginning: tuple[int, ...]) -> set[int]:
        return {who for route, who in rows if tuple(route[: len(beginning)]) == beginning}

    routes = []
    for route, who in rows:
        n = max((n for n in range(1, len(route) + 1) if len(people(tuple(route[:n]))) >= enough), default=0)
        routes.append((route[:n], who))
    routes = [(route, who) for route, who in routes if route]
    offsets = np.cumsum([0, *(len(route) for route, _ in routes)])
    road = np.array([r for route, _ in routes for r in route], np.int64)
    person = np.array([who for _, who in routes], np.int64)
    length = shorten_within_share(offsets, road, person, np.ones(len(routes), np.int64), share)
    before, after = defaultdict(list), defaultdict(list)
    for (route, who), kept in zip(routes, length.tolist(), strict=True):
        assert 0 <= kept <= len(route)
        for n in range(1, len(route) + 1):
            before[tuple(route[:n])].append(who)
            after[tuple(route[:n])] += [who] * (n <= kept)
    for beginning, owners in before.items():
        assert set(owners) == set(after[beginning])
        assert max(Counter(after[beginning]).values()) <= share * len(after[beginning])
