"""Risk as an environment of TextArena, where language models play each other: `import textarena_risk`, then `ta.make`.

    python examples/textarena_risk.py            # a game between two scripts

needs `pip install textarena`. It registers `Risk-v0` (2 to 6 players; keyword arguments are options of the rules) and
`Risk-v0-raw`, the same without wrappers. An observation is a report, an action a plan (docs/llm.md). When more than
`error_allowance` answers in a row cannot be played, the fallback of docs/llm.md plays the turn, so a game always ends.
"""

from __future__ import annotations

import secrets
from typing import Any

import textarena as ta
from textarena.envs.registration import register_with_versions
from textarena.wrappers import ActionFormattingWrapper, GameBoardObservationWrapper

from risk_env import Game, load_map
from risk_env.board.rules import Rules
from risk_env.words.plan import Plan

PROMPT = """You are P{player} in a game of Risk. Answer a report with actions in order, separated by `;`, for example:
draft Ural all; attack Ural > Ukraine; occupy all; end"""


class RiskEnv(ta.Env):
    """A game in which every seat is a player of TextArena's."""

    def __init__(
        self, preset: str = "classic", board: str = "classic", error_allowance: int = 2, **options: Any
    ) -> None:
        self._preset, self._board, self._options = preset, load_map(board), options
        self._error_allowance = error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game; without a seed a random one."""
        rules = Rules.preset(self._preset, num_players, **{"profile": "fast", **self._options})
        self.game = Game(rules, self._board, secrets.randbits(63) if seed is None else seed)
        self.plans = [Plan(seat) for seat in range(num_players)]
        self._errors = 0
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._error_allowance)
        self.state.reset(
            game_state={}, player_prompt_function=lambda player_id, game_state: PROMPT.format(player=player_id)
        )
        self._ask()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play a plan of the player that was asked, then all that needs no other answer."""
        player = self.state.current_player_id
        self.state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=player, to_id=player)
        problem = self._take(player, action.strip().removeprefix("[").removesuffix("]"))
        self._play_on()
        if self.game.is_over:
            self._finish()
        else:
            self._ask(problem)
        return self.state.step(rotate_player=False)

    def _take(self, player: int, answer: str) -> str:
        """Read an answer; what is wrong with it, "" if nothing is."""
        try:
            self.plans[player].give(answer, self.game)
        except ValueError as error:
            self._errors += 1
            if self._errors > self._error_allowance:
                self._errors = 0
                self.state.game_info[player]["invalid_move"] = True
                self.plans[player].fall_back(self.game)
            return f"Not played: {error}"
        self._errors = 0
        return ""

    def _play_on(self) -> None:
        """Play until somebody must be asked or the game is over."""
        while not self.game.is_over:
            action = self.plans[self.game.seat].next_action(self.game)
            if action is None:
                return
            self.game.step(action)

    def _ask(self, problem: str = "") -> None:
        """The next question, for the seat that decides."""
        seat = self.game.seat
        problem = problem if seat == self.state.current_player_id else ""
        self.state.manually_set_current_player_id(seat, force=True)
        account = self.plans[seat].account(self.game)
        text = "\n".join(filter(None, (problem, account, self.game.report(seat))))
        self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=seat)

    def _finish(self) -> None:
        """Rewards as everywhere in risk_env: 1 to the winner, -1 / (P - 1) to all others, 0 where nobody won."""
        game = self.game
        reason = f"The game ended after {game.round} rounds." if game.truncated else f"P{game.winner} won."
        rewards = dict(enumerate([0.0] * game.num_players if game.truncated else game.returns().tolist()))
        self.state.set_game_outcome(rewards, reason)


register_with_versions("Risk-v0", RiskEnv, {"default": [GameBoardObservationWrapper, ActionFormattingWrapper]})


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
