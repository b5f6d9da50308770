"""Groups at a low loss: grown, leftovers absorbed, then trajectories moved and interchanged while the loss falls."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.knode.cost_guesses import guess_more, keep_on_list
from wayveil.kernels.knode.group_boxes import (
    HIGH,
    LOW,
    NEVER,
    count_of_owner,
    enclose,
    join,
    keeps_shares,
    leave,
    loss_if,
    new_boxes,
)
from wayveil.kernels.knode.group_growth import absorb, grow_groups

__all__ = ["low_loss_groups"]

_PASSES = 4  # the fourth gains less than half a percent
_TRY = 6  # groups for which the loss is computed, the others' is guessed
_NEAR = 2  # groups whose members are tried for an interchange
_SAMPLES = 16  # timestamps of a first look at an interchange
_SLACK = 1.03  # what such a look may be wrong by
_LEAST = 1e-9  # what a change must gain, in samples: rounding gains nothing


@kernel
def low_loss_groups(tracks, k, share):
    """Return the group of every trajectory, -1 where it is left out; groups have k to 2k - 1 owners.

    `tracks` is a `Tracks`.  `share` is a numerator and a denominator, of at least 1 / k: nobody owns more than this
    share of any group.  Left out are those that share no timestamp with a group that has room, and all if they have
    fewer than k owners.  Time O(n^2 + n x k x timestamps), memory about 200 / k bytes per sample: cut large classes
    before.
    """
    n = tracks.first.size
    longest = np.int64(1)
    for v in range(n):
        longest = max(longest, tracks.end[v] - tracks.start[v] + 1)
    boxes = new_boxes(n, n // k, longest)
    groups = grow_groups(tracks, boxes, k)
    # Local search instead of the k-node partition of the paper, which loses more.  Before each round every group has k
    # to 2k - 1 owners.  A round absorbs leftovers, then lets one trajectory after the other move to another group, or
    # change places with a member of one, whichever lowers the loss most.  It ends when a pass changes nothing, or after
    # a few passes.
    changed = True
    passes = np.int64(0)
    while True:
        # After every pass, as groups may have come to share more time; and again as long as somebody finds a group, as
        # a larger group has room for more trips of one person.
        absorbed = True
        while absorbed:
            absorbed = False
            for v in range(n):
                if boxes.label[v] < 0 and absorb(tracks, boxes, groups, v, k, share):
                    absorbed = True
        if passes == _PASSES or not changed:
            return boxes.label
        changed = False
        passes = passes + 1
        for v in range(n):
            if boxes.label[v] >= 0 and _improve(tracks, boxes, groups, v, k, share):
                changed = True


@inner
def _improve(tracks, boxes, groups, v, k, share):
    """Move v, or interchange it with another trajectory, if this lowers the loss; return whether it did."""
    a = boxes.label[v]
    here = loss_if(tracks, boxes, a, v, -1, NEVER, 1)
    free = boxes.owners[a] > k or count_of_owner(tracks, boxes, a, tracks.owner[v]) > 1
    free = free and keeps_shares(tracks, boxes, a, v, -1, share)
    who, cost, n_listed = _nearest(tracks, boxes, groups, v)
    to = np.int64(-1)
    other = np.int64(-1)
    best = -_LEAST
    # The best of all moves and interchanges with the nearest groups; `best` is the change of the loss, below zero.
    for i in range(n_listed):
        g = who[i]
        room = boxes.owners[g] < 2 * k - 1 or count_of_owner(tracks, boxes, g, tracks.owner[v]) > 0
        cheaper = here - boxes.loss[a] + cost[i] < best
        if free and room and cheaper and keeps_shares(tracks, boxes, g, -1, v, share):
            to = g
            other = -1
            best = here - boxes.loss[a] + cost[i]
        u = boxes.head[g]
        while u >= 0:
            change = _change(tracks, boxes, v, u, here, best)
            if change < best and _may_interchange(tracks, boxes, v, u, k, share):
                to = g
                other = u
                best = change
            u = boxes.follow[u]
    if to < 0:
        return False
    leave(tracks, boxes, v)
    if other >= 0:
        leave(tracks, boxes, other)
        join(tracks, boxes, a, other)
    join(tracks, boxes, to, v)
    enclose(tracks, boxes, a)
    enclose(tracks, boxes, to)
    return True


@inner
def _change(tracks, boxes, v, u, here, best):
    """Return how the loss changes if v and u take each other's places, or `NEVER` where it does not fall below `best`.

    `here` is the loss of v's group without v.  Long trajectories are first looked at in few timestamps.
    """
    a = boxes.label[v]
    g = boxes.label[u]
    now = boxes.loss[a] + boxes.loss[g]
    step = 1 + (boxes.span[g, HIGH] - boxes.span[g, LOW]) // _SAMPLES
    if step > 1:
        about = loss_if(tracks, boxes, g, u, v, _SLACK * now, step)
        if about + loss_if(tracks, boxes, a, v, u, _SLACK * now - about, step) > _SLACK * now:
            return NEVER
    loss_there = loss_if(tracks, boxes, g, u, v, now + best - here, 1)
    if here + loss_there >= now + best:
        return NEVER
    return loss_there + loss_if(tracks, boxes, a, v, u, now + best - loss_there, 1) - now


@inner
def _nearest(tracks, boxes, groups, v):
    """Return the groups, other than its own, where v costs least, with the costs and their number."""
    who = np.empty(_TRY, np.int64)
    cost = np.empty(_TRY, np.float64)
    n_listed = np.int64(0)
    for g in range(groups):
        if g != boxes.label[v]:
            guess = guess_more(tracks, boxes, g, v)
            if guess < NEVER:
                n_listed = keep_on_list(who, cost, n_listed, g, guess)
    # Of those with the least guesses, the least by their exact losses.
    near = np.empty(_NEAR, np.int64)
    more = np.empty(_NEAR, np.float64)
    n = np.int64(0)
    for i in range(n_listed):
        g = who[i]
        most = more[n - 1] if n == _NEAR else NEVER
        n = keep_on_list(near, more, n, g, loss_if(tracks, boxes, g, -1, v, boxes.loss[g] + most, 1) - boxes.loss[g])
    return near, more, n


@inner
def _may_interchange(tracks, boxes, v, u, k, share):
    """Return whether both groups keep k to 2k - 1 owners, none of them with more than a share."""
    if tracks.owner[v] == tracks.owner[u]:
        return True
    a = boxes.label[v]
    g = boxes.label[u]
    mine = tracks.owner[v]
    yours = tracks.owner[u]
    here = boxes.owners[a]
    owners = boxes.owners[g]
    here -= 1 if count_of_owner(tracks, boxes, a, mine) == 1 else 0
    here += 1 if count_of_owner(tracks, boxes, a, yours) == 0 else 0
    owners -= 1 if count_of_owner(tracks, boxes, g, yours) == 1 else 0
    owners += 1 if count_of_owner(tracks, boxes, g, mine) == 0 else 0
    if not (k <= here < 2 * k and k <= owners < 2 * k):
        return False
    return keeps_shares(tracks, boxes, a, v, u, share) and keeps_shares(tracks, boxes, g, u, v, share)
