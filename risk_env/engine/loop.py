"""The batch loop: many games, arrays in, arrays out (DESIGN, Contract: `GameBatch`).

All outputs are buffers of the caller. A *lane* is a row of the batch: one game after another.
"""

import numpy as np

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.bits import ONE, ZERO, has
from risk_env.core.chance import mix
from risk_env.core.goals import place_of
from risk_env.core.observe import observe
from risk_env.core.position import is_alive
from risk_env.core.step import act, start
from risk_env.core.types import NOBODY, Phase
from risk_env.engine.prefetch import NEAR_ROWS, fetch
from risk_env.engine.refresh import refresh
from risk_env.engine.signals import (
    ALONE,
    FIRST,
    SECOND,
    close,
    comes_to_an_end,
    hand_in,
    is_called,
    is_refused,
    report,
    take,
)
from risk_env.engine.vectors import seats_marked, write_flags

NO_MASK = 0
BIT_MASK = 1
BYTE_MASK = 2
WIN_REWARD = 0
PLACEMENT_REWARD = 1
NO_LANE = -1
CHECKED_AT_ONCE = 256  # lanes that a thread takes at a time
PLAYED_AT_ONCE = 32


@entry_point
def first_illegal(games, rules, lanes, actions):
    """The first lane whose action (int64, N) is not legal, NO_LANE if there is none; finished games need no action."""
    return illegal_among(0, len(lanes), games, rules, lanes, actions)


@kernel
def illegal_among(first, last, games, rules, lanes, actions):
    """`first_illegal` from lane number `first` to before `last`."""
    most = int(rules[0].num_actions)
    for k in range(first, last):
        lane = lanes[k]
        action = actions[lane]
        legal = 0 <= action < most and has(games[lane].legal, action)
        if not legal and games[lane].phase != Phase.OVER:
            return lane
    return NO_LANE


@entry_point
def write_seeds(seed, lanes, episodes, seeds):
    """Seeds of the lanes' games, uint64 (N,): `mix(seed, lane, episode)`."""
    for k in range(len(lanes)):
        write_seed(seed, lanes[k], episodes, seeds)


@inlined
def write_seed(seed, lane, episodes, seeds):
    seeds[lane] = mix(seed, np.uint64(lane), np.uint64(episodes[lane]))


@entry_point
def start_lanes(games, boards, rules, lanes, seeds):
    """Begin a game in each of the lanes, with chance from its seed, uint64 (N,)."""
    for k in range(len(lanes)):
        start(games[lanes[k]], boards[0], rules[0], seeds[lanes[k]])


@entry_point
def step_lanes(
    games, boards, rules, reward_kind, rewards, terminated, truncated, over,
    goes_on, placements, rounds, final_words, final_views, begins, seed, episodes, seeds,
    mask_kind, masks, shown, words, views, seats, lanes, actions, signals, bounds, thread, patience,
):  # fmt: skip
    """Play a legal action in each of the lanes; write what each seat gets: rewards float32, terminated and truncated
    bool (N, P), and whether the game is over, bool (N,).

    With `goes_on` a whole step of all lanes, in their order. First all actions are checked: False, and nothing done, if
    one is illegal. And while a game is at hand, what follows: its end is kept (`write_final`), with `begins` the lane's
    next game begun, and the next question written (`write_questions`).

    Unless `thread` is ALONE, others do the same and all share the lanes of a whole step (`core.signals`); a helper does
    so again at every call.
    """
    played = (games, boards, rules, reward_kind, rewards, terminated, truncated, over)
    ends = (goes_on, placements, rounds, final_words, final_views, begins, seed, episodes, seeds)
    questions = (mask_kind, masks, shown, words, views, seats)
    checked = (games, rules, lanes, actions)
    if thread == ALONE:
        if goes_on and illegal_among(0, len(lanes), *checked) != NO_LANE:
            return False
        step_some(0, len(lanes), False, lanes, actions, *played, *ends, *questions)
        return True
    is_caller = thread == len(signals) - 1
    while is_caller or is_called(signals, thread, patience):
        legal = check_shared(signals, bounds, thread, patience, *checked)
        if legal:
            first, last = take(signals, bounds, SECOND, thread, PLAYED_AT_ONCE)
            while first < last:
                step_some(first, last, True, lanes, actions, *played, *ends, *questions)
                first, last = take(signals, bounds, SECOND, thread, PLAYED_AT_ONCE)
        if is_caller:
            return legal
        report(signals, thread)
    return True


@kernel
def check_shared(signals, bounds, thread, patience, games, rules, lanes, actions):
    """Check the actions together with other threads; whether all are known to be legal.

    Where another takes long over its own, the caller checks all of them by itself, and plays by itself.
    """
    first, last = take(signals, bounds, FIRST, thread, CHECKED_AT_ONCE)
    while first < last:
        hand_in(signals, last - first, illegal_among(first, last, games, rules, lanes, actions) != NO_LANE)
        first, last = take(signals, bounds, FIRST, thread, CHECKED_AT_ONCE)
    is_done = comes_to_an_end(signals, len(lanes), patience)
    if thread == len(signals) - 1 and not is_done:
        is_done = close(signals, len(lanes))
        if not is_done:
            return illegal_among(0, len(lanes), games, rules, lanes, actions) == NO_LANE
    return is_done and not is_refused(signals)


