"""Risk as an environment of TextArena, in which language models play against each other.

    python examples/textarena_risk.py            # a game between two scripts

This example needs `pip install textarena`. In other programs, import `textarena_risk` before `ta.make`. The
module registers `Risk-v0` for 2 to 6 players, with options of the rules as keyword arguments, and
`Risk-v0-raw`, the game without wrappers. An observation is a report, and an action is a plan (docs/llm.md).
If more than `error_allowance` answers in a row cannot be played, the fallback of docs/llm.md plays the rest
of the turn, or one decision of the set-up. A game therefore always ends.
"""

from __future__ import annotations

from typing import Any

import textarena as ta
from textarena.envs.registration import register_with_versions
from textarena.wrappers import ActionFormattingWrapper, GameBoardObservationWrapper

from risk_env import Rules, load_map
from risk_env.text_env import TextMatch

PROMPT = """You are P{player} in a game of Risk. \
Answer a report with actions in order, separated by `;`, for example:
draft Ural all; attack Ural > Ukraine; occupy all; end"""


class RiskEnv(ta.Env):
    """A game in which every seat is a player of TextArena."""

    def __init__(
        self, preset: str = "classic", board: str = "classic", error_allowance: int = 2, **options: Any
    ) -> None:
        self._preset, self._board, self._options = preset, load_map(board), options
        self._error_allowance = error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game, with a random seed if none is given."""
        rules = Rules.preset(self._preset, num_players, **{"profile": "fast", **self._options})
        self.match = TextMatch(rules, self._board, [None] * num_players, seed)
        self._errors = 0
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._error_allowance)
        self.state.reset(
            game_state={},
            player_prompt_function=lambda player_id, game_state: PROMPT.format(player=player_id),
        )
        self._ask()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play a plan of the current player, then every action that needs no further answer."""
        player = self.state.current_player_id
        self.state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=player, to_id=player)
        problem = self._take(player, action.strip().removeprefix("[").removesuffix("]"))
        self.match.play_on()
        if self.match.game.is_over:
            self._finish()
        else:
            self._ask(problem)
        return self.state.step(rotate_player=False)

    def _take(self, player: int, answer: str) -> str:
        """Read an answer; return the problem with the answer, or "" if there is none."""
        try:
            self.match.plans[player].give(answer, self.match.game)
        except ValueError as error:
            self._errors += 1
            if self._errors > self._error_allowance:
                self._errors = 0
                self.state.game_info[player]["invalid_move"] = True
                self.match.plans[player].fall_back(self.match.game)
            return f"Not played: {error}"
        self._errors = 0
        return ""

    def _ask(self, problem: str = "") -> None:
        """Send the next report to the deciding seat."""
        game = self.match.game
        seat = game.seat
        problem = problem if seat == self.state.current_player_id else ""
        self.state.manually_set_current_player_id(seat, force=True)
        account = self.match.plans[seat].account(game)
        text = "\n".join(filter(None, (problem, account, self.match.report(seat))))
        self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=seat)

    def _finish(self) -> None:
        """Set the rewards: 1 for the winner, -1 / (P - 1) for all others, 0 for all if nobody won.

        After a truncated game, eliminated seats also get 0, unlike in the environments of risk_env.
        """
        game = self.match.game
        reason = f"The game ended after {game.round} rounds." if game.truncated else f"P{game.winner} won."
        rewards = dict(enumerate([0.0] * game.num_players if game.truncated else game.returns().tolist()))
        self.state.set_game_outcome(rewards, reason)


register_with_versions(
    "Risk-v0", RiskEnv, {"default": [GameBoardObservationWrapper, ActionFormattingWrapper]}
)


def main() -> None:
    """Let two scripts that read only reports play a short game."""
    from report_reader import answer

    env = ta.make("Risk-v0", board="tiny", setup="random", initial_troops=8, max_rounds=20)
    env.reset(num_players=2, seed=1)
    done = False
    while not done:
        _player, report = env.get_observation()
        done, _info = env.step(answer(report))
    print(*env.close(), sep="\n")


if __name__ == "__main__":
    main()
