"""Promises as programs: what each sentence says, over people and over trajectories, with lists, sets and fractions.

Every function takes a publication as plain values and returns how its promise is broken, in words, or "" if it is kept.
Nothing here is shared with methods, kernels, verifiers or attacks, nor with the definitions of the verifiers: it is
written a second time on purpose, so that a mistake in a definition is seen.  `owners` has the person behind each
trajectory, and trajectories without rows are not published.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, hypot, prod

__all__ = [
    "break_of_attack_graph",
    "break_of_breach_bound",
    "break_of_csafety",
    "break_of_groups",
    "break_of_kanonymity",
    "break_of_kdelta",
    "break_of_wishes",
]

ROUNDING = 1e-6
"""Metres that positions computed in floating point may be off."""


def break_of_groups(groups, k, share):
    """At least `k` people in each of some lists of owners, one for each trajectory, and nobody with more than a share.

    Examples
    --------
    >>> break_of_groups([[1, 2]], 2, Fraction(1, 2)), break_of_groups([[1, 1, 2]], 2, Fraction(1, 2))
    ('', 'somebody owns 2 of 3 that look alike')
    """
    for owners in groups:
        own = Counter(owners)
        if len(own) < k:
            return f"{len(own)} people look alike"
        if Fraction(max(own.values()), len(owners)) > share:
            return f"somebody owns {max(own.values())} of {len(owners)} that look alike"
    return ""


# ------------------------------------------------------------------------------------------------------------- points


def break_of_kdelta(records, owners, k, delta, share, *, along_one_curve, groups=None):
    """Everybody is in a set of `k` people who are near each other at all times, and nobody dominates.

    Of any trajectories of one person, and all those of others that look like one of them, this person owns at most
    `share`; and so it is in the `groups` in which people were put, as the method tells (one number per trajectory).
    """
    published = [i for i, record in enumerate(records) if record]

    def look_alike(i, j):
        one, other = records[i], records[j]
        if [t for t, _, _ in one] != [t for t, _, _ in other]:
            return False
        if delta == 0:
            return one == other
        steps = [(a[1] - b[1], a[2] - b[2]) for a, b in zip(one, other, strict=True)]
        if any(hypot(*step) > delta + ROUNDING for step in steps):
            return False
        return not along_one_curve or all(hypot(x - steps[0][0], y - steps[0][1]) <= ROUNDING for x, y in steps)

    near = {i: {j for j in published if j != i and look_alike(i, j)} for i in published}

    def has_set(people, candidates):
        """Whether those of `candidates` who are all near each other complete a set of `people` people to k."""
        if len(people) >= k:
            return True
        return any(
            has_set(people | {owners[j]}, {c for c in candidates & near[j] if c > j and owners[c] not in people})
            for j in sorted(candidates)
            if owners[j] not in people
        )

    for i in published:
        if not has_set({owners[i]}, near[i]):
            return f"trajectory {i} is in no set of {k} people"
    for person in {owners[i] for i in published}:
        own = [i for i in published if owners[i] == person]
        for size in range(1, len(own) + 1):
            for some in combinations(own, size):
                others = {j for i in some for j in near[i] if owners[j] != person}
                if Fraction(size, size + len(others)) > share:
                    return f"{size} trajectories of one person look like {len(others)} of others"
    if groups is None:
        return ""
    together = defaultdict(list)
    for i in published:
        together[groups[i]].append(owners[i])
    return break_of_groups(together.values(), k, share)


def break_of_kanonymity(boxes, owners, truth, k, share, points=None):
    """Every sequence of boxes is that of `k` people, nobody dominates, and in the time of each box they were in it."""
    alike = defaultdict(list)
    for i, record in enumerate(boxes):
        if record:
            alike[tuple(record)].append(owners[i])
    found = break_of_groups(alike.values(), k, share)
    if found:
        return found
    for i, record in enumerate(boxes):
        if not was_in_boxes(record, truth[i]):
            return f"trajectory {i} was not in its boxes"
        for box, (t, x, y) in zip(record, points[i] if points else [], strict=points is not None):
            if not contains(box, t, x, y):
                return f"a point of trajectory {i} is not in its box"
    return ""


def break_of_wishes(shown, owners, truth, asked, end_share, side):
    """Who asked for a number is one of so many and owns one in so many; not too many end in one square of a grid.

    With boxes (rows of six), people are not in one square either when the last one is over.
    """
    alike = defaultdict(list)
    for i, record in enumerate(shown):
        if record:
            alike[tuple(record)].append(i)
    wish = defaultdict(int)
    for person, number in zip(owners, asked, strict=True):
        wish[person] = max(wish[person], int((number or "").strip() or 0))
    for record, members in alike.items():
        people = [owners[i] for i in members]
        for person in set(people):
            if len(set(people)) < wish[person] or Fraction(people.count(person), len(people)) * wish[person] > 1:
                return f"somebody who asked for {wish[person]} owns {people.count(person)} of {len(people)}"
        over = record[-1][1] if len(record[-1]) == 6 else None
        last = [[row for row in truth[i] if over is None or row[0] <= over][-1] for i in members]
        for moments in (last, [truth[i][-1] for i in members]):
            squares = [(x // side, y // side) for _, x, y in moments]
            for square in set(squares):
                here = [person for person, other in zip(people, squares, strict=True) if other == square]
                if max(Fraction(len(here), len(people)), Fraction(len(set(here)), len(set(people)))) > end_share:
                    return f"{len(here)} of {len(people)} end in one square"
    return ""


def contains(box, t, x, y):
    t_min, t_max, x_min, x_max, y_min, y_max = box
    return t_min <= t <= t_max and x_min <= x <= x_max and y_min <= y <= y_max


def was_in_boxes(boxes, truth):
    """Whether somebody was in each box in its time: a later sample for each, or, without samples, on the way there."""
    last = -1
    for box in boxes:
        sampled = [i for i, (t, _, _) in enumerate(truth) if box[0] <= t <= box[1]]
        if sampled:
            later = [i for i in sampled if i > last and contains(box, *truth[i])]
            if not later:
                return False
            last = later[0]
            continue
        around = [(p, q) for p, q in pairwise(truth) if p[0] < box[0] and box[1] < q[0]]
        if not around:
            return False
        (p, q) = around[0]
        for t in box[:2]:
            part = Fraction(t - p[0], q[0] - p[0])
            x, y = (Fraction(a) + (Fraction(b) - Fraction(a)) * part for a, b in zip(p[1:], q[1:], strict=True))
            if not (box[2] - ROUNDING <= x <= box[3] + ROUNDING and box[4] - ROUNDING <= y <= box[5] + ROUNDING):
                return False
    return True


def break_of_attack_graph(boxes, owners, truth, known, k, share, top_speed, marks=None):
    """Who knows the declared positions, and a top speed or none, keeps `k` people both ways, and nobody dominates.

    `known` tells for each row of `truth` whether it is declared; `top_speed` is "none" or in metres per unit of time.
    `marks` tells for each box whether it is said to be of a declared time: then who looks at that is an attacker, too.
    """
    published = [i for i, record in enumerate(boxes) if record]
    for i in published:
        at = {t: (x, y) for t, x, y in truth[i]}
        if any(t not in at or not contains((t, until, *sides), t, *at[t]) for t, until, *sides in boxes[i]):
            return f"trajectory {i} was not in its boxes"
    every = [[True] * len(record) for record in boxes]
    for speed, seen in product(dict.fromkeys((top_speed, "none")), (every, marks or every)):
        can_be = {i: {o for o in published if fits(truth[i], known[i], boxes[o], speed, seen[o])} for i in published}
        if any(i not in can_be[i] for i in published):
            return f"somebody does not fit their own trajectory, with a top speed of {speed}"
        # Everybody has their own.  Give person i the trajectory o instead: then whoever had it takes another one, and
        # so on, until somebody takes that of i.  Only if there is such a chain can everybody have one.
        left = {i: {o for o in can_be[i] if leads_to(can_be, o, i)} for i in published}
        theirs = [[owners[o] for o in left[i]] for i in published]
        whose = [[owners[i] for i in published if o in left[i]] for o in published]
        found = break_of_groups(theirs + whose, k, share)
        if found:
            return f"{found}, with a top speed of {speed}"
    return ""


def fits(truth, known, boxes, speed, marks):
    """Whether the declared positions of somebody are in marked boxes, and all other boxes within reach."""
    marked = [box for box, mark in zip(boxes, marks, strict=True) if mark]
    for (t, x, y), is_known in zip(truth, known, strict=True):
        if not is_known:
            continue
        if not any(contains(box, t, x, y) for box in marked):
            return False
        for begin, end, west, east, south, north in boxes if speed != "none" else ():
            reach = speed / 2**0.5 * max(begin - t, t - end, 0) + ROUNDING
            if max(west - x, x - east, south - y, y - north) > reach:
                return False
    return True


def leads_to(can_be, start, end):
    """Whether there is a chain of people from one to another, each of whom can take the trajectory of the next."""
    seen = {start}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if one == end:
            return True
        waiting += [o for o in can_be[one] if o not in seen]
        seen |= can_be[one]
    return False


# ------------------------------------------------------------------------------------------------------------- visits


def break_of_breach_bound(records, owners, adversaries, p, *, with_times):
    """No adversary learns with more than `p` that somebody was at a place that is not his.

    Of the trajectories that show him the same, and of their people, at most a share `p` has the place; and however the
    trajectories that show the same are dealt to the people who own as many of them, each person was there, on one trip
    or another, in at most a share `p` of all ways to deal.
    """
    everywhere = {place for record in records for place, _ in record}
    for own_places in adversaries:
        alike = defaultdict(list)
        for i, record in enumerate(records):
            seen = [visit if with_times else visit[0] for visit in record if visit[0] in own_places]
            if record:
                alike[tuple(seen)].append(i)
        for place in everywhere - set(own_places):
            there = {seen: [i for i in c if any(v[0] == place for v in records[i])] for seen, c in alike.items()}
            for seen, members in alike.items():
                people = {owners[i] for i in members}
                if Fraction(len(there[seen]), len(members)) > p:
                    return f"{len(there[seen])} of {len(members)} trajectories that look alike have a place"
                if Fraction(len({owners[i] for i in there[seen]}), len(people)) > p:
                    return "too many of the people who look alike were at a place"
            for person in set(owners):
                never = prod(
                    Fraction(comb(len(c) - len(there[seen]), n), comb(len(c), n))
                    for seen, c in alike.items()
                    if (n := sum(owners[i] == person for i in c))
                )
                if 1 - never > p:
                    return f"somebody was at a place with a chance of {1 - never}"
    return ""


# -------------------------------------------------------------------------------------------------------------- stops


def break_of_csafety(records, owners, truth, parents, sensitive, *, c, m, share, worst, least_people):
    """People who share the places that are not sensitive: enough, nobody dominates, and no sensitive place above `c`.

    `parents` has the node above each node, "" above the root; `sensitive` are the nodes that are labelled so.
    """

    def up(node):
        return [node, *up(parents[node])] if node else []

    def is_secret(node):
        return any(above in sensitive for above in up(node))

    leaves = [node for node in parents if node not in parents.values()]
    published = [i for i, record in enumerate(records) if record]
    for i in published:
        parts = combinations(truth[i], len(records[i]))
        if not any(
            all(
                node in up(place) and is_secret(node) == is_secret(place)
                for node, place in zip(records[i], part, strict=True)
            )
            for part in parts
        ):
            return f"trajectory {i} is not made of its original"
    classes = defaultdict(list)
    for i in published:
        classes[tuple(node for node in records[i] if not is_secret(node))].append(i)
    found = break_of_groups([[owners[i] for i in members] for members in classes.values()], m, share)
    if found:
        return found
    for members, place in product(classes.values(), [leaf for leaf in leaves if is_secret(leaf)]):
        for unit in ("people", "trajectories"):
            stops = defaultdict(list)
            for i in members:
                who = owners[i] if unit == "people" else i
                stops[who] += [node for node in records[i] if is_secret(node)]
                if worst:
                    stops[who] += [node for node in truth[i] if is_secret(node)]
            chances = [chance_of(place, nodes, up, leaves, worst) for nodes in stops.values()]
            if sum(chances, Fraction(0)) / len(chances) > c:
                return f"a place has the probability {sum(chances, Fraction(0)) / len(chances)} over {unit}"
    found = _break_by_known_places(records, truth, published, is_secret, up, leaves, c)
    if found and worst:
        return found
    if not worst:
        for members in classes.values():
            nodes = {node for i in members for node in records[i] if is_secret(node)}
            if any(a != b and a in up(b) for a in nodes for b in nodes):
                return "a sensitive node of a class is above another one"
    for node in {node for record in records for node in record if is_secret(node)}:
        people = {owners[i] for i in published if node in records[i]}
        if len(people) < least_people:
            return f"{len(people)} people are at a sensitive node"
    return ""


def _break_by_known_places(records, truth, published, is_secret, up, leaves, c):
    """Who knows any places of a trip that are not sensitive: of all trips that fit, at most a share `c` was there."""

    def fits(known, nodes):
        rest = iter(nodes)
        return all(any(node in up(place) for node in rest) for place in known)

    shown = {i: [node for node in records[i] if not is_secret(node)] for i in published}
    told = [[place for place in truth[i] if not is_secret(place)] for i in published]
    for known in {part for way in told for n in range(len(way) + 1) for part in combinations(way, n)}:
        fitting = [i for i in published if fits(known, shown[i])]
        for place in leaves if fitting else ():
            there = sum(is_secret(place) and place in truth[i] for i in fitting)
            if Fraction(there, len(fitting)) > c:
                return f"{there} of {len(fitting)} trips that fit {len(known)} known places were at a place"
    return ""


def chance_of(place, nodes, up, leaves, worst):
    """The chance that one of these stops was at a place: 1 if it may be, or all leaves of a node are equally likely."""
    if worst:
        return Fraction(any(node in up(place) for node in nodes))
    never = Fraction(1)
    for node in nodes:
        below = [leaf for leaf in leaves if node in up(leaf)]
        never *= 1 - Fraction(below.count(place), len(below))
    return 1 - never