@kernel
def step_some(
    first, last, is_shared, lanes, actions, games, boards, rules, reward_kind, rewards, terminated, truncated, over,
    goes_on, placements, rounds, final_words, final_views, begins, seed, episodes, seeds,
    mask_kind, masks, shown, words, views, seats,
):  # fmt: skip
    """`step_lanes` from lane number `first` to before `last`; `is_shared` if other threads have a part of the lanes."""
    forget_pay(first, last, lanes, goes_on, rewards, terminated, truncated)
    for k in range(first, last):
        lane = lanes[k]
        if k + 1 < len(lanes):  # mostly this thread takes it next
            if len(games) > NEAR_ROWS:
                fetch_lane(lanes[k + 1], goes_on, games, masks, shown, words)
            elif is_shared:  # the thread that chose its action may have it
                fetch(games, lanes[k + 1])
        game = games[lane]
        gets = (rewards[lane], terminated[lane], truncated[lane])
        over[lane] = step_game(game, boards[0], rules[0], actions[lane], reward_kind, *gets)
        if goes_on:
            if over[lane]:
                rounds[lane] = game.round_number
                keep_end(game, boards[0], rules[0], placements[lane], final_words[lane], final_views[lane])
                if begins:
                    begin_next(game, boards[0], rules[0], seed, lane, episodes, seeds)
            buffers = (masks[lane], shown[lane], words[lane], views[lane])
            seats[lane] = write_question(game, boards[0], rules[0], mask_kind, *buffers)


@inlined
def forget_pay(first, last, lanes, are_all, rewards, terminated, truncated):
    """Nobody gets anything; if these are all lanes in their order, their rows are one piece, which is faster."""
    if are_all:
        rewards[first:last] = 0.0
        terminated[first:last] = False
        truncated[first:last] = False
    else:
        for k in range(first, last):
            rewards[lanes[k]] = 0.0
            terminated[lanes[k]] = False
            truncated[lanes[k]] = False


@inlined
def begin_next(game, board, rules, seed, lane, episodes, seeds):
    """The lane's next game."""
    episodes[lane] += 1
    write_seed(seed, lane, episodes, seeds)
    start(game, board, rules, seeds[lane])


@inlined
def fetch_lane(lane, goes_on, games, masks, shown, words):
    """Ask for what a step of a lane reads and writes."""
    fetch(games, lane)
    if goes_on:
        fetch(masks, lane)
        fetch(shown, lane)
        fetch(words, lane)


@inlined
def step_game(game, board, rules, action, reward_kind, rewards, terminated, truncated):
    """Play a legal action, none in a game that is over; write what seats get that end. Whether the game is over."""
    was_over = game.phase == Phase.OVER
    dead = seats_marked(game.death)
    if not was_over:
        game.decisions += 1
        act(game, board, rules, action)
    over = game.phase == Phase.OVER
    if over != was_over or seats_marked(game.death) != dead:
        pay(game, board, rules, dead, reward_kind, rewards, terminated, truncated)
    return over


@kernel
def pay(game, board, rules, dead_before, kind, rewards, terminated, truncated):
    """Seats that died get their reward and end; at the end of the game so do all that still lived (DESIGN, Rewards)."""
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
    """What a seat that ends is paid: 1 or -1 / (P - 1); or by its place, from 1 down to -1 in even steps."""
    others = int(rules.num_players) - 1
    if kind == PLACEMENT_REWARD:
        return (others + 2.0 - 2.0 * place_of(game, board, rules, seat)) / others
    return 1.0 if game.winner == seat else -1.0 / others


@entry_point
def write_final(games, boards, rules, lanes, placements, rounds, words, views):
    """Keep the end of the games of these lanes: places (N, P), rounds (N,) and every seat's last view (N, P, D)."""
    for k in range(len(lanes)):
        lane = lanes[k]
        rounds[lane] = games[lane].round_number
        keep_end(games[lane], boards[0], rules[0], placements[lane], words[lane], views[lane])


@kernel
def keep_end(game, board, rules, placements, words, views):
    """Places (P,) and views (P, D) of all seats."""
    for seat in range(rules.num_players):
        placements[seat] = place_of(game, board, rules, seat)
        if views.shape[1] > 0:
            observe(game, board, rules, seat, words[seat], views[seat])


@entry_point
def write_questions(games, boards, rules, mask_kind, masks, shown, words, views, seats, lanes):
    """For the seat to decide in each lane: its number (int64), its mask (uint64 words) and its view (int8).

    `shown` tells of the views as they stand (`core.refresh`).
    """
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        buffers = (masks[lane], shown[lane], words[lane], views[lane])
        seats[lane] = write_question(game, boards[0], rules[0], mask_kind, *buffers)


@kernel
def write_question(game, board, rules, mask_kind, mask, shown, words, view):
    """The seat to decide in one game, having written its mask and its view."""
    seat = int(game.seat)
    if mask_kind == BIT_MASK:
        write_bits(game, mask)
    elif mask_kind == BYTE_MASK:
        write_bytes(game, mask)
    if len(view) > 0 and seat != NOBODY:
        refresh(game, board, rules, seat, shown, words, view)
    return seat


@inlined
def write_bits(game, mask):
    """The legal actions as they are: action a in bit a % 64 of word a // 64."""
    for w in range(len(mask)):
        mask[w] = game.legal[w]


@inlined
def write_bytes(game, mask):
    """The legal actions as bytes 0 or 1, eight to a word; `mask` has room for 64 actions at a time."""
    for w in range(len(mask) >> 3):
        write_flags(game.legal[w], mask, 8 * w)


@entry_point
def seed_bots(seeds, lanes, randoms):
    """State of each bot's own chance: randoms uint64 (N, 6) from the seeds of the lanes' games, uint64 (N,)."""
    for k in range(len(lanes)):
        for seat in range(randoms.shape[1]):
            randoms[lanes[k], seat] = mix(seeds[lanes[k]], np.uint64(seat), np.uint64(1))
