"""Files are complete or absent, and new files never replace other files."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from risk_agents.game_files import load_game, read_games, save_game
from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.records import write_records
from risk_agents.tournament.results_store import Store
from risk_env import Game, Rules
from risk_env.saved_game import SavedGame
from risk_env.whole_file import new_file, new_folder, whole_file
from tests.full_disk import full_disk

RULES = Rules.preset("classic", 2, max_rounds=3, attack="blitz", defender_dice="max", initial_troops=8)
NOW = "20261125-200542"


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    found = [new_file(tmp_path / "a.b.json").name for _ in range(3)]
    assert found == ["a.b.json", "a.b-2.json", "a.b-3.json"]
    assert [new_folder(tmp_path / "runs" / "x").name for _ in range(3)] == ["x", "x-2", "x-3"]
    with pytest.raises(FileExistsError):
        new_file(tmp_path / "a.b.json", may_rename=False)


def test_names_that_are_asked_for_at_the_same_time_are_different(tmp_path: Path) -> None:
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(new_file(tmp_path / "x.json"))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*found}) == 20


def test_a_link_and_a_file_of_before_are_replaced_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    with whole_file(tmp_path / "link") as fresh:
        fresh.write_text("new")
    assert (tmp_path / "other").read_text() == "mine" and (tmp_path / "link").read_text() == "new"
    with whole_file(Path("/dev/null")) as fresh:
        assert fresh == Path("/dev/null")


def test_a_full_disk_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("before")
    with full_disk(1000), pytest.raises(OSError), whole_file(path) as fresh:
        fresh.write_text("x" * 5000)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("size", [0, 1, 1000, 4096, 5000, 8192, 12288, 16384, 24576, 32768, 40000, 65536])
def test_a_tournament_on_a_full_disk_is_begun_whole_or_not_at_all(size: int, tmp_path: Path) -> None:
    """SQLite's log once stayed beside a file that was moved, and nobody could resume the file."""
    config, path = make_config(["random", "attacker"], RULES, "tiny"), tmp_path / "games.sqlite"
    try:
        with full_disk(size):
            Store.create(path, config, {"games": 2}).close()
    except OSError as error:
        said = ("cannot be written", "cannot be read", "File too large")
        assert any(words in str(error) for words in said)
        assert path.exists() or list(tmp_path.iterdir()) == []
    with closing(Store.open(path) if path.exists() else Store.create(path, config, {"games": 2})) as store:
        assert store.config == config and store.count() == (0, 0)


def test_games_that_a_full_disk_refused_are_played_when_it_has_room(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "games.sqlite"
    arguments = ["--agents", "random,attacker", "--games", "40", "--map", "tiny", "--quiet"]
    with full_disk(60_000), pytest.raises(OSError, match="continue with --resume"):
        tournament(
            [*arguments, "--workers", "1", "--out", str(path), "--save", str(tmp_path / "games.jsonl")]
        )
    with closing(Store.open(path)) as store:
        assert store.count()[0] < 40
    tournament(["--resume", str(path), "--quiet", "--workers", "1"])
    with closing(Store.open(path)) as store:
        assert store.count()[0] == 40
        write_records(store, tmp_path / "games.jsonl")
        with full_disk(5000), pytest.raises(OSError):
            write_records(store, tmp_path / "games.jsonl")
    assert len([*read_games(tmp_path / "games.jsonl")]) == 40


def test_tournaments_that_begin_in_the_same_second_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda form, *moment: form.replace("%Y%m%d-%H%M%S", NOW))
    for seed in range(3):
        tournament(
            ["--agents", "random,attacker", "--games", "2", "--map", "tiny", "--seed", str(seed), "--quiet"]
        )
    names = [f"tournament-{NOW}{number}.sqlite" for number in ("", "-2", "-3")]
    assert {*names} <= {path.name for path in tmp_path.iterdir()}
    for seed, name in enumerate(names):
        with closing(Store.open(name)) as store:
            assert store.arguments["seed"] == seed and store.count()[0] == 2
    tournament(["--resume", "--quiet", "--seed", "2"])  # the newest
    with pytest.raises(FileExistsError, match="continue with --resume"):
        tournament(["--agents", "random,attacker", "--out", names[0], "--quiet"])


def test_a_kept_game_replaces_only_itself(tmp_path: Path) -> None:
    path, first, second = tmp_path / "game.json", Game(RULES, "tiny", 1), Game(RULES, "tiny", 2)
    assert save_game(path, SavedGame.of(first, ["human", "random"])) == path
    assert save_game(path, SavedGame.of(second, ["human", "random"])) == tmp_path / "game-2.json"
    first.step(int(first.legal_actions()[0]))
    assert save_game(path, SavedGame.of(first, ["human", "random"]), is_own=True) == path
    assert load_game(path).actions == first.actions and load_game(tmp_path / "game-2.json").seed == 2


def test_a_kept_game_on_a_full_disk_leaves_nothing_or_what_was_there(tmp_path: Path) -> None:
    path, game = tmp_path / "game.json", Game(RULES, "tiny", 1)
    with full_disk(100), pytest.raises(OSError):
        save_game(path, SavedGame.of(game, ["human", "random"]))
    assert list(tmp_path.iterdir()) == []
    save_game(path, SavedGame.of(game, ["human", "random"]))
    with full_disk(100), pytest.raises(OSError):
        save_game(path, SavedGame.of(game, ["human", "random"]), is_own=True)
    assert load_game(path).actions == ()
