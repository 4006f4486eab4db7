"""The batch loop of `GameBatch`: kernels that step many games, with arrays as arguments and results.

The caller passes all output buffers, in named groups (`engine.groups`). A *lane* is a row of the batch, and
plays one game after another.
"""

import numpy as np
from numpy import int64

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.bits import ONE, ZERO, has
from risk_env.core.chance import mix
from risk_env.core.goals import place_of
from risk_env.core.observe import observe
from risk_env.core.position import is_alive
from risk_env.core.step import act, start
from risk_env.core.types import NOBODY, Phase
from risk_env.engine.incremental_view import update_observation
from risk_env.engine.prefetch import NEAR_ROWS, fetch
from risk_env.engine.vectors import seats_marked, write_flags
from risk_env.engine.work_stealing import (
    ALONE,
    FIRST,
    SECOND,
    all_are_checked,
    become_ready,
    close_checks,
    is_called,
    is_caller,
    one_failed,
    report_checked,
    take,
)

NO_MASK = 0
BIT_MASK = 1
BYTE_MASK = 2
WIN_REWARD = 0
PLACEMENT_REWARD = 1
NO_LANE = -1
CHECKED_AT_ONCE = 256  # number of lanes that a thread takes at a time to check actions
PLAYED_AT_ONCE = 32  # number of lanes that a thread takes at a time to play actions


@entry_point
def first_illegal(games, rules, lanes, actions):
    """Return the first of `lanes` whose action is not legal, or NO_LANE.

    `actions` is int64 (N,). Finished games need no action.
    """
    return illegal_among(0, len(lanes), games, rules, lanes, actions)


@kernel
def illegal_among(first, last, games, rules, lanes, actions):
    """Return the result of `first_illegal` for `lanes[first:last]`."""
    most = int(rules[0].num_actions)
    for k in range(first, last):
        lane = lanes[k]
        action = actions[lane]
        legal = 0 <= action < most and has(games[lane].legal, action)
        if not legal and games[lane].phase != Phase.OVER:
            return lane
    return NO_LANE


@entry_point
def first_wrong(games, marks, lanes, stamp, are_begun):
    """Return the index in `lanes` of the first invalid lane, or NO_LANE if all lanes are valid.

    A lane is invalid if it is out of range or listed twice. If `are_begun`, a lane without a game is invalid
    too. Before the call, all `marks`, int64 (N,), must be below `stamp`.
    """
    for k in range(len(lanes)):
        lane = lanes[k]
        if not 0 <= lane < len(marks) or marks[lane] == stamp:
            return k
        if are_begun and games[lane].phase != Phase.OVER and not any_legal(games[lane]):
            return k
        marks[lane] = stamp
    return NO_LANE


@inlined
def any_legal(game):
    """Return True if any action is legal."""
    for w in range(len(game.legal)):
        if game.legal[w] != ZERO:
            return True
    return False


@entry_point
def write_seeds(seed, lanes, episodes, seeds):
    """Write the seed `mix(seed, lane, episode)` of the game in each of `lanes` into `seeds`, uint64 (N,)."""
    for k in range(len(lanes)):
        write_seed(seed, lanes[k], episodes, seeds)


@inlined
def write_seed(seed, lane, episodes, seeds):
    seeds[lane] = mix(seed, np.uint64(lane), np.uint64(episodes[lane]))


@entry_point
def start_lanes(games, boards, rules, lanes, seeds):
    """Begin a game in each of `lanes`, with the lane's seed from `seeds`, uint64 (N,)."""
    for k in range(len(lanes)):
        start(games, lanes[k], boards[0], rules[0], seeds[lanes[k]])


