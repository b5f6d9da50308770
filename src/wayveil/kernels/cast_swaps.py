"""Better groups of trajectories by exchanging members."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.cast.taxonomy_cover import cover
from wayveil.kernels.common.jit import inner

__all__ = ["exchange"]


@inner
def exchange(places, owner, secrets, most, member, made, last, parent, weight, rounds):
    """Exchange members of groups, with each other and with what is left over, while this makes the groups cheaper.

    No exchange gives a group more than `most` members with the same secret, see `near_groups`.
    Return the cost, in which a trajectory that is left over has the largest distance, and the group of each, or -1.
    O(rounds x n^2 x width) time at most; most pairs are refused by one comparison.  O(n x width) memory.
    """
    n, width = places.shape
    m = member.shape[1]
    label, slot, own = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        label[i] = -1
        for p in range(width):
            own[i] += weight[places[i, p]]
    whole, without, rest = np.zeros(made, np.int64), np.zeros(n, np.int64), np.zeros((n, width), np.int64)
    for group in range(made):
        _weigh(group, member, places, last, parent, weight, rest, without, whole)
        for s in range(m):
            label[member[group, s]] = group
            slot[member[group, s]] = s
    for _ in range(rounds):
        quiet = True
        for i in range(n):
            a = label[i]
            if a >= 0 and without[i] == whole[a]:
                continue  # its group would not be cheaper without it; what may join is tried from the other side
            best, found = np.int64(0), np.int64(-1)
            for j in range(n):
                b = label[j]
                if b == a or b < 0:
                    continue
                # what both groups without their members save, less what the best exchange so far does
                saved = m * (whole[b] - without[j]) - best
                saved += m * (whole[a] - without[i]) if a >= 0 else own[i] - own[j]
                p = 0
                while p < width and saved > 0:
                    saved -= m * (weight[cover(rest[j, p], places[i, p], last, parent)] - weight[rest[j, p]])
                    if a >= 0:
                        saved -= m * (weight[cover(rest[i, p], places[j, p], last, parent)] - weight[rest[i, p]])
                    p += 1
                if (
                    saved > 0
                    and _fits(member, b, slot[j], owner, i)
                    and (a < 0 or _fits(member, a, slot[i], owner, j))
                    and _is_kept(member, b, slot[j], secrets, most, i)
                    and (a < 0 or _is_kept(member, a, slot[i], secrets, most, j))
                ):
                    best, found = best + saved, j
            if found >= 0:
                quiet = False
                b = label[found]
                label[i], label[found] = b, a
                member[b, slot[found]] = i
                if a >= 0:
                    member[a, slot[i]] = found
                slot[i], slot[found] = slot[found], slot[i]
                _weigh(b, member, places, last, parent, weight, rest, without, whole)
                if a >= 0:
                    _weigh(a, member, places, last, parent, weight, rest, without, whole)
        if quiet:
            break
    total = np.int64(0)
    for group in range(made):
        total += m * whole[group]
    for i in range(n):
        total += width * weight[0] if label[i] < 0 else -own[i]
    return total, label


@inner
def _weigh(group, member, places, last, parent, weight, rest, without, whole):
    """Note what a group weighs, and the nodes and the weight of it without each of its members: O(m x width) time.

    The lowest common ancestor of places is that of the first and the last one in preorder.
    """
    m = member.shape[1]
    whole[group] = 0
    for s in range(m):
        without[member[group, s]] = 0
    for p in range(places.shape[1]):
        low = low2 = np.int64(last.size)
        high = high2 = np.int64(-1)
        for s in range(m):
            place = places[member[group, s], p]
            if place < low:
                low, low2 = place, low
            elif place < low2:
                low2 = place
            if place > high:
                high, high2 = place, high
            elif place > high2:
                high2 = place
        whole[group] += weight[cover(low, high, last, parent)]
        for s in range(m):
            i = member[group, s]
            place = places[i, p]
            rest[i, p] = cover(low2 if place == low else low, high2 if place == high else high, last, parent)
            without[i] += weight[rest[i, p]]


@inner
def _fits(member, group, slot, owner, i):
    """Return whether trajectory `i` may take this slot of a group: nobody is in a group twice."""
    alone = True
    for s in range(member.shape[1]):
        alone &= s == slot or owner[member[group, s]] != owner[i]
    return alone


@inner
def _is_kept(member, group, slot, secrets, most, i):
    """Return whether, with trajectory `i` in this slot of a group, no secret of it is that of more than `most`."""
    kept = True
    for s in range(secrets.shape[1]):
        secret = secrets[i, s]
        if secret < 0:
            continue
        n = np.int64(1)
        for other in range(member.shape[1]):
            if other != slot:
                for t in range(secrets.shape[1]):
                    n += secrets[member[group, other], t] == secret
        kept &= n <= most
    return kept
