"""First groups: from the outside inwards, each around the trajectory that is farthest off."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.knode.cost_guesses import guess_more, keep_on_list
from wayveil.kernels.knode.group_boxes import NEVER, count_of_owner, enclose, join, keeps_shares, leave, loss_if

__all__ = ["absorb", "grow_groups"]

_TRY = 8  # candidates whose loss is computed, the others' is guessed


@inner
def grow_groups(tracks, boxes, k):
    """Make groups of k owners, one trajectory each, and return how many; O(n^2) guesses.

    The outermost trajectory that is left takes the one that costs least, then the next, until there are k owners.
    What remains has fewer than k owners, or shares no timestamp with enough others.
    """
    profile = _profiles(tracks)
    tried = np.zeros(tracks.first.size, np.int64)
    groups = np.int64(0)
    # From the outside inwards: those at the rim have the fewest to choose from.  Before each round groups have k owners
    # each, and whoever was tried in vain is in none, but may still be taken by others.  A round grows a group around
    # the outermost one that is left, by the trajectory of a new owner that costs least; if it does not come to k
    # owners, because no others share a timestamp, it is dissolved.  Everybody is tried once, so it ends.
    while _owners_left(tracks, boxes) >= k:
        best = _outermost(boxes, profile, tried)
        if best < 0:
            break
        tried[best] = 1
        while best >= 0:
            join(tracks, boxes, groups, best)
            enclose(tracks, boxes, groups)
            best = _cheapest(tracks, boxes, groups) if boxes.owners[groups] < k else -1
        if boxes.owners[groups] == k:
            groups += 1
        else:
            while boxes.head[groups] >= 0:
                leave(tracks, boxes, boxes.head[groups])
    return groups


@inner
def absorb(tracks, boxes, groups, v, k, share):
    """Put v into the group where it costs least, of those that share a timestamp with it and stay below 2k owners.

    Nor may its owner get more than a share of the group.  Returns whether there is such a group.
    """
    best = np.int64(-1)
    least = NEVER
    for g in range(groups):
        has_room = boxes.owners[g] < 2 * k - 1 or count_of_owner(tracks, boxes, g, tracks.owner[v]) > 0
        if has_room and keeps_shares(tracks, boxes, g, -1, v, share):
            more = loss_if(tracks, boxes, g, -1, v, boxes.loss[g] + least, 1) - boxes.loss[g]
            if more < least:
                best = g
                least = more
    if best >= 0:
        join(tracks, boxes, best, v)
        enclose(tracks, boxes, best)
    return best >= 0


@inner
def _cheapest(tracks, boxes, g):
    """Return the trajectory of a new owner that costs least in group g, or -1."""
    who = np.empty(_TRY, np.int64)
    cost = np.empty(_TRY, np.float64)
    n_listed = np.int64(0)
    for v in range(tracks.first.size):
        if boxes.label[v] < 0 and count_of_owner(tracks, boxes, g, tracks.owner[v]) == 0:
            guess = guess_more(tracks, boxes, g, v)
            if guess < NEVER:
                n_listed = keep_on_list(who, cost, n_listed, v, guess)
    # Only for those with the least guesses the loss is computed.
    best = np.int64(-1)
    least = NEVER
    for i in range(n_listed):
        loss = loss_if(tracks, boxes, g, -1, who[i], least, 1)
        if loss < least:
            best = who[i]
            least = loss
    return best


@inner
def _owners_left(tracks, boxes):
    """Return how many owners have a trajectory in no group; owners are codes below n."""
    seen = np.zeros(tracks.first.size, np.int64)
    owners = np.int64(0)
    for v in range(tracks.first.size):
        if boxes.label[v] < 0 and seen[tracks.owner[v]] == 0:
            seen[tracks.owner[v]] = 1
            owners += 1
    return owners


@inner
def _profiles(tracks):
    """Return where trajectories start, are half way and end: six numbers each."""
    profile = np.empty((tracks.first.size, 6), np.float64)
    for v in range(tracks.first.size):
        for i in range(3):
            at = tracks.first[v] + i * (tracks.end[v] - tracks.start[v]) // 2
            profile[v, 2 * i] = tracks.x[at]
            profile[v, 2 * i + 1] = tracks.y[at]
    return profile


@inner
def _outermost(boxes, profile, tried):
    """Return the trajectory that is farthest from the middle of those that are left, or -1.

    `profile` is what `_profiles` returns, and ``tried[v]`` (int64) is 1 for those that do not count.
    """
    middle = np.zeros(6, np.float64)
    left = np.int64(0)
    for v in range(tried.size):
        if boxes.label[v] < 0 and tried[v] == 0:
            left += 1
            for i in range(6):
                middle[i] += profile[v, i]
    best = np.int64(-1)
    most = -1.0
    for v in range(tried.size):
        if boxes.label[v] < 0 and tried[v] == 0:
            far = 0.0
            for i in range(6):
                far += (profile[v, i] - middle[i] / left) ** 2
            if far > most:
                best = v
                most = far
    return best
