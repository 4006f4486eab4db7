"""Compare pairs of games that differ only in hidden facts: a seat or a spectator must receive equal data.

`python -m tests.hidden --pairs 5000` compares many pairs, and `tests/test_hidden.py` compares a few.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from unittest.mock import patch

from risk_agents.human.narration import Words, narrate
from risk_agents.mcp.games import OpenGame, OpenGames
from risk_agents.protocol import Exchange
from risk_agents.registry import HUMAN
from risk_agents.web.browser_request import Refused
from risk_agents.web.browser_table import BrowserTable, Feed, Setting
from risk_agents.web.game_store import GameStore
from risk_agents.web.lobby import Lobby
from risk_env import Game, Rules, load_map
from risk_env.core.types import NOBODY, Phase, Trade
from risk_env.public import SECRET_PHASES, members, words_of
from risk_env.saved_game import SavedGame
from risk_env.words import seat_report
from tests.games import Player

SMALL: dict[str, Any] = {"max_rounds": 60, "initial_troops": 9}
GAMES: dict[str, tuple[str, dict[str, Any]]] = {  # name: (preset, options)
    "classic": ("classic", SMALL),
    "re-rolls": ("classic", SMALL | {"card_reroll": True, "commander": True}),
    "re-rolls, most dice": (
        "classic",
        SMALL | {"card_reroll": True, "attack": "max", "defender_dice": "max"},
    ),
    "missions": ("secret_mission", SMALL | {"setup": "random"}),
    "headquarters": ("capital", SMALL | {"card_reroll": True}),
    "stars": ("command_room", SMALL),
    "blitzes": ("classic", SMALL | {"attack": "blitz", "max_troops": 12}),
}
SNAPSHOTS = 6  # number of positions taken from one game
PASSED = (5, 100, 300)  # largest number of decisions before the first position
LARGE_HAND = 3  # smallest hand with which a seat may have to decide on a trade
FOLLOWED = 12  # number of decisions for which a pair is followed
REPLAYED = 4  # every fourth comparison includes replays, and every one at a hidden decision


@dataclass
class Tally:
    """Number of compared pairs, and how often the hidden facts differed."""

    pairs: int = 0
    comparisons: int = 0
    differed: Counter[str] = field(default_factory=Counter)


# Received data


class Onlooker:
    """A seat and a spectator of one game, with all data that both have received."""

    def __init__(self, position: str, rules: Rules, map_name: str, looker: int, seed: int) -> None:
        names = tuple(f"Player {seat}" for seat in range(rules.num_players))
        tokens = tuple(f"token {seat}" for seat in range(rules.num_players))
        game = Game(rules, map_name, seed, position=position)
        setting = Setting(SavedGame.of(game, (HUMAN,) * len(names)), names, tokens, "owner")
        self.table, self.looker, self.names = (
            BrowserTable(setting, lambda number, action, is_open: None),
            looker,
            names,
        )
        self.feeds = [Feed(self.table, viewer) for viewer in (looker, NOBODY)]
        self.messages: list[list[str]] = [[], []]
        self.exchange = Exchange({"events": True, "texts": True})
        self.exchange.begin(looker)
        self.questions: list[str] = []
        self._receive()

    @property
    def game(self) -> Game:
        """The game that both follow."""
        return self.table.game

    def step(self, action: int) -> None:
        """Play an action, and receive the messages."""
        self.table._show_played(self.table._kept(action))
        self._receive()

    def _receive(self) -> None:
        for feed, messages in zip(self.feeds, self.messages, strict=True):
            messages += filter(None, [feed.message()])
        if self.game.seat == self.looker:
            self.questions.append(json.dumps(self.exchange.request(self.table.view())))

    def asks_in_secret(self) -> bool:
        """Return True if another seat is to make a decision that is hidden from the observing seat."""
        return self.game.phase in SECRET_PHASES and self.game.seat != self.looker

    def is_rerolling(self) -> bool:
        """Return True if another seat is to decide on a re-roll."""
        return self.game.phase == Phase.REROLL and self.asks_in_secret()

    def received(self, has_replays: bool) -> dict[str, Any]:
        """Return all data that seat and spectator receive or can request, by name."""
        game, looker = self.game, self.looker
        words = Words((*self.names, "neutral"), game.board, looker)
        sampled = game.determinize(looker, 7)
        return {
            "messages": self.messages,
            "questions": self.questions,
            "public": [json.dumps(game.public(seat).to_json()) for seat in (None, looker)],
            "drawn": str(game),
            "reports": [seat_report(game, looker, style) for style in ("brief", "full")],
            "observation": game.observe_codes(looker).tobytes(),
            "events": [[str(event) for event in game.events(seat=seat)] for seat in (None, looker)],
            "narration": narrate(game.events(seat=looker), words, 80),
            "replays": has_replays and [json.dumps(game.replay(seat=seat).facts) for seat in (None, looker)],
            "sample": (sampled.phase, sampled.to_record()),
            "mcp": self._from_mcp(),
            "moment": has_replays and self._moment(),
            "lobby": has_replays and self._listed(),
        }

    def _moment(self) -> str:
        """Return the position from which the observing seat may continue at its last frame.

        Hidden facts are drawn with the same random numbers.
        """
        with patch("risk_agents.web.browser_table.secrets.randbits", return_value=7):
            try:
                return self.table.moment(self.looker, len(self.table.frames[self.looker]) - 1).to_text()
            except Refused as error:
                return str(error)

    def _listed(self) -> list[Any]:
        """Return the lists of the lobby with the game only stored, and with the game open."""
        lobby = Lobby(GameStore(":memory:"))
        lobby.store.add_game("game", self.table.setting.to_dict(), self.game.actions)
        kept = lobby._listed()
        lobby.tables["game"] = self.table
        listed = [*kept, *lobby._listed()]
        del lobby.tables["game"]
        lobby.close()
        return listed

    def _from_mcp(self) -> list[Any]:
        games, nobody = OpenGames(), [None] * self.game.num_players
        match = OpenGame(self.game.rules, self.game.board, nobody, seed=0)
        match._set_up(self.game, nobody)
        token = games._add(match)[self.looker]
        asked: list[Any] = [games.report(token), games.legal_actions(token), games.history(token)]
        if self.game.seat != self.looker:
            try:
                games.act(token, "done")
            except ValueError as error:
                asked.append(str(error))
        return asked


# Pairs


@dataclass
class Pair:
    """Two games that are equal for one seat and for spectators."""

    games: tuple[Onlooker, Onlooker]
    rng: random.Random
    tally: Tally

    def follow(self) -> None:
        """Play both games alike until a hidden difference becomes public, and compare the received data."""
        self.compare("start")
        for _ in range(FOLLOWED):
            if any(each.game.is_over for each in self.games) or not self._play_alike():
                return

    def compare(self, moment: str) -> None:
        """Raise AssertionError unless seat and spectator have received equal data from both games."""
        has_replays = self.tally.comparisons % REPLAYED == 0 or any(
            each.asks_in_secret() for each in self.games
        )
        one, other = (each.received(has_replays) for each in self.games)
        for name, value in one.items():
            if value != other[name]:
                told = _difference(value, other[name])
                asked = [(each.game.phase.name, each.game.seat) for each in self.games]
                raise AssertionError(
                    f"{name} differs at {moment}, looker {self.games[0].looker}, {asked}: {told}"
                )
        self.tally.comparisons += 1

    def _play_alike(self) -> bool:
        """Play one public decision after any hidden ones and return True if the games are still alike."""
        if any(each.asks_in_secret() for each in self.games):
            return self._decline()
        one, other = self.games
        looker = one.looker
        assert one.game.phase == other.game.phase
        legal = one.game.legal_actions().tolist()
        if one.game.phase == Phase.HEADQUARTERS and one.game.seat != looker:
            actions = [self.rng.choice(each.game.legal_actions().tolist()) for each in self.games]
            self.tally.differed["headquarters"] += actions[0] != actions[1]
        else:
            assert legal == other.game.legal_actions().tolist(), (
                "what is legal in a public question is public"
            )
            actions = [Player(self.rng, 0.9).choose(one.game.record, one.game.tables, legal)] * 2
        sent = [list(map(len, each.messages)) for each in self.games]
        for each, action in zip(self.games, actions, strict=True):
            each.step(action)
        if not self._is_hidden_still():
            return False
        for each, before in zip(self.games, sent, strict=True):  # nothing is sent while a re-roll is pending
            if each.is_rerolling():
                assert list(map(len, each.messages)) == before
        if not any(each.is_rerolling() for each in self.games):
            self.compare(f"after {legal and one.game.log[-1:]}")
        return True

    def _decline(self) -> bool:
        """Decline hidden decisions so that nothing becomes public, or sometimes only begin to pick cards.

        Pending re-rolls are declined alone, because a game in which none is pending is ahead.
        """
        asked = [each.game.phase.name if each.asks_in_secret() else "" for each in self.games]
        self.tally.differed[next(filter(None, asked))] += asked[0] != asked[1]
        rerolling = [each for each in self.games if each.is_rerolling()]
        if not rerolling and self._picks():
            return False
        for each in rerolling or self.games:
            if each.asks_in_secret():
                each.step(each.game.tables.space.done)
        if not self._is_hidden_still():
            return False
        if not any(each.is_rerolling() for each in self.games):
            self.compare(f"after {asked} declined")
        return True

    def _picks(self) -> bool:
        """Pick cards in one game, if it is forced or by chance, as long as the set is not traded."""
        for each in self.games:
            game = each.game
            is_owed = game.record.trade != Trade.FREE
            if game.phase == Phase.TRADE and each.asks_in_secret() and (is_owed or self.rng.random() < 0.3):
                copy = game.copy()
                while True:
                    action = self.rng.choice(
                        [a for a in copy.legal_actions().tolist() if a != game.tables.space.done]
                    )
                    copy.step(action)
                    if copy.phase != Phase.TRADE or copy.record.sets_traded != game.record.sets_traded:
                        return True
                    each.step(action)
                    self.tally.differed["picked"] += 1
                    self.compare("a card picked")
                    if game.rules.deck == "star" and self.rng.random() < 0.5:
                        return True
        return False

    def _is_hidden_still(self) -> bool:
        """Return True if no difference has become public or known to the observing seat."""
        one, other = (each.game for each in self.games)
        looker = self.games[0].looker
        has_ended = one.is_over or other.is_over
        is_open = (
            one.record.headquarters_open and not (one.record.headquarters == other.record.headquarters).all()
        )
        return not has_ended and not is_open and one.hand(looker) == other.hand(looker)


def _difference(one: Any, other: Any) -> str:
    """Return a short text with the first difference of two values."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return (
                f"{len(one)} and {len(other)} of them: ... {str(one[-1:])[:600]} ||| {str(other[-1:])[:600]}"
            )
        return next(_difference(a, b) for a, b in zip(one, other, strict=True) if a != b)
    if isinstance(one, str) and isinstance(other, str):
        at = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        return f"...{one[max(0, at - 60) : at + 120]!r} ||| ...{other[max(0, at - 60) : at + 120]!r}"
    return f"{one!r:.300} ||| {other!r:.300}"


