"""Tracks: frozen files, opponents that play as their digests say, and refused result files."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import leaderboard as record
from risk_agents import kept_out
from risk_agents.agent_list import NamedAgent
from risk_agents.benchmark import leaderboard, playing, tracks
from risk_agents.benchmark.cli import main
from risk_agents.benchmark.result_file import (
    TESTED,
    ResultFileError,
    header_of,
    read_recorded,
    read_results,
)
from risk_agents.benchmark.scoring import TrackScore, score_of
from risk_agents.benchmark.tracks import Track, find, names, play_digest
from risk_agents.benchmark.verification import check_game, verify
from risk_agents.game_files import read_games
from risk_agents.registry import load
from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.summary import Estimate
from risk_agents.workers import InProcess
from risk_env import bots, cli
from risk_env.board.maps import load_map
from risk_env.core.types import SIZE_CLASSES, size_class
from risk_env.text.escape import LABEL_LETTERS
from tests.full_disk import full_disk

RELEASED = {
    "capital-1": "71fc2711249d5148cdb1819bdb414809624f6d70f53f7af07ccf72813e8f8ae9",
    "claim-1": "475a99cf781c597340cd19ee9b23b2bb49fa3e92301f503d0ae45bf16ba84038",
    "command_room-1": "0fb284c8bdff11ed99a01f3a437cab902995e60bf9f6a7d8b8dd59a713e5a1fb",
    "duel-1": "3d4a814851393913147ca413750332fdd2ee1e76d6d7296ec1f86611355bc0d1",
    "mission-1": "8c8469576e53a22bdd94e47965c492857fd2785d224db6351b4809a37d13f58d",
    "new_maps-1": "c08e2bb9057bbd8378e2ea7b6cb17781243873211675a4a7bffb2e3a8e608358",
    "six-1": "e1d17b4149348822d54627456ae417695988d14b61d35559318c4409f7719899",
    "three-1": "8684f280a403929df2ce14ead3c29f22a8d185498bf55fe4a8e0c1e449e7063d",
    "train_duel-1": "5dd942f2520f27d10c9887e75dcad6b860a0fdb92c497424dc85a0d2b2a55588",
    "train_three-1": "2198bb347c01d151c3454456ef01bbd5ccf0d3707b9c71318b1f58828cd414fa",
}


def test_released_tracks_never_change() -> None:
    found = {path.stem: tracks.read_track(path).digest for path in tracks.FOLDER.glob("*.toml")}
    assert found == RELEASED
    assert names() == tracks.ORDER


@pytest.mark.parametrize("name", tracks.ORDER)
def test_tracks_fix_their_games(name: str) -> None:
    track = find(name)
    assert {each.kept_out for each in track.opponents} == {False, True}
    assert not {each.label for each in track.opponents if each.kept_out} & {"grower", "beam", "tactician"}
    assert all(bool(each.agent in bots.names()) or each.kept_out for each in track.opponents)
    assert len(track.configs(track.entrants)) == len(track.boards)  # maps and rules are those of the release


@pytest.mark.parametrize(("name", "games"), [("train_duel", "duel"), ("train_three", "three")])
def test_a_training_track_has_the_games_of_a_track_and_a_budget_of_decisions(name: str, games: str) -> None:
    track, other = find(name), find(games)
    assert (track.rules, track.maps, track.seed, track.deals) == (
        other.rules,
        other.maps,
        other.seed,
        other.deals,
    )
    assert track.opponents == other.opponents
    most = track.training_decisions
    assert most is not None and other.training_decisions is None
    for allowed in ("0", "00", str(most)):
        track.check_training(allowed)
    for wrong in ("", "-1", str(most + 1), "1e3", "²", "9" * 400):
        with pytest.raises(ValueError, match=f"from 0 to {most}"):
            track.check_training(wrong)
        other.check_training(wrong)


def test_a_training_track_is_played_only_with_the_number_of_decisions(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "result.jsonl"
    with pytest.raises(ValueError, match="track train_duel-1: decisions=''"):
        main(["random", "--track", "train_duel", "--quick", "--quiet", "--out", str(out)])
    chosen, refused = playing.playable(NamedAgent(None, "random"), [find("duel"), find("train_duel")])
    assert [track.name for track in chosen] == ["duel"] and "--decisions N" in refused["train_duel-1"]


def test_a_header_with_a_training_track_states_the_number_of_decisions() -> None:
    recorded = max(record.RESULTS.glob(f"{record.NAME}-*.json"))
    header = json.loads(recorded.read_text())["rows"][0]["header"]
    track = {"name": "train_duel", "version": 1, "digest": RELEASED["train_duel-1"], "score": {}}
    facts = header | {"tracks": [track], "card": header["card"] | {"decisions": "1000000"}}
    assert [each.title for each in header_of(facts).tracks] == ["train_duel-1"]
    for decisions in ("", "1000001", "<b>"):
        facts["card"]["decisions"] = decisions
        with pytest.raises(ValueError, match="must be the number of decisions in the training of the agent"):
            header_of(facts)


def test_new_maps_are_small_maps_of_different_sizes_without_the_classic_map() -> None:
    boards = find("new_maps").boards
    sizes = [board.num_territories for board in boards]
    assert len(set(sizes)) == len(boards) >= 4
    assert load_map("classic").digest not in {board.digest for board in boards}
    small = SIZE_CLASSES[0]  # the code of the classic map also plays these maps
    for board in boards:
        assert size_class(board.num_territories, len(board.borders), len(board.continents)) == small


@pytest.mark.long
@pytest.mark.parametrize("name", tracks.ORDER)
def test_opponents_play_as_their_digests_say(name: str) -> None:
    track = find(name)
    for each in track.opponents:
        bot = load(each.agent)
        assert (bot.version, play_digest(bot, track)) == (each.version, each.play), each


def test_the_agent_plays_each_deal_from_every_seat() -> None:
    track = find("six")
    (config,) = track.configs([replace(track.entrants[0], label="mine"), *track.entrants])
    schedule = config.schedule(36)
    assert len(schedule) == 36
    for deal in range(6):
        games = [pairing for pairing in schedule if pairing.deal == deal]
        assert [pairing.seats.index(0) for pairing in games] == list(range(6))
        others = {tuple(agent for agent in pairing.seats if agent) for pairing in games}
        assert len(others) == 1 and len(set(*others)) == 5
        assert {track.opponents[agent - 1].kept_out for agent in next(iter(others))} == {deal % 2 == 1}
    assert config.schedule(60)[:36] == schedule
    again = TournamentConfig.from_json(config.to_json())
    assert again == config
    wrong = json.loads(config.to_json()) | {"groups": [[0]]}
    with pytest.raises(ValueError, match="each agent must be a whole number above 0"):
        TournamentConfig.from_json(json.dumps(wrong))


def result(track: Track, deal: int, seat: int, won: bool) -> GameResult:
    """Return the result of a duel against opponent 1, or against the last opponent in odd deals."""
    other = len(track.opponents) if deal % 2 else 1
    seats = (0, other) if seat == 0 else (other, 0)
    winner = seat if won else 1 - seat
    places = tuple(1 if place == winner else 2 for place in range(2))
    return GameResult(2 * deal + seat, deal, seats, 0, "won", winner, places, 9, (5, 5), (5, 5), (0.0, 0.0))


def test_scores_are_shares_of_the_way_from_an_even_share_to_every_win() -> None:
    track = find("duel")
    played = [result(track, deal, seat, won=deal % 2 == 0) for deal in range(20) for seat in range(2)]
    score = score_of(track, [played])
    assert (score.games, score.deals, score.wins, score.forfeits) == (40, 20, 20, 0)
    assert score.score.value == 0.0 and score.score.low < -20.0 and score.score.high > 20.0
    assert score.train is not None and score.train.value == 100.0
    assert score.kept_out is not None and score.kept_out.value == -100.0
    assert score.ahead["grower"] is not None and score.ahead["grower"].value == 100.0
    assert score.ahead["beam"] is None
    assert score.rough == ()
    few = score_of(track, [played[:38]])  # 10 deals against grower, 9 against the last opponent
    assert few.rough == ("kept_out", track.opponents[-1].label)
    with pytest.raises(ValueError, match="no game"):
        score_of(track, [[]])


# Result files


@pytest.fixture(scope="module")
def small() -> Track:
    """Return a track with two scripts, few games and another name for its file."""
    whole = find("duel")
    opponents = [replace(each) for each in whole.opponents if each.agent in ("grower", "attacker")]
    return replace(whole, opponents=tuple(opponents), quick_deals=3, deals=4, digest="0" * 64)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, small: Track) -> None:
    """Let the benchmark find the small track only."""

    def find_small(name: str, version: int | None = None) -> Track:
        if (name, version) not in (("duel", None), ("duel", 1)):
            raise ValueError(f"track={name!r} is unknown")
        return small

    for module in ("cli", "result_file", "leaderboard"):
        monkeypatch.setattr(f"risk_agents.benchmark.{module}.find", find_small)
    for module in ("cli", "leaderboard"):
        monkeypatch.setattr(f"risk_agents.benchmark.{module}.names", lambda: ("duel",))


@pytest.fixture(scope="module")
def lines(small: Track, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the lines of a result file of `hunter`."""
    with pytest.MonkeyPatch.context() as patch:
        only.__wrapped__(patch, small)  # type: ignore[attr-defined]
        path = tmp_path_factory.mktemp("results") / "hunter.jsonl"
        card = ["--method", "a <script>", "--code", "https://example.org/hunter"]
        main(["hunter", "--quick", "--quiet", "--out", str(path), *card])
    assert not list(path.parent.glob("*.games"))
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def changed(lines: list[dict[str, Any]], change: Callable[[Any, Any], Any]) -> list[dict[str, Any]]:
    """Return a copy of the lines after `change(header, first game)`."""
    copy = json.loads(json.dumps(lines))
    change(copy[0], copy[1])
    return copy


