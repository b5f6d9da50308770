"""Better groups of trajectories by exchanging members."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.cast.taxonomy_cover import cover
from wayveil.kernels.common.jit import inner

__all__ = ["exchange"]

Weights = namedtuple("Weights", ["whole", "without", "rest"])
"""What groups weigh, as `_weigh` writes it.  All arrays are int64.

whole : one per group
    The weight of the nodes that its members share.
without : one per trajectory
    What its group would weigh without it; 0 for one that is left over.
rest : (trajectories, width)
    The nodes of its group without it.
"""


@inner
def exchange(places, owner, secrets, most, member, tree, rounds):
    """Exchange members of groups, with each other and with what is left over, while this makes the groups cheaper.

    No exchange gives a group more than `most` members with the same secret.
    Return the cost, in which a trajectory that is left over has the largest distance, and the group of each, or -1.
    O(rounds x n^2 x width) time at most; most pairs are refused by one comparison.  O(n x width) memory.

    Parameters
    ----------
    places, owner, secrets, tree
        See `near_groups`.
    member : int64, (groups, m)
        The members of each group; exchanged here.
    """
    n, width = places.shape
    n_groups, m = member.shape
    last = tree.last
    parent = tree.parent
    weight = tree.weight
    label = np.empty(n, np.int64)  # the group, or -1
    slot = np.zeros(n, np.int64)  # the column of `member`
    own = np.zeros(n, np.int64)  # the weight of the places themselves
    for i in range(n):
        label[i] = -1
        for p in range(width):
            own[i] += weight[places[i, p]]
    weights = Weights(np.zeros(n_groups, np.int64), np.zeros(n, np.int64), np.zeros((n, width), np.int64))
    for group in range(n_groups):
        _weigh(group, member, places, tree, weights)
        for s in range(m):
            label[member[group, s]] = group
            slot[member[group, s]] = s
    whole = weights.whole
    without = weights.without
    rest = weights.rest
    # Before each turn, groups have m people each.  Trajectory i looks for the j in another group with which an exchange
    # saves most; what is saved is what both groups weigh less, times m members, and the distance of whoever is left
    # over.  The exchange is done at once.  Every exchange lowers the cost, so that it ends even without a limit.
    for _ in range(rounds):
        quiet = True
        for i in range(n):
            a = label[i]
            if a >= 0 and without[i] == whole[a]:
                continue  # its group would not be cheaper without it; what may join is tried from the other side
            most_saved = np.int64(0)
            partner = np.int64(-1)
            for j in range(n):
                b = label[j]
                if b == a or b < 0:
                    continue
                # what both groups without their members save, less what the best exchange so far does
                saved = m * (whole[b] - without[j]) - most_saved
                saved += m * (whole[a] - without[i]) if a >= 0 else own[i] - own[j]
                # what they cost with the new members; it only grows, so it may be given up early
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
                    and _keeps_secrets(member, b, slot[j], secrets, most, i)
                    and (a < 0 or _keeps_secrets(member, a, slot[i], secrets, most, j))
                ):
                    most_saved += saved
                    partner = j
            if partner >= 0:
                quiet = False
                b = label[partner]
                label[i] = b
                label[partner] = a
                member[b, slot[partner]] = i
                if a >= 0:
                    member[a, slot[i]] = partner
                slot[i], slot[partner] = slot[partner], slot[i]
                _weigh(b, member, places, tree, weights)
                if a >= 0:
                    _weigh(a, member, places, tree, weights)
        if quiet:
            break
    total = np.int64(0)
    for group in range(n_groups):
        total += m * whole[group]
    for i in range(n):
        total += width * weight[0] if label[i] < 0 else -own[i]
    return total, label


@inner
def _weigh(group, member, places, tree, weights):
    """Note what a group weighs, and the nodes and the weight of it without each of its members: O(m x width) time.

    The lowest common ancestor of places is that of the first and the last one in preorder; without a member it is that
    of the second where this member is the first, and of the last but one where it is the last.
    """
    m = member.shape[1]
    weights.whole[group] = 0
    for s in range(m):
        weights.without[member[group, s]] = 0
    for p in range(places.shape[1]):
        first = np.int64(tree.last.size)
        second = first
        final = np.int64(-1)
        before_final = final
        for s in range(m):
            place = places[member[group, s], p]
            if place < first:
                second = first
                first = place
            elif place < second:
                second = place
            if place > final:
                before_final = final
                final = place
            elif place > before_final:
                before_final = place
        weights.whole[group] += tree.weight[cover(first, final, tree.last, tree.parent)]
        for s in range(m):
            i = member[group, s]
            place = places[i, p]
            low = second if place == first else first
            high = before_final if place == final else final
            weights.rest[i, p] = cover(low, high, tree.last, tree.parent)
            weights.without[i] += tree.weight[weights.rest[i, p]]


@inner
def _fits(member, group, slot, owner, i):
    """Return whether trajectory `i` may take this slot of a group: nobody is in a group twice."""
    alone = True
    for s in range(member.shape[1]):
        alone &= s == slot or owner[member[group, s]] != owner[i]
    return alone


@inner
def _keeps_secrets(member, group, slot, secrets, most, i):
    """Return whether, with trajectory `i` in this slot of a group, no secret of it is that of more than `most`."""
    keeps = True
    for s in range(secrets.shape[1]):
        secret = secrets[i, s]
        if secret < 0:
            continue
        n = np.int64(1)
        for other in range(member.shape[1]):
            if other != slot:
                for t in range(secrets.shape[1]):
                    n += secrets[member[group, other], t] == secret
        keeps &= n <= most
    return keeps