def pairs(name: str, seed: int, tally: Tally) -> Iterator[Pair]:
    """Yield pairs from positions of random games."""
    preset, options = GAMES[name]
    rng = random.Random(f"{name} {seed}")
    rules, board = Rules.preset(preset, 3, **options), load_map("tiny")
    player = Player(rng, 0.8)
    while True:
        game = Game(rules, board, rng.randrange(2**40))
        _pass(game, rng.randrange(rng.choice(PASSED)), player)
        for _ in range(SNAPSHOTS):
            _pass(game, rng.randrange(1, 12), player)
            if game.is_over:
                break
            if game.phase in (Phase.ATTACK, Phase.FORTIFY_FROM):
                _deal(game, rng)
            looker = rng.randrange(game.num_players)
            if pair := pair_of(game, looker, rng, tally):
                yield pair


def _pass(game: Game, decisions: int, player: Player) -> None:
    """Play `decisions` decisions, or to the end of the game."""
    for _ in range(decisions):
        if game.is_over:
            return
        game.step(_choose(game, player))


def _deal(game: Game, rng: random.Random) -> None:
    """Give cards of the deck to the other seats, so that trades are possible when their turns begin."""
    record = game.records[0]
    for seat in range(game.num_players):
        deck = members(record.deck)
        rng.shuffle(deck)
        if seat != game.seat and game.alive[seat]:
            given = deck[: max(0, LARGE_HAND - len(game.hand(seat)))]
            record.hand[seat] |= words_of(given, len(record.deck))
            record.deck &= ~words_of(given, len(record.deck))