@entry_point
def step_lanes(records, results, ends, episodes, views, is_full_step, lanes, actions, share):
    """Play legal `actions`, int64 (N,), in `lanes`, and write the results of each seat.

    In a full step (`is_full_step`), `lanes` contains all lanes in order. A full step first checks all
    actions. If an action is illegal, the kernel does nothing and returns False. If an action ends a game, a
    full step writes the end (`write_final`) and, with autoreset, begins the lane's next game. After each
    action, a full step writes the next decision (`write_views`), while the game is in the processor's cache.

    Unless `share.thread` is ALONE, other threads make the same call and share the lanes of a full step
    (`work_stealing`). A helper thread then waits in the kernel for further full steps.
    """
    alone = share.thread == ALONE
    if alone:
        first, last = int64(0), len(lanes)  # types as from `take`, so that `step_some` is compiled once
        if is_full_step and any_illegal(first, last, records, lanes, actions):
            return False
        step_some(first, last, records, results, ends, episodes, views, is_full_step, lanes, actions, alone)
        return True
    while is_caller(share) or is_called(share):
        legal = check_shared(records, lanes, actions, share)
        if legal:
            first, last = take(share, SECOND, PLAYED_AT_ONCE)
            while first < last:
                step_some(
                    first, last, records, results, ends, episodes, views, is_full_step, lanes, actions, alone
                )
                first, last = take(share, SECOND, PLAYED_AT_ONCE)
        if is_caller(share):
            return legal
        become_ready(share)
    return True


@inlined
def any_illegal(first, last, records, lanes, actions):
    """Return True if the action of any lane in `lanes[first:last]` is illegal."""
    return illegal_among(first, last, records.games, records.rules, lanes, actions) != NO_LANE


@kernel
def check_shared(records, lanes, actions, share):
    """Check the actions together with other threads, and return True if all actions are known to be legal.

    If another thread takes too long, the caller checks all actions and plays all lanes alone.
    """
    first, last = take(share, FIRST, CHECKED_AT_ONCE)
    while first < last:
        report_checked(share, last - first, any_illegal(first, last, records, lanes, actions))
        first, last = take(share, FIRST, CHECKED_AT_ONCE)
    are_done = all_are_checked(share, len(lanes))
    if is_caller(share) and not are_done:
        are_done = close_checks(share, len(lanes))
        if not are_done:
            return not any_illegal(int64(0), len(lanes), records, lanes, actions)
    return are_done and not one_failed(share)


@kernel
def step_some(first, last, records, results, ends, episodes, views, is_full_step, lanes, actions, alone):
    """Step `lanes[first:last]` as `step_lanes` does. Unless `alone`, other threads step the other lanes."""
    games, board, rules = records.games, records.boards[0], records.rules[0]
    clear_rewards(first, last, lanes, is_full_step, results)
    for k in range(first, last):
        lane = lanes[k]
        if k + 1 < len(lanes):  # usually the lane that this thread steps next
            if len(games) > NEAR_ROWS:
                fetch_lane(lanes[k + 1], games, is_full_step, views)
            elif not alone:  # the lane may be in the cache of the thread that chose its action
                fetch(games, lanes[k + 1])
        is_over = step_game(games[lane], board, rules, actions[lane], lane, results)
        if is_full_step:
            if is_over:
                write_end(games[lane], board, rules, lane, ends)
                if episodes.autoreset:
                    begin_next(games, board, rules, lane, episodes)
            write_view(games[lane], board, rules, lane, views)


@inlined
def clear_rewards(first, last, lanes, are_all, results):
    """Set the results of `lanes[first:last]` to zero.

    If `are_all`, `lanes` contains all lanes in order. The kernel then uses slices, which are faster.
    """
    if are_all:
        results.rewards[first:last] = 0.0
        results.terminated[first:last] = False
        results.truncated[first:last] = False
    else:
        for k in range(first, last):
            results.rewards[lanes[k]] = 0.0
            results.terminated[lanes[k]] = False
            results.truncated[lanes[k]] = False


@inlined
def begin_next(games, board, rules, lane, episodes):
    """Begin the next game of `lane`."""
    episodes.numbers[lane] += 1
    write_seed(episodes.seed, lane, episodes.numbers, episodes.seeds)
    start(games, lane, board, rules, episodes.seeds[lane])


@inlined
def fetch_lane(lane, games, is_full_step, views):
    """Prefetch the memory that a step of a lane reads and writes."""
    fetch(games, lane)
    if is_full_step:
        fetch(views.masks, lane)
        fetch(views.view_cache, lane)
        fetch(views.observations, lane)


