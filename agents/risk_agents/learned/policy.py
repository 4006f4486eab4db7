"""Trained policies with the project's own network: the `.npz` file, and the compiled bot that plays it."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from risk_agents.learned.layout import Layout
from risk_agents.learned.network import Network, answer, answer_all, compiled_network, workspace
from risk_agents.learned.schema import schema_of, unfamiliar_phases
from risk_agents.learned.trained import POLICY, TrainedFile
from risk_agents.scripted.board_sense import draw_word, last_legal
from risk_env.arrays import Array
from risk_env.board.maps import load_map
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.bits import has
from risk_env.core.observe import TERRITORY_WIDTH, observe

MOST_UNITS = 4096  # of a layer
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
        self.schema.check(schema_of(rules, board), str(self.made.get("name", "without a name")))
        return Layout(rules, board, self.schema.num_actions)

    @cached_property
    def network(self) -> Network:
        """Layout and weights as kernels take them; ValueError for weights that do not fit the layout."""
        width, local = self.size_of("trunk_1", MOST_UNITS), self.size_of("territory_in", MOST_UNITS)
        return compiled_network(self.layout, self.checked_weights(self.layout.all_shapes(width, local)))

    @cached_property
    def unfamiliar(self) -> npt.NDArray[np.bool_]:
        """bool (phases,): questions that never came up in training."""
        return unfamiliar_phases(self.schema.rules)

    def logits(self, observations: Array, masks: Array) -> Array:
        """float32 (k, n) of observations int8 (k, D) and masks (k, n); -inf where not legal."""
        legal = np.asarray(masks) > 0
        return np.where(legal, self.answer(observations, legal)[0], -np.inf)

    def answer(self, observations: Array, masks: Array) -> tuple[Array, Array]:
        """Logits float32 (k, n), those of illegal actions mean nothing, and values before the sigmoid, float32 (k,)."""
        logits, values = np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)
        padding = -masks.shape[1] % _BITS
        bits = np.packbits(np.pad(np.asarray(masks) > 0, ((0, 0), (0, padding))), axis=1, bitorder="little")
        answer_all(self.network, np.ascontiguousarray(observations, np.int8), bits.view(np.uint64), logits, values)
        return logits, values

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """The bot that plays the likeliest actions; errors call the policy `source`."""
        policy = self

        def choose(games, boards, rules, lanes, randoms, memory, actions):
            answer_lanes(games, boards, rules, lanes, randoms, actions, policy.network, policy.unfamiliar, False)

        return self.bot_of(choose, source, name)


@vectorized_entry_point
def answer_lanes(games, boards, rules, lanes, randoms, actions, network, unfamiliar, draws):
    """Answer in each of the lanes: the likeliest legal action or, with `draws`, one by the policy's probabilities."""
    words = observation_words(network)
    observation, work = words.view(np.int8), workspace(network)
    logits = np.zeros(len(network.actions_bias), np.float32)
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int(game.seat)
        if unfamiliar[game.phase]:
            actions[lane] = last_legal(game, rules[0])
            continue
        observe(game, boards[0], rules[0], seat, words, observation)
        answer(network, observation, game.legal, logits, work)
        actions[lane] = drawn(game, logits, draw_word(randoms, lane, seat)) if draws else likeliest(game, logits)


@inlined
def observation_words(network):
    """An array for an observation, as words."""
    spec = network.spec
    return np.zeros((TERRITORY_WIDTH * spec.num_territories + len(spec.global_values)) // 8, np.uint64)


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
    """A legal action drawn by the logits' probabilities from 64 random bits."""
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
    """Probability of an action, divided by that of the likeliest."""
    return np.exp(np.float64(logits[action]) - np.float64(logits[best]))
