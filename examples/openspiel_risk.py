"""Risk as an OpenSpiel game: dice and cards are chance nodes, and a state can be resampled.

    pip install open_spiel                              # in an environment with risk-env
    python examples/openspiel_risk.py --games 4 --simulations 100

Importing this module registers `python_risk`. The program plays games of OpenSpiel's IS-MCTS against a
uniformly random player. See docs/search.md.

    import openspiel_risk, pyspiel
    game = pyspiel.load_game("python_risk(players=3,board=classic,max_rounds=30)")

The first chance node of a game chooses one of `deals` random set-ups. Later chance nodes decide the roll or
the whole blitz after an attack, and the card after a turn with a capture. A player sees only the current
observation, without a record of earlier observations.
"""

import argparse

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from risk_env import Game, Rules, load_map

DEFAULTS = {"players": 2, "board": "tiny", "max_rounds": 20, "deals": 1000, "cards": True}
MOST_OUTCOMES = 1 << 17  # a blitz has an outcome for each possible number of remaining troops
DECISIONS = 500  # maximum mean number of decisions and chance events per turn, for `max_game_length`


def game_type(cards=True):
    """Return the type of the game. If `cards` is False, no fact is hidden."""
    information = pyspiel.GameType.Information
    return pyspiel.GameType(
        short_name="python_risk",
        long_name="Risk",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if cards else information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.GENERAL_SUM,  # a game can end without a winner
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=6,
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


class RiskGame(pyspiel.Game):
    """A game of the preset "classic" with the profile "fast"; DEFAULTS contains the parameters."""

    def __init__(self, params=None):
        settings = {**DEFAULTS, **(params or {})}
        options = {} if settings["cards"] else {"deck": "none"}
        self.rules = Rules.preset(
            "classic", settings["players"], profile="fast", max_rounds=settings["max_rounds"], **options
        )
        self.board, self.deals = load_map(settings["board"]), settings["deals"]
        sample = self.deal(0)
        info = pyspiel.GameInfo(
            num_distinct_actions=sample.num_actions,
            max_chance_outcomes=max(MOST_OUTCOMES, self.deals),
            num_players=settings["players"],
            min_utility=-1.0,
            max_utility=1.0,
            max_game_length=settings["max_rounds"] * settings["players"] * DECISIONS,
        )
        super().__init__(game_type(settings["cards"]), info, params or {})

    def deal(self, seed):
        """Return the game whose set-up is drawn with `seed`."""
        return Game(self.rules, self.board, seed=seed)

    def new_initial_state(self):
        """Return the state before the set-up."""
        return RiskState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        """Return an observer that writes the columns of docs/observation.md."""
        return RiskObserver(self)


class RiskState(pyspiel.State):
    """A game, and the action whose chance events are being decided."""

    def __init__(self, game):
        super().__init__(game)
        self.game = None  # no game before the set-up
        self.action, self.taken, self.outcomes = None, [], []

    def current_player(self):
        """Return the seat that decides, or OpenSpiel's number for chance or for the end of the game."""
        if self.game is None or self.outcomes:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.game.is_over else self.game.seat

    def _legal_actions(self, player):
        return self.game.legal_actions().tolist()

    def chance_outcomes(self):
        """Return the numbers of the outcomes with their probabilities."""
        if self.game is None:
            deals = self.get_game().deals
            return [(seed, 1 / deals) for seed in range(deals)]
        return [(number, chance) for number, (_, chance) in enumerate(self.outcomes)]

    def _apply_action(self, action):
        if self.game is None:
            self.game = self.get_game().deal(action)
            return
        if self.outcomes:
            self.taken = [*self.taken, self.outcomes[action][0]]
        else:
            self.action = action
        self.outcomes = self.game.chance_outcomes(self.action, self.taken)
        if not self.outcomes:  # all chance events after the action are decided
            self.game.step(self.action, self.taken)
            self.taken = []

    def _action_to_string(self, player, action):
        if player != pyspiel.PlayerId.CHANCE:
            return self.game.action_text(action)
        return f"deal {action}" if self.game is None else self.outcomes[action][0].text(self.game.board)

    def is_terminal(self):
        """Return True if the game is over."""
        return self.current_player() == pyspiel.PlayerId.TERMINAL

    def returns(self):
        """Return the reward of every seat. Before the end of the game, all rewards are 0."""
        return self.game.returns().tolist() if self.is_terminal() else [0.0] * self.num_players()

    def resample_from_infostate(self, player_id, probability_sampler):
        """Return a copy of the state in which the facts that a player does not know are drawn again.

        The history of the copy contains the original chance events, so use the copy only for search.
        """
        if self.is_chance_node():
            raise ValueError(
                "resample_from_infostate: this is a chance node; resample at a decision of a player"
            )
        other = self.clone()
        other.game = self.game.determinize(player_id, int(probability_sampler() * 2**53))
        return other

    def __str__(self):
        """Return the position and the chance events of the current action, with all hidden facts."""
        if self.game is None:
            return "before the set-up"
        events = [outcome.text(self.game.board) for outcome in self.taken]
        return "\n".join([self.game.to_text(), *events, *["chance"] * bool(self.outcomes)])


class RiskObserver:
    """The observation of a player as numbers and as text."""

    def __init__(self, game):
        self.tensor = np.zeros(len(game.deal(0).observe(0)), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        """Write the observation of a player into `tensor`."""
        self.tensor[:] = 0.0 if state.game is None else state.game.observe(player)

    def string_from(self, state, player):
        """Return all facts that a player knows.

        These are the public facts, the player's hand and decision, and the current chance events except drawn
        cards.
        """
        if state.game is None:
            return "before the set-up"
        public = state.game.public(player).to_json()
        facts = [f"player {player}", *(f"{name}: {value}" for name, value in public.items())]
        events = [outcome.text(state.game.board) for outcome in state.taken if outcome.kind != "card"]
        return "\n".join([*facts, f"hand: {', '.join(state.game.hand(player))}", *events])


pyspiel.register_game(game_type(), RiskGame)


def search_hidden(game, simulations, seed):
    """Return an IS-MCTS player, which uses only facts that the seat knows."""
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(seed))
    return ismcts.ISMCTSBot(
        game,
        evaluator,
        uct_c=1.0,
        max_simulations=simulations,
        random_state=np.random.RandomState(seed),
        use_observation_string=True,
        allow_inconsistent_action_sets=True,
    )


def search_open(game, simulations, seed):
    """Return an MCTS player, which sees the hidden cards unless the game has none (`cards=False`)."""
    random = np.random.RandomState(seed)
    return mcts.MCTSBot(game, 1.0, simulations, mcts.RandomRolloutEvaluator(1, random), random_state=random)


def play(game, players, seed):
    """Play a game, and return the final state. `players` has an object with a method `step` for each seat."""
    random, state = np.random.RandomState(seed), game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(random.choice(outcomes, p=chances)))
        else:
            state.apply_action(int(players[state.current_player()].step(state)))
    return state


class RandomPlayer:
    """A player that chooses a legal action at random."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def step(self, state):
        """Return a random legal action."""
        return self.random.choice(state.legal_actions())


def main():
    """Play games of IS-MCTS against a random player. The players swap seats after every game."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=4, help="number of games (default: 4)")
    parser.add_argument(
        "--simulations", type=int, default=100, help="number of simulations per decision (default: 100)"
    )
    arguments = parser.parse_args()
    game = pyspiel.load_game("python_risk")
    for seed in range(arguments.games):
        seat = seed % 2
        players = [RandomPlayer(seed), RandomPlayer(seed)]
        players[seat] = search_hidden(game, arguments.simulations, seed)
        state = play(game, players, seed)
        print(f"game {seed}: IS-MCTS in seat {seat}, {state.move_number()} moves, returns {state.returns()}")


if __name__ == "__main__":
    main()
