"""Replays of a tournament's games: select games, and write a page for each selected game."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from risk_agents.tournament.records import saved_game
from risk_agents.tournament.results import FORFEIT, NOBODY, GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.summary import Summary
from risk_env.whole_file import whole_file

FORMS = "all, every:N, longest:N, upsets:N or forfeits"
_NUMBERED = ("every", "longest", "upsets")


def parse_selection(text: str) -> tuple[str, int]:
    """Return the word and the number of a selection of games, such as `every:100`.

    The number is 0 for `all` and `forfeits`. Raises ValueError unless `text` has one of the FORMS.
    """
    word, _, number = text.partition(":")
    is_number = number.isdecimal() and int(number) > 0
    if not (is_number if word in _NUMBERED else text in ("all", "forfeits")):
        raise ValueError(f"--replay-games {text}: must be {FORMS}, with N at least 1")
    return word, int(number) if number else 0


def write_replays(store: Store, folder: str | Path, selection: str, summary: Summary) -> dict[int, Path]:
    """Write a page `game-N.html` for every selected game into a folder; return the paths by game number.

    `selection` has one of the FORMS. `summary` contains the ratings for the selection `upsets`.
    """
    config, folder = store.config, Path(folder)
    ratings = {agent.label: agent.rating.value for agent in summary.agents}
    wanted = set(selected(store.results(), selection, [ratings.get(label, 0.0) for label in config.labels]))
    meter = config.luck_meter()
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for result in store.results(actions=True):
        if result.game in wanted:
            saved = saved_game(config, result)
            game = saved.replay(config.board)
            replay = game.replay(saved.players)
            if meter is not None:
                meter.show(replay, game)
            path = written[result.game] = folder / f"game-{result.game}.html"
            with whole_file(path) as page:
                replay.save(page)
    return written


def selected(results: Iterable[GameResult], selection: str, ratings: Sequence[float]) -> list[int]:
    """Return the numbers of the selected games; `ratings[k]` is the rating of agent k."""
    word, number = parse_selection(selection)
    results = list(results)
    if word == "every":
        results = results[::number]
    elif word == "forfeits":
        results = [result for result in results if result.ending == FORFEIT]
    elif word == "longest":
        results = sorted(results, key=lambda result: -result.rounds)[:number]
    elif word == "upsets":
        upsets = [result for result in results if _upset(result, ratings) > 0]
        results = sorted(upsets, key=lambda result: -_upset(result, ratings))[:number]
    return [result.game for result in results]


def _upset(result: GameResult, ratings: Sequence[float]) -> float:
    """Return the rating of the best loser minus the rating of the winner.

    The result is 0.0 after a forfeit, and in a game without a winner.
    """
    if result.winner == NOBODY or result.ending == FORFEIT:
        return 0.0
    best = max(ratings[agent] for seat, agent in enumerate(result.seats) if seat != result.winner)
    return best - ratings[result.seats[result.winner]]
