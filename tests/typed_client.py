"""A small program that uses the public interface, only for `mypy --strict` (tests/test_packaging.py)."""

import numpy as np
import numpy.typing as npt

import risk_env
from risk_env import Agent, View, risk_v0


class First(Agent):
    """An agent that chooses the first legal action."""

    name, version = "first", "1"

    def act(self, view: View) -> int:
        return int(view.legal_actions[0])


def play(rules: risk_env.Rules, board: risk_env.Board) -> tuple[int, bytes]:
    """Play a few actions of a game and return its winner and its saved form."""
    game = risk_env.Game(rules, board, seed=7)
    for _ in range(10):
        game.step(int(game.legal_actions()[0]))
    state: risk_env.PublicState = game.public()
    events: list[risk_env.Event] = list(game.events(since=0, seat=None))
    print(state.to_json(), len(events), game.action_text(int(game.legal_actions()[0])))
    return game.winner, game.copy().to_bytes()


def step_many(rules: risk_env.Rules) -> npt.NDArray[np.float32]:
    """Return the rewards of a step in every lane of a batch."""
    batch = risk_env.GameBatch(rules, "classic", num_games=4, seed=0)
    _observation, mask, _seat = batch.reset()
    _observation, _mask, _seat, reward, _terminated, _truncated = batch.step(np.asarray(mask).argmax(axis=1))
    rewards: npt.NDArray[np.float32] = reward
    return rewards


def main() -> None:
    """Use all parts of the interface."""
    rules = risk_env.Rules.preset("classic", num_players=3, fortify="adjacent")
    print(risk_env.presets(), play(rules, risk_env.load_map("classic")), step_many(rules))
    env = risk_v0.env(preset="classic", num_players=3)
    env.reset(seed=1)
    try:
        risk_env.Game.from_bytes(b"")
    except risk_env.SavedGameError as error:
        print(error)