@inlined
def step_game(game, board, rules, action, lane, results):
    """Play a legal action, and return True if the game is over.

    Also write the results of seats whose episodes end. If the game is already over, no action is played.
    """
    was_over = game.phase == Phase.OVER
    dead = seats_marked(game.death)
    if not was_over:
        game.decisions += 1
        act(game, board, rules, action)
    over = game.phase == Phase.OVER
    if over != was_over or seats_marked(game.death) != dead:
        gets = (results.rewards[lane], results.terminated[lane], results.truncated[lane])
        write_rewards(game, board, rules, dead, results.kind, *gets)
    results.over[lane] = over
    return over


@kernel
def write_rewards(game, board, rules, dead_before, kind, rewards, terminated, truncated):
    """Write the rewards of the seats whose episodes end (docs/batch.md).

    The episode of a seat ends when the seat is eliminated or the game is over.
    """
    over = game.phase == Phase.OVER
    for seat in range(rules.num_players):
        dies = not is_alive(game, seat)
        ends = dies or over
        if (dead_before >> np.uint64(seat)) & ONE == ZERO and ends:
            truncated[seat] = bool(game.truncated) and not dies
            terminated[seat] = not truncated[seat]
            if terminated[seat]:
                rewards[seat] = reward_of(game, board, rules, seat, kind)


@kernel
def reward_of(game, board, rules, seat, kind):
    """Return the reward of a seat whose episode is terminated, not truncated.

    The winner gets 1, and any other seat -1 / (P - 1). With PLACEMENT_REWARD, rewards go from 1 (first place)
    down to -1 (last place) in even steps.
    """
    others = int(rules.num_players) - 1
    if kind == PLACEMENT_REWARD:
        return (others + 2.0 - 2.0 * place_of(game, board, rules, seat)) / others
    return 1.0 if game.winner == seat else -1.0 / others


@entry_point
def write_final(records, ends, lanes):
    """Write the places, final observations and round numbers of the games in `lanes` to `ends`."""
    for k in range(len(lanes)):
        write_end(records.games[lanes[k]], records.boards[0], records.rules[0], lanes[k], ends)


@kernel
def write_end(game, board, rules, lane, ends):
    """Write the place and the final observation of each seat, and the number of the last round, to `ends`."""
    ends.rounds[lane] = game.round_number
    for seat in range(rules.num_players):
        ends.placements[lane, seat] = place_of(game, board, rules, seat)
        if ends.observations.shape[2] > 0:
            words = ends.observations[lane, seat]
            observe(game, board, rules, seat, words, words.view(np.int8))


@entry_point
def write_views(records, views, lanes):
    """Write the seat to act in each of `lanes`, the legal actions, and the seat's observation."""
    for k in range(len(lanes)):
        write_view(records.games[lanes[k]], records.boards[0], records.rules[0], lanes[k], views)


@inlined
def write_view(game, board, rules, lane, views):
    """Write the seat to act in one game, the legal actions, and the seat's observation."""
    mask, words = views.masks[lane], views.observations[lane]
    seat = int64(game.seat)
    if views.mask_kind == BIT_MASK:
        write_bits(game, mask)
    elif views.mask_kind == BYTE_MASK:
        write_bytes(game, mask)
    if len(words) > 0 and seat != NOBODY:
        update_observation(game, board, rules, seat, views.view_cache[lane], words, words.view(np.int8))
    views.seats[lane] = seat


@inlined
def write_bits(game, mask):
    """Write the legal actions as bits: action `a` is bit `a % 64` of word `a // 64`."""
    for w in range(len(mask)):
        mask[w] = game.legal[w]


@inlined
def write_bytes(game, mask):
    """Write the legal actions as bytes 0 or 1, eight to a word.

    `mask` has room for a multiple of 64 actions.
    """
    for w in range(len(mask) >> 3):
        write_flags(game.legal[w], mask, 8 * w)


@entry_point
def seed_bots(seeds, lanes, randoms):
    """Write the first random state of each bot in `lanes` into `randoms`, uint64 (N, 6).

    The states come from `seeds`, the seeds of the lanes' games, uint64 (N,).
    """
    for k in range(len(lanes)):
        for seat in range(randoms.shape[1]):
            randoms[lanes[k], seat] = mix(seeds[lanes[k]], np.uint64(seat), np.uint64(1))
