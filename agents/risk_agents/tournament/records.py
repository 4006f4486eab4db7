"""Write the games of a tournament as saved games with results, and check the results of replayed games."""

import json
from pathlib import Path
from typing import Any

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import FORFEIT, TRUNCATED, WON, GameResult
from risk_agents.tournament.results_store import Store
from risk_env.board.tables import tables
from risk_env.game import Game, SavedGameError
from risk_env.messages import shortened
from risk_env.saved_game import SavedGame
from risk_env.whole_file import whole_file

# Fields of GameResult that a file of saved games contains
_RESULTS = ("game", "ending", "winner", "places", "rounds", "forfeit_seat", "forfeit_reason")


def saved_game(config: TournamentConfig, result: GameResult) -> SavedGame:
    """Return a game of the tournament as a saved game.

    If the tournament keeps no actions, the saved game contains only the beginning of the game.
    """
    return SavedGame(
        config.rules,
        config.map_source,
        config.map_digest,
        tables(config.rules, config.board).num_actions,
        config.seed,
        tuple(config.labels[agent] for agent in result.seats),
        lane=result.deal,
        actions=result.actions or (),
    )


def check_has_actions(store: Store) -> None:
    """Raise ValueError if the file of a tournament does not contain the actions of the games."""
    if not store.config.record:
        raise ValueError(
            f"{store.path} was started without --save and --replays, so it contains no actions; start a new "
            "tournament with --out"
        )


def write_records(store: Store, path: str | Path) -> None:
    """Write the games of a tournament as JSON Lines, in the order of the schedule.

    Raises ValueError if the tournament keeps no actions.
    """
    check_has_actions(store)
    with whole_file(Path(path)) as fresh, open(fresh, "w", encoding="utf-8") as lines:
        for result in store.results(actions=True):
            facts = saved_game(store.config, result).to_dict() | {
                "result": result_facts(store.config, result)
            }
            lines.write(json.dumps(facts) + "\n")


def result_facts(config: TournamentConfig, result: GameResult) -> dict[str, Any]:
    """Return the result of a game as a dict for `json.dumps`."""
    return {
        **{name: getattr(result, name) for name in _RESULTS},
        "versions": [config.entrants[agent].version for agent in result.seats],
        **({} if result.notes is None else {"models": result.notes}),
    }


def check_result(saved: SavedGame, game: Game, result: dict[str, Any]) -> None:
    """Raise SavedGameError unless a replayed game ends as the file records.

    The number of rounds, the winner and the ending are compared. For a forfeited game, only the number of
    rounds is compared, and the replayed game must not be over.
    """
    forfeit = result.get("ending") == FORFEIT
    ending = TRUNCATED if game.truncated else WON
    replayed = {"over": game.is_over, "rounds": game.round, "winner": game.winner, "ending": ending}
    for name in ("over", "rounds") if forfeit else replayed:
        recorded = not forfeit if name == "over" else result.get(name)
        if replayed[name] != recorded:
            raise SavedGameError(
                f"{saved.place}: the replayed game gives {name}={replayed[name]}, but the file "
                f"records {shortened(recorded)}"
            )
