"""Trained policies of the project's own trainer: the `.npz` file, and the bot that plays it.

The bot is compiled (`risk_agents.learned.network`): it plays wherever compiled bots do, at their speed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.base import CompiledAgent
from risk_agents.learned.layout import Layout
from risk_agents.learned.network import Network, answer, answer_all, compiled_network, workspace
from risk_agents.learned.schema import schema_of
from risk_agents.learned.trained import POLICY, TrainedFile
from risk_agents.scripted.board_sense import draw_word
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.bits import has
from risk_env.core.observe import TERRITORY_WIDTH, observe
from risk_env.core.types import Phase

Array = npt.NDArray[Any]

_BITS = 64  # of a word
_FRACTION_BITS = 53  # of a float64
_SPARE_BITS = np.uint64(_BITS - _FRACTION_BITS)


class PolicyFile(TrainedFile):
    """A trained policy: weights, what they were trained for, and how."""

    KIND = POLICY

    @cached_property
    def layout(self) -> Layout:
        """The layout of the network."""
        rules, board = self.schema.rules, load_map(self.schema.map_source)
        return Layout(rules, board, self.schema.num_actions)

    @cached_property
    def network(self) -> Network:
        """Layout and weights as kernels take them."""
        return compiled_network(self.layout, self.weights)

    @cached_property
    def asked_anew(self) -> npt.NDArray[np.bool_]:
        """bool (phases,): questions that never came up in training."""
        trained, anew = self.schema.rules, np.zeros(len(Phase), np.bool_)
        anew[Phase.ATTACK_DICE], anew[Phase.DEFEND] = trained.attack != "choice", trained.defender_dice != "choice"
        return anew

    def logits(self, codes: Array, masks: Array) -> Array:
        """float32 (k, n) of codes int8 (k, D) and masks (k, n); -inf where not legal."""
        legal = np.asarray(masks) > 0
        return np.where(legal, self.answer(codes, legal)[0], -np.inf)

    def answer(self, codes: Array, masks: Array) -> tuple[Array, Array]:
        """Logits float32 (k, n), those of what is not legal mean nothing, and outputs for the values, float32 (k,)."""
        logits, values = np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)
        room = -(-masks.shape[1] // _BITS) * _BITS - masks.shape[1]
        bits = np.packbits(np.pad(np.asarray(masks) > 0, ((0, 0), (0, room))), axis=1, bitorder="little")
        answer_all(self.network, np.ascontiguousarray(codes, np.int8), bits.view(np.uint64), logits, values)
        return logits, values

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """The bot that plays the likeliest actions; `source` is what errors call the policy."""
        policy = self

        def check(rules: Rules, board: Board) -> None:
            policy.schema.check(schema_of(rules, board), source)

        def choose(games, boards, rules, lanes, randoms, memory, actions):
            answer_lanes(games, boards, rules, lanes, randoms, actions, policy.network, policy.asked_anew, False)

        made = self.made
        return CompiledBot(name or str(made.get("name", source)), str(made.get("version", "1")), choose, check=check)


@vectorized_entry_point
def answer_lanes(games, boards, rules, lanes, randoms, actions, network, asked_anew, draws):
    """Answer in each of the lanes: with the likeliest legal action or, where `draws`, as likely as the policy says."""
    words = view_words(network)
    view, work = words.view(np.int8), workspace(network)
    logits = np.zeros(len(network.actions_bias), np.float32)
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int(game.seat)
        if asked_anew[game.phase]:
            actions[lane] = most_dice(game, rules[0])
            continue
        observe(game, boards[0], rules[0], seat, words, view)
        answer(network, view, game.legal, logits, work)
        actions[lane] = drawn(game, logits, draw_word(randoms, lane, seat)) if draws else likeliest(game, logits)


@inlined
def view_words(network):
    """Room for a view, as words."""
    sight = network.sight
    return np.zeros((TERRITORY_WIDTH * sight.num_territories + len(sight.other_values)) // 8, np.uint64)


@kernel
def most_dice(game, rules):
    """The answer to a question about dice that never came up in training: a blitz or the most dice, the last legal."""
    action = int(rules.num_actions) - 1
    while not has(game.legal, action):
        action -= 1
    return action


@kernel
def likeliest(game, logits):
    """The legal action with the highest logit."""
    best = -1
    for action in range(len(logits)):
        if has(game.legal, action) and (best < 0 or logits[action] > logits[best]):
            best = action
    return best


@kernel
def drawn(game, logits, word):
    """A legal action, each as likely as the logits say, chosen by 64 random bits."""
    best = likeliest(game, logits)
    left = total_odds(game, logits, best) * float(word >> _SPARE_BITS) * 2.0**-_FRACTION_BITS
    for action in range(len(logits)):
        if has(game.legal, action):
            left -= odds(logits, action, best)
            if left < 0:
                return action
    return best


@kernel
def total_odds(game, logits, best):
    """The odds of all legal actions added up."""
    total = 0.0
    for action in range(len(logits)):
        if has(game.legal, action):
            total += odds(logits, action, best)
    return total


@inlined
def odds(logits, action, best):
    """How many times as likely an action is as the likeliest."""
    return np.exp(np.float64(logits[action]) - np.float64(logits[best]))


class PolicyAgent(CompiledAgent):
    """Plays the likeliest action of a policy file, in the games that the file was trained for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.policy = PolicyFile.load(path)
        super().__init__(self.policy.bot(str(path)))


def load_bot(path: str | Path, name: str | None = None) -> CompiledBot:
    """The bot of a policy file."""
    return PolicyFile.load(path).bot(name or str(path), name)
