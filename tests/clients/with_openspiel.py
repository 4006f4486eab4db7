"""OpenSpiel: its own test of `examples/openspiel_risk.py`, resampled states, games of MCTS and IS-MCTS."""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import openspiel_risk as risk
import pyspiel

GAMES = (
    "python_risk(max_rounds=5)",
    "python_risk(players=3,max_rounds=5)",
    "python_risk(players=4,max_rounds=3,cards=False)",
)


def check_games() -> None:
    """Run OpenSpiel's test of random games; it saves and restores every state, too."""
    for name in GAMES:
        pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=True, verbose=False)


def check_resampling() -> int:
    """Check that resampled states look the same to their player, and differ for others; return the number."""
    random, state, seen = np.random.RandomState(3), pyspiel.load_game(GAMES[1]).new_initial_state(), 0
    differ = False
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert abs(sum(chances) - 1) < 1e-12
            state.apply_action(int(random.choice(outcomes, p=chances)))
            continue
        player = state.current_player()
        other = state.resample_from_infostate(player, pyspiel.UniformProbabilitySampler(0.0, 1.0))
        assert other.observation_string(player) == state.observation_string(player)
        assert other.observation_tensor(player) == state.observation_tensor(player)
        assert other.legal_actions() == state.legal_actions()
        differ = differ or any(
            other.observation_string(seat) != state.observation_string(seat) for seat in range(3)
        )
        seen += 1
        state.apply_action(int(random.choice(state.legal_actions())))
    assert differ
    return seen


def play_with(search, spec: str, simulations: int = 8) -> int:
    """Play a game of a search against a random player; return the number of its moves."""
    game = pyspiel.load_game(spec)
    state = risk.play(game, [search(game, simulations, 1), risk.RandomPlayer(1)], seed=1)
    assert state.is_terminal() and sum(state.returns()) == 0
    return state.move_number()


def main() -> None:
    """Run all of it."""
    check_games()
    seen = check_resampling()
    hidden = play_with(risk.search_hidden, "python_risk(max_rounds=3)")
    known = play_with(risk.search_open, "python_risk(max_rounds=3,cards=False)")
    print(
        f"OpenSpiel {version('open_spiel')}: random games of {len(GAMES)} games, {seen} resampled decisions, "
        f"games of IS-MCTS ({hidden} moves) and of MCTS ({known} moves)"
    )


if __name__ == "__main__":
    main()
