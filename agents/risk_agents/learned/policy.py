"""Trained policies with the project's own network: `.npz` files, and compiled bots that use the policies."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from risk_agents.learned.compiled_network import Network, compiled_network, forward, forward_all, workspace
from risk_agents.learned.features import checked_codes
from risk_agents.learned.layout import Layout
from risk_agents.learned.schema import unfamiliar_phases
from risk_agents.learned.trained import POLICY, TrainedFile
from risk_agents.scripted.board_sense import draw_word, last_legal
from risk_env.arrays import Array
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.bits import has
from risk_env.core.observe import TERRITORY_WIDTH, observe

MOST_UNITS = 4096  # maximum number of units of a layer
_BITS = 64  # bits of a uint64
_FRACTION_BITS = 53  # significant bits of a float64
_SPARE_BITS = np.uint64(_BITS - _FRACTION_BITS)


class PolicyFile(TrainedFile):
    """File of a trained policy: weights, schema, and facts about the training."""

    KIND = POLICY

    @cached_property
    def layout(self) -> Layout:
        """Layout of the network."""
        return Layout(self.schema.rules, self.schema.board, self.schema.num_actions)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by name, computed from the schema."""
        sizes = self.size_of("trunk_1", MOST_UNITS), self.size_of("territory_in", MOST_UNITS)
        return self.layout.all_shapes(*sizes)

    @cached_property
    def network(self) -> Network:
        """Layout and weights as arrays for kernels."""
        return compiled_network(self.layout, self.arrays)

    @cached_property
    def unfamiliar(self) -> npt.NDArray[np.bool_]:
        """Mask of the dice phases that never occurred in training (`unfamiliar_phases`), bool (phases,)."""
        return unfamiliar_phases(self.schema.rules)

    def logits(self, observations: Array, masks: Array) -> Array:
        """Return the logits, float32 (k, n), of observations, int8 (k, D), with masks (k, n).

        The logits of illegal actions are -inf.
        """
        return np.where(np.asarray(masks) > 0, self.logits_and_values(observations, masks)[0], -np.inf)

    def logits_and_values(self, observations: Array, masks: Array) -> tuple[Array, Array]:
        """Return the logits, float32 (k, n), and the values before the sigmoid, float32 (k,).

        The logits of illegal actions are meaningless. Raises ValueError unless `observations` are int8 (k, D)
        from 0 to 127, and `masks` have the shape (k, n).
        """
        codes, legal = checked_codes(self.network.spec, observations), np.asarray(masks) > 0
        if legal.shape != (len(codes), self.layout.num_actions):
            raise ValueError(
                f"masks have shape {legal.shape}: must be {(len(codes), self.layout.num_actions)}"
            )
        logits, values = np.zeros(legal.shape, np.float32), np.zeros(len(legal), np.float32)
        padding = -legal.shape[1] % _BITS
        bits = np.packbits(np.pad(legal, ((0, 0), (0, padding))), axis=1, bitorder="little")
        forward_all(self.network, codes, bits.view(np.uint64), logits, values)
        return logits, values

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """Return the bot that plays the likeliest actions; `source` names the policy in errors."""
        policy = self

        def choose(games, boards, rules, lanes, randoms, memory, actions):
            choose_actions(
                games, boards, rules, lanes, randoms, actions, policy.network, policy.unfamiliar, False
            )

        return self.bot_of(choose, source, name)


@vectorized_entry_point
def choose_actions(games, boards, rules, lanes, randoms, actions, network, unfamiliar, draws):
    """Choose an action in each lane.

    If `draws` is true, the action is drawn with the policy's probabilities. Otherwise the action is the
    likeliest legal action. In a phase of `unfamiliar`, the action is the last legal action.
    """
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
        forward(network, observation, game.legal, logits, work)
        actions[lane] = (
            drawn(game, logits, draw_word(randoms, lane, seat)) if draws else likeliest(game, logits)
        )


@inlined
def observation_words(network):
    """Return a uint64 array that has room for an observation."""
    spec = network.spec
    return np.zeros((TERRITORY_WIDTH * spec.num_territories + len(spec.global_values)) // 8, np.uint64)


@kernel
def likeliest(game, logits):
    """Return the legal action with the highest logit."""
    best = -1
    for action in range(len(logits)):
        if has(game.legal, action) and (best < 0 or logits[action] > logits[best]):
            best = action
    return best


@kernel
def drawn(game, logits, word):
    """Draw a legal action with the probabilities that the logits imply; `word` contains 64 random bits."""
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
    """Return the sum of `odds` over all legal actions."""
    total = 0.0
    for action in range(len(logits)):
        if has(game.legal, action):
            total += odds(logits, action, best)
    return total


@inlined
def odds(logits, action, best):
    """Return the probability of an action, divided by the probability of the likeliest action."""
    return np.exp(np.float64(logits[action]) - np.float64(logits[best]))
