"""Risk for kaggle-environments: specification, interpreter, renderers and a random agent.

If the parent of this folder is on `sys.path`, `from risk.risk import register; register()` makes
`kaggle_environments.make("risk")` work. If this folder is in `kaggle_environments/envs`, kaggle-environments
registers the environment itself.
"""

import json
import random
from pathlib import Path
from typing import Any

from risk_env import Game, Rules, load_map
from risk_env.render.layout import drawing_of
from risk_env.render.picture import FREE, NEUTRAL, SEATS
from risk_env.render.svg import draw_map

FOLDER = Path(__file__).parent
FAULTS = ("ERROR", "INVALID", "TIMEOUT")
specification = json.loads((FOLDER / "risk.json").read_text(encoding="utf-8"))


def interpreter(state: Any, env: Any) -> Any:
    """Play the action of the active agent, and write the observation of every agent.

    An agent with an error, a timeout or an illegal action ends the game. The reward of every other agent that
    is still in the game is then 1 / (players - 1).
    """
    if env.done:
        game = new_game(len(state), env.configuration)
    else:
        game = Game.from_text(state[0].info["position"])
        agent = state[game.seat]
        if agent.status not in FAULTS and (agent.action is None or not game.is_legal(agent.action)):
            agent.status = "INVALID"
        if agent.status in FAULTS:
            return forfeited(state, game)
        game.step(agent.action)
    for seat, agent in enumerate(state):
        show(agent, seat, game)
    state[0].info = {"position": game.to_text()}  # agents do not see `info`
    return state


def new_game(players: int, configuration: Any) -> Game:
    """Return a new game."""
    rules = Rules.preset("classic", players, profile="fast", max_rounds=configuration.maxRounds)
    seed = configuration.seed
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    return Game(rules, load_map(configuration.board), seed=seed)


def forfeited(state: Any, game: Game) -> Any:
    """End the game that an agent has forfeited."""
    for seat, agent in enumerate(state):
        if agent.status not in FAULTS:
            agent.status = "DONE"
            agent.reward = (1 if game.alive[seat] else -1) / (game.num_players - 1)
    return state


def show(agent: Any, seat: int, game: Game) -> None:
    """Write the status, the reward and the observation of an agent."""
    acts = seat == game.seat and not game.is_over
    agent.status = "DONE" if game.is_over else "ACTIVE" if acts else "INACTIVE"
    agent.reward = float(game.returns()[seat])
    agent.observation.hand = list(game.hand(seat))
    agent.observation.legal = game.legal_actions().tolist() if acts else []
    agent.observation.texts = [game.action_text(action) for action in agent.observation.legal]
    if seat == 0:
        agent.observation.public = game.public().to_json()


def renderer(state: Any, env: Any) -> str:
    """Return the position as text."""
    return str(Game.from_text(state[0].info["position"]))


def html_renderer(env: Any) -> str:
    """Return the HTML page that shows the steps of an environment."""
    board = load_map(env.configuration.board)
    drawn = {
        "centres": [[float(x), float(y)] for x, y in drawing_of(board).centres],
        "colours": [*SEATS],
        "free": FREE,
        "neutral": NEUTRAL,
    }
    page = (FOLDER / "risk.html").read_text(encoding="utf-8")
    return page.replace("@MAP@", draw_map(board)).replace("@DRAWN@", json.dumps(drawn))


def random_agent(observation: Any) -> int:
    """Return a random legal action."""
    return random.choice(observation.legal)


agents = {"random": random_agent}


def register() -> None:
    """Register the environment under the name "risk"."""
    import kaggle_environments

    parts = {
        "agents": agents,
        "html_renderer": html_renderer,
        "interpreter": interpreter,
        "renderer": renderer,
    }
    kaggle_environments.register("risk", {**parts, "specification": specification})
