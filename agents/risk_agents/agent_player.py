"""Agents as players of an Arena (`risk_env.arena.Player`): what any spec stands for, at any seat of many lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from risk_agents.external import is_program
from risk_agents.learned.schema import unfamiliar_phases
from risk_agents.llm.agent import is_model
from risk_agents.registry import load, make
from risk_env.agent import Agent, View, chance_seed, close, prepare
from risk_env.arena import Player
from risk_env.arrays import Numbers
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.observe import TERRITORY_WIDTH
from risk_env.lanes import Lanes
from risk_env.seeds import bot_seed


def player_for(spec: str, rules: Rules, board: Board) -> CompiledBot | Player:
    """Make the player of a spec (see `make`), prepared for games by these rules on this map."""
    if not is_program(spec) and not is_model(spec):
        found = load(spec)
        if isinstance(found, CompiledBot):
            return found
        if spec.endswith(".zip"):
            agent = found()
            agent.prepare(rules, board)  # ValueError for other games than the policy was trained for
            return LikeliestPlayer(agent.policy, agent.schema.rules, board)
    return AgentPlayer(lambda: make(spec))


class AgentPlayer:
    """Agents that are asked one by one: one a seat in each lane, made and prepared when its first game begins."""

    def __init__(self, make_agent: Callable[[], Agent]) -> None:
        self._make = make_agent
        self._agents: dict[tuple[int, int], Agent] = {}  # by lane and seat
        self._chance: dict[tuple[int, int], int] = {}

    def begin(self, batch: Lanes, lanes: Numbers, seats: Numbers) -> None:
        """Reset the agents of these seats, with new chance."""
        for key in zip(lanes.tolist(), seats.tolist(), strict=True):
            lane, seat = key
            agent = self._agents.get(key) or self._made(batch)
            self._agents[key] = agent
            self._chance[key] = chance_seed(agent, int(bot_seed(int(batch.seeds[lane]), seat)))
            agent.reset(seat, batch.rules, batch.board, self._chance[key])

    def _made(self, batch: Lanes) -> Agent:
        """A new agent, which has prepared."""
        agent = self._make()
        prepare(agent, batch.rules, batch.board)
        return agent

    def choose(self, batch: Lanes, lanes: Numbers, actions: Numbers) -> None:
        """Ask the agent that is to decide in each of these lanes."""
        for lane in lanes.tolist():
            game = batch.game(lane)
            key = lane, game.seat
            actions[lane] = int(self._agents[key].act(View(game, chance=self._chance[key])))

    def close(self) -> None:
        """End the agents that are programs."""
        for agent in self._agents.values():
            close(agent)


class LikeliestPlayer:
    """A policy that is not compiled, asked for all lanes at once: its likeliest actions.

    `policy.logits(codes, masks)` gives float (k, n) of codes int8 (k, D) and masks (k, n); `trained` are its rules.
    """

    def __init__(self, policy: Any, trained: Rules, board: Board) -> None:
        self._policy = policy
        self._unfamiliar = TERRITORY_WIDTH * board.num_territories + np.flatnonzero(unfamiliar_phases(trained))

    def begin(self, batch: Lanes, lanes: Numbers, seats: Numbers) -> None:
        """A policy keeps nothing of a game."""

    def choose(self, batch: Lanes, lanes: Numbers, actions: Numbers) -> None:
        """The likeliest actions, or the last legal ones where a question is new (`unfamiliar_phases`)."""
        batch.ask(lanes)
        codes, masks = np.asarray(batch.observation)[lanes], np.asarray(batch.action_mask)[lanes]
        likeliest = self._policy.logits(codes, masks).argmax(axis=1)
        last = masks.shape[1] - 1 - (masks[:, ::-1] > 0).argmax(axis=1)
        actions[lanes] = np.where(codes[:, self._unfamiliar].any(axis=1), last, likeliest)