def _choose(game: Game, player: Player) -> int:
    """Return an action of the player, who keeps cards for long because hidden decisions need hands."""
    done = game.tables.space.done
    if game.phase in SECRET_PHASES and game.is_legal(done) and player.rng.random() < 0.9:
        return done
    return player.choose(game.record, game.tables, game.legal_actions().tolist())


def pair_of(game: Game, looker: int, rng: random.Random, tally: Tally) -> Pair | None:
    """Return a pair that begins at this position, or None if its games could not look alike."""
    record = game.record
    if not game.alive[looker] or game.phase == Phase.REROLL or record.picked.any() or record.picked_wilds:
        return None
    other, seed = game.determinize(looker, rng.randrange(2**40)), rng.randrange(2**40)
    if other.phase != game.phase and Phase.DRAFT_AMOUNT in (other.phase, game.phase):
        return None  # one history would lack the draft to the only territory
    games = (Onlooker(each.to_text(), game.rules, "tiny", looker, seed) for each in (game, other))
    tally.pairs += 1
    return Pair((next(games), next(games)), rng, tally)


def compare_pairs(name: str, count: int, seed: int = 0) -> Tally:
    """Compare `count` pairs.

    AssertionError describes a difference.
    """
    tally = Tally()
    for number, pair in enumerate(islice(pairs(name, seed, tally), count)):
        try:
            pair.follow()
        except AssertionError as error:
            raise AssertionError(f"{name}, seed {seed}, pair {number}: {error}") from error
    return tally


def main() -> int:
    """Run the command and return status 1 if a pair differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hidden", description="Compare games of other hidden facts."
    )
    parser.add_argument(
        "--pairs", type=int, default=5000, metavar="N", help="number of pairs (default: 5000)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="K", help="seed of the positions (default: 0)")
    arguments = parser.parse_args()
    found = 0
    for name in GAMES:
        try:
            tally = compare_pairs(name, -(-arguments.pairs // len(GAMES)), arguments.seed)
        except AssertionError as error:
            print(error)
            found += 1
        else:
            print(
                f"{name}: {tally.pairs} pairs, {tally.comparisons} comparisons, "
                f"hidden questions {dict(tally.differed)}"
            )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
