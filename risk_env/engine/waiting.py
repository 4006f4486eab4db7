"""Who has to decide next in each lane of a batch: its learner, one of the players against it, or nobody."""

from risk_env.compiler import entry_point, inlined
from risk_env.core.types import NOBODY


@entry_point
def sort_lanes(games, learners, numbers, starts, lanes, groups):
    """Sort lanes by who is next, into `groups` (int64, N): group 0 those that are over or whose learner is dead, group
    1 + p those in which player p is to decide; group g begins at `starts[g]`. Where the learner is to decide: in none.
    """
    starts[:] = 0
    for k in range(len(lanes)):
        starts[group_of(games[lanes[k]], learners[lanes[k]], numbers[lanes[k]]) + 1] += 1
    starts[0] = 0
    for group in range(1, len(starts)):
        starts[group] += starts[group - 1]
    for k in range(len(lanes)):
        group = group_of(games[lanes[k]], learners[lanes[k]], numbers[lanes[k]])
        if group >= 0:
            groups[starts[group]] = lanes[k]
            starts[group] += 1
    for group in range(len(starts) - 1, 0, -1):
        starts[group] = starts[group - 1]
    starts[0] = 0


@inlined
def group_of(game, learner, numbers):
    """Group of a lane (`sort_lanes`), -1 if its learner is to decide."""
    if game.seat == NOBODY or game.death[learner] != 0:
        return 0
    return -1 if game.seat == learner else 1 + numbers[game.seat]