def resigned(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines with a digest that fits them, as a forger would write it."""
    from risk_agents.benchmark.result_file import _digest_of

    digest = _digest_of(lines[0])
    for line in lines[1:]:
        digest.update(json.dumps(line).encode() + b"\n")
    return [lines[0] | {"digest": digest.hexdigest()}, *lines[1:]]


@pytest.mark.usefixtures("only")
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_a_file_is_true_and_the_same_again(workers: str, lines: list[dict[str, Any]], tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines)
    found = verify(path, InProcess())
    assert (found.games, found.agent_played) == (6, True)
    assert found.scores == read_results(path)[1]
    assert found.header.facts["agent"]["name"] == "hunter"
    main(["hunter", "--quick", "--quiet", "--workers", workers, "--out", str(tmp_path / "again.jsonl")])
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert again[1:] == lines[1:]
    assert {name for name in lines[0] if lines[0][name] != again[0][name]} <= {"times", "card"}


@pytest.mark.usefixtures("only")
def test_a_track_with_several_maps(
    small: Track, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    maps = tuple(
        (name, load_map(name).digest) for name in ("inner_sea", "random:7:territories=9,continents=2")
    )
    wide = replace(small, maps=maps)
    for module in ("cli", "result_file", "leaderboard"):
        monkeypatch.setattr(f"risk_agents.benchmark.{module}.find", lambda name, version=None: wide)
    path = tmp_path / "hunter.jsonl"
    main(["hunter", "--quick", "--quiet", "--out", str(path)])
    assert not list(tmp_path.glob("*.games"))
    assert verify(path, InProcess()).games == 12
    recorded = list(read_recorded(path))
    assert [game.saved.map for game in recorded] == [name for name, _ in maps for _ in range(6)]
    assert len({game.saved.seed for game in recorded}) == 2
    (score,) = read_results(path)[1].values()
    assert (score.games, score.deals) == (12, 6)
    assert TrackScore.from_dict(json.loads(json.dumps(score.to_dict()))) == score
    main([])
    assert "2 maps" in capsys.readouterr().out


def set_action(header: Any, game: Any) -> None:
    number = next(k for k, action in enumerate(game["actions"]) if game["actions"][k - 1] != action and k > 9)
    game["actions"][number] = game["actions"][number - 1]


def forfeit(header: Any, game: Any) -> None:
    del game["actions"][-1]
    game["result"] |= {"ending": "forfeit", "winner": 0, "places": [1, 2]}
    game["result"] |= {"forfeit_seat": 1, "forfeit_kind": "crash"}


CHANGES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "action": (set_action, "action|state|does not choose"),
    "last action": (lambda header, game: game["actions"].pop(), "not over"),
    "seed": (lambda header, game: game.update(seed=5), "seed is 5, but 20261126 in the schedule"),
    "deal": (lambda header, game: game.update(lane=7), "lane is 7, but 0"),
    "map": (lambda header, game: game.update(map="tiny"), "map is 'tiny', but 'classic'"),
    "rules": (lambda header, game: game["rules"].update(max_rounds=9), "rules is"),
    "players": (lambda header, game: game["players"].reverse(), "players is"),
    "version": (lambda header, game: header["agent"].update(version="77"), "hunter is version '77'"),
    "winner": (
        lambda header, game: game["result"].update(winner=-1, ending="truncated"),
        "score|wins|truncated",
    ),
    "score": (lambda header, game: header["tracks"][0]["score"].update(wins=6), "'wins' is 6 in the header"),
    "forfeit of an opponent": (forfeit, "grower forfeits in the file"),
    "track": (lambda header, game: header["tracks"][0].update(digest="1" * 64), "the released track has"),
    "format": (lambda header, game: header.update(format="x"), "line 1: not a benchmark's result file"),
    "schema": (lambda header, game: header.update(schema=9), "this version reads schema 1"),
    "date": (lambda header, game: header["times"].update(date="<b>"), "but must be YYYY-MM-DD"),
    "card": (lambda header, game: header["card"].update(method="x" * 999), "must be a string of at most"),
    "name": (lambda header, game: header["agent"].update(name=" "), "printable"),
    "quick": (lambda header, game: header.update(quick=False), "game 6 of track duel is missing"),
    "place": (lambda header, game: game["result"].update(places=[1, 1]), "must differ"),
    "file to run": (lambda header, game: header["agent"].update(name="evil.py:Bot"), "is not registered"),
    "name of another": (
        lambda header, game: header["agent"].update(registered=False),
        "registered is false, but a registered agent has the name 'hunter'",
    ),
    "digest of a file": (lambda header, game: header["agent"].update(sha256="ab"), "must be 64 hexadecimal"),
    "day": (lambda header, game: header["times"].update(date="2026-02-30"), "but must be YYYY-MM-DD"),
    "long name": (
        lambda header, game: header["machine"].update({"m" * 301: ""}),
        "must be a string of at most",
    ),
    "long text": (lambda header, game: header.update(risk_env="V" * 301), "must be a string of at most"),
    "long game": (
        lambda header, game: game.update(map="x" * (1 << 20)),
        "line 2: line too long: a game has at most",
    ),
    "won by nobody": (lambda header, game: game["result"].update(winner=-1), "ending is 'won'"),
    "first place": (lambda header, game: game["result"]["places"].reverse(), "winner is ., but places are"),
    "rounds": (lambda header, game: game["result"].update(rounds=101), "end after 100 rounds"),
    "extra": (lambda header, game: game["result"].update(more=1), "'more' is unknown"),
}


@pytest.mark.usefixtures("only")
@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_file_is_refused_with_the_reason(
    what: str, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    change, reason = CHANGES[what]
    path = written(tmp_path / "a.jsonl", resigned(changed(lines, change)))
    with pytest.raises(ResultFileError, match=reason):
        verify(path, InProcess())
    written(path, changed(lines, change))  # without a digest that fits
    with pytest.raises(ResultFileError):
        verify(path, InProcess())


@pytest.mark.usefixtures("only")
def test_every_error_in_a_verification_names_the_file(
    lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, header: Any) -> bool:
        raise ValueError("strange")

    monkeypatch.setattr("risk_agents.benchmark.verification._check_versions", fail)
    with pytest.raises(ResultFileError, match=r"a\.jsonl: strange"):
        verify(written(tmp_path / "a.jsonl", lines), InProcess())


@pytest.mark.usefixtures("only")
def test_an_agent_that_is_played_again_never_forfeits(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    line = next(read_recorded(written(tmp_path / "a.jsonl", lines)))
    game = line.saved.replay(line.config.board)
    own = line.result.seats.index(0)
    last = max(number for number, seat in enumerate(seats_of(line)) if seat == own)
    assert game.is_over and last > 9
    cut = line.saved.actions[:last]
    result = replace(line.result, ending="forfeit", forfeit_seat=own, forfeit_kind="crash")
    forged = replace(line, saved=replace(line.saved, actions=cut), result=result)
    with pytest.raises(ResultFileError, match="hunter forfeits in the file, but not in the repeated game"):
        check_game(forged, plays_agent=True)


def seats_of(line: Any) -> Iterator[int]:
    """Yield the seat of each action of a game."""
    game = line.saved.beginning().start(line.config.board)
    for action in line.saved.actions:
        yield game.seat
        game.step(action)


@pytest.mark.usefixtures("only")
def test_a_file_with_more_or_fewer_lines_is_refused(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(ResultFileError, match="contains data after the last game of its tracks"):
        read_results(written(tmp_path / "a.jsonl", resigned([*lines, lines[-1]])))
    with pytest.raises(ResultFileError, match="game 5 of track duel is missing"):
        read_results(written(tmp_path / "a.jsonl", resigned(lines[:-1])))
    with pytest.raises(ResultFileError, match="the digest in the header does not match"):
        read_results(written(tmp_path / "a.jsonl", changed(lines, lambda h, g: h.update(risk_env="9"))))


@pytest.mark.usefixtures("only")
def test_an_interrupted_benchmark_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: Any, **options: Any) -> None:
        conduct(arguments[0], 8, *arguments[2:], **options)  # more games than --quick needs
        raise KeyboardInterrupt

    def bad(path: Path) -> Any:
        raise ResultFileError("bad")

    conduct = playing.conduct
    out = ["--quick", "--quiet", "--out", str(tmp_path / "a.jsonl")]
    monkeypatch.setattr(playing, "conduct", stop)
    with pytest.raises(KeyboardInterrupt):
        main(["hunter", *out[1:]])
    monkeypatch.setattr(playing, "conduct", conduct)
    with pytest.raises(ValueError, match="games of another agent, version or configuration"):
        main(["breaker", *out])
    with monkeypatch.context() as patch, pytest.raises(ResultFileError, match="bad"):
        patch.setattr("risk_agents.benchmark.cli.read_results", bad)
        main(["hunter", *out])
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl.games"]  # games survive a bad file
    main(["hunter", *out])
    assert verify(tmp_path / "a.jsonl", InProcess()).games == 6
    with pytest.raises(FileExistsError, match="choose another name"):
        main(["hunter", *out])


@pytest.mark.parametrize("spec", ["{}/mine.py:Bot", "{}/mine.npz", "{}/mine.onnx", "tactician:{}/mine.npz"])
def test_a_run_continues_only_with_the_same_file(spec: str, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    agent = next(tmp_path / name for name in ("mine.py", "mine.npz", "mine.onnx") if name in spec)
    agent.write_text("first")
    run = playing.BenchmarkRun(NamedAgent(None, spec.format(tmp_path)), [], True, folder, None, "1", None)
    with playing.same_agent(run):
        pass
    assert not folder.exists()  # no game was begun
    for _ in range(2):
        with playing.same_agent(run):
            (folder / "duel-1-classic.sqlite").touch()
            before = json.loads((folder / playing.AGENT_FILE).read_text())["seconds"]
    assert json.loads((folder / playing.AGENT_FILE).read_text())["seconds"] > before > 0
    agent.write_text("second")
    with pytest.raises(ValueError, match="has changed since the first game"), playing.same_agent(run):
        pass
    agent.write_text("first")
    with pytest.raises(ValueError, match="has changed since the first game"), playing.same_agent(run):
        agent.write_text("second")
    with pytest.raises(ValueError, match="has changed since the first game"), playing.same_agent(run):
        pass


@pytest.mark.parametrize(
    "spec", ["hunter", "cmd:mine.npz", "cmd:python a.py:Mine", "llm:mine.npz", "kept_out:mine.npz"]
)
def test_an_agent_without_a_file_has_no_digest(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("hunter", "mine.npz", "cmd:python a.py", spec):
        (tmp_path / name).write_text("of something else")
    run = playing.BenchmarkRun(NamedAgent(None, spec), [], True, tmp_path / "games", None, "1", None)
    with playing.same_agent(run):
        (run.folder / "duel-1-classic.sqlite").touch()
    assert json.loads((run.folder / playing.AGENT_FILE).read_text())["sha256"] == ""


def test_a_run_on_a_full_disk_can_be_continued(tmp_path: Path) -> None:
    run = playing.BenchmarkRun(NamedAgent(None, "hunter"), [], True, tmp_path / "games", None, "1", None)
    with playing.same_agent(run):
        (run.folder / "duel-1-classic.sqlite").touch()
    before = (run.folder / playing.AGENT_FILE).read_text()
    with full_disk(10), pytest.raises(OSError), playing.same_agent(run):
        pass
    assert (run.folder / playing.AGENT_FILE).read_text() == before
    with playing.same_agent(run):
        pass


def test_all_tracks_are_the_tracks_that_an_agent_can_play(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = [find(name) for name in names() if find(name).training_decisions is None]
    tracks_played, refused = playing.playable(NamedAgent(None, "marshal"), every)
    assert [track.title for track in tracks_played] == ["duel-1"]
    assert "num_players=2, not 3" in refused["three-1"] and "map=" in refused["new_maps-1"]
    for agent in ("beam", "bot.py:Bot", "cmd:bot"):
        assert playing.playable(NamedAgent(None, agent), every) == (every, {})
    with pytest.raises(ValueError, match="can play no track: 'marshal' was trained"):
        playing.playable(NamedAgent(None, "marshal"), [find("six")])
    monkeypatch.setattr("risk_agents.benchmark.cli.play_tracks", lambda run, console: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["marshal", "--quick", "--quiet", "--out", "none.jsonl"])
    assert "left out: six-1: 'marshal' was trained" in capsys.readouterr().err


def test_an_agent_has_a_name_of_its_own() -> None:
    entrant = Entrant("hunter", "hunter", "1", True)
    assert playing.own_name(entrant) == "hunter"
    for label in ("hunter", "hunter (tested)"):
        with pytest.raises(ValueError, match="name of a registered agent"):
            playing.own_name(replace(entrant, label=label, spec="x.py:Bot"))
    cut = LABEL_LETTERS - len(TESTED)
    assert playing.own_name(replace(entrant, label="x" * (cut - 1) + " " + "y" * 9)) == "x" * (cut - 1)


# The leaderboard


@pytest.mark.usefixtures("only")
def test_each_version_of_a_track_has_its_own_column(
    lines: list[dict[str, Any]], small: Track, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, page = written(tmp_path / "a.jsonl", lines), tmp_path / "50% a#b.html"
    leaderboard.write_page(page, [path], 1)
    assert '<td data-value=""></td>' not in page.read_text()
    assert "]*</span>" in page.read_text()  # few deals
    assert 'href="50%25%20a%23b-replays/0-duel-1-' in page.read_text()
    more = replace(small.opponents[0], agent="breaker")
    newer = replace(small, version=2, opponents=(*small.opponents, more))
    monkeypatch.setattr(leaderboard, "find", lambda name: newer)
    leaderboard.write_page(page, [path], 1)
    assert '<td data-value=""></td>' in page.read_text()  # no mean
    assert ">duel-1<" in page.read_text() and "duel-2" not in page.read_text()


@pytest.mark.usefixtures("only")
def test_the_record_of_the_shipped_agents_makes_the_page(
    lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    written(tmp_path / "hunter.jsonl", lines)
    monkeypatch.setattr(record, "RESULTS", results)
    monkeypatch.setattr(record, "AGENTS", [record.Measured("hunter", "a script", quick=True)])
    monkeypatch.setattr(record, "names", lambda: ("duel",))
    record.main([str(tmp_path), "--check", "--record"])
    (path,) = results.glob("*.json")
    facts = {"file": path.stem, **json.loads(path.read_text())}
    (entry,) = record.entries(facts, "replays")
    assert entry.scores == read_results(tmp_path / "hunter.jsonl")[1]
    assert (entry.file, entry.verified, entry.header.name) == ("hunter.jsonl", True, "hunter")
    ((game, shown),) = read_games(path.with_suffix(".jsonl"))
    assert game.replay().is_over and entry.replays == [(f"replays/{shown['page']}", shown["title"])]
    page = leaderboard.page_of([entry], "<p>first</p>")
    assert "<p>first</p>" in page and "all games played again" in page
    best = replace(entry.scores["duel"], score=Estimate(99.0, 98.0, 100.0))
    better = entry._replace(file="better.jsonl", scores={"duel": best})
    monkeypatch.setattr(leaderboard.LeaderboardEntry, "mean", None)  # as if a track was missing
    page = leaderboard.page_of([entry, better])
    assert page.index("better.jsonl") < page.index("hunter.jsonl")
    monkeypatch.setattr(record, "MOST_ACTIONS", 0)
    assert not list(record.shown_games([tmp_path / "hunter.jsonl"]))


@pytest.mark.usefixtures("only")
def test_a_file_that_cannot_be_read_is_left_out(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    files, page = [written(tmp_path / "a.jsonl", lines), tmp_path / "b.jsonl"], tmp_path / "page.html"
    files[1].symlink_to("/proc/self/mem")  # a regular file whose first byte cannot be read
    refused = leaderboard.write_page(page, files)
    assert [path for path, _ in refused] == files[1:] and "hunter" in page.read_text()


@pytest.mark.usefixtures("only")
def test_a_game_that_is_not_over_has_no_replay(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    cut = [lines[0], *(line | {"actions": line["actions"][:-1]} for line in lines[1:])]
    path = written(tmp_path / "a.jsonl", resigned(cut))
    with pytest.raises(ValueError, match="the game is not over"):
        leaderboard.write_page(tmp_path / "a.html", [path], 1)


@pytest.mark.usefixtures("only")
def test_the_page_escapes_what_strangers_wrote_and_leaves_out_wrong_files(
    lines: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def name(header: Any, game: Any) -> None:
        header["agent"] |= {"name": "<b>me</b>", "registered": False}
        header["card"]["code"] = "javascript:alert(1)"

    mine = changed(lines, name)
    for line in mine[1:]:
        line["players"] = ["<b>me</b>" if each == "hunter" else each for each in line["players"]]
    written(tmp_path / "a.jsonl", lines)
    written(tmp_path / "b.jsonl", resigned(mine))
    written(tmp_path / "c.jsonl", changed(lines, CHANGES["seed"][0]))
    page = tmp_path / "page.html"
    assert cli.main(["leaderboard", str(tmp_path), "--html", str(page), "--check"]) == 0
    said = capsys.readouterr()
    assert "2 result files" in said.out and "c.jsonl, line 2: seed is 5" in said.err
    html = page.read_text()
    assert "<b>me" not in html and "&lt;b&gt;me&lt;/b&gt;" in html and "a &lt;script&gt;" in html
    assert 'href="javascript' not in html and 'href="https://example.org/hunter"' in html
    assert "played again, all actions compared" in html and "actions are taken from the file" in html
    assert html.count("verified") >= 2 and "http:" not in html
    replays = sorted((tmp_path / "page-replays").iterdir())
    assert replays and all(f'href="page-replays/{replay.name}"' in html for replay in replays)
    with pytest.raises(ValueError, match=r"contains 0 \.jsonl files"):
        leaderboard.read_folder(tmp_path / "page-replays")


@pytest.mark.usefixtures("only")
def test_wrong_arguments_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            cli.main(list(arguments))
        return capsys.readouterr().err

    assert "cannot be combined with --quick" in said("benchmark", "--verify", "x", "--quick")
    assert cli.main(["benchmark", "hunter", "--track", "dual"]) == 2
    assert "track='dual' is unknown" in capsys.readouterr().err
    assert cli.main(["benchmark", "hunter", "--out", "x.txt"]) == 2
    assert "must end in .jsonl" in capsys.readouterr().err
    assert cli.main(["benchmark", "hunter", "--method", "x" * 999]) == 2
    assert "at most 300" in capsys.readouterr().err
    assert cli.main(["leaderboard", str(tmp_path / "none"), "--html", "x.html"]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_kept_out_opponents_are_found_by_their_specs() -> None:
    assert load("kept_out:bold") is kept_out.find("bold")
    assert not any(name.startswith("kept_out") for name in bots.names())
    with pytest.raises(ValueError, match="allowed: bold, careful, income, denial"):
        load("kept_out:brave")
