"""A small `risk-env demo`: a game, a training, a tournament with a report."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from risk_training import demo


@pytest.mark.slow
def test_the_demo_trains_an_agent_and_plays_it_against_the_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = demo.CONFIG.read_text().replace("n_envs: 256", "n_envs: 16").replace("games: 100", "games: 2")
    (tmp_path / "small.yml").write_text(small)
    monkeypatch.setattr(demo, "CONFIG", tmp_path / "small.yml")
    monkeypatch.setattr(demo, "LADDER", ("attacker", "grower"))
    monkeypatch.setattr(demo, "SIX", ("grower", "hunter", "breaker"))
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # no more processes
    demo.main(["--steps", "1024", "--games", "6", "--six-games", "6", "--out", str(tmp_path / "out")])
    told = capsys.readouterr().out
    for words in (
        "Estimated time",
        "won",
        "Games won",
        "yours",
        "attacker",
        "6 games",
        "hunter",
        "4. Tournament",
    ):
        assert words in told
    for report in ("tournament.html", "six_players.html"):
        assert (tmp_path / "out" / report).stat().st_size > 10_000
    assert (tmp_path / "out" / "policy.npz").is_file()
    with pytest.raises(FileExistsError, match="is not empty; choose a new folder"):
        demo.main(["--out", str(tmp_path / "out")])


def test_the_first_board_needs_no_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISK_ENV_CACHE_DIR", str(tmp_path))
    board = demo.opening(seed=1)
    assert board.startswith(f"Round {demo.ROUNDS + 1}, Player ") and "Kamchatka" in board
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_what_the_demo_asks_the_tournament_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr("risk_agents.tournament.cli.main", asked.append)
    demo.play(Path("folder/name"), ["a", "b=c.npz"], players=2, games=10, seed=3)
    assert asked[0][:8] == ["--agents", "a,b=c.npz", "--players", "2", "--games", "10", "--seed", "3"]
    assert asked[0][asked[0].index("--out") + 1] == str(Path("folder/name.sqlite"))


def test_the_estimate_follows_the_work_and_the_machine() -> None:
    def minutes(loop: float = demo.LOOP, cores: int = 1, **changed: Any) -> int:
        wanted = {"games": 0, "six_games": 0, "steps": None, "no_training": True} | changed
        found = re.search(r": (\d+) min, ", demo.estimate(argparse.Namespace(**wanted), cores, loop))
        assert found is not None
        return int(found[1])

    many = round(600 / demo.GAME_OF_SIX)
    assert minutes() == 1
    assert minutes(six_games=many) == 10 and minutes(six_games=many, cores=2) == 5
    assert minutes(2 * demo.LOOP, six_games=many) in (20, 21)
    assert minutes(no_training=False, steps=10 * demo.DEFAULT_DECISIONS) == round(demo.DECISIONS / 6)
    assert f"n_timesteps: {demo.DEFAULT_DECISIONS:_}\n" in demo.CONFIG.read_text()
    assert 0 < demo.loop_seconds() < 60


@pytest.mark.parametrize("option", ["--games", "--six-games", "--steps"])
def test_numbers_of_the_demo_are_checked_before_anything_is_played(option: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{option} 0: must be at least 1"):
        demo.main([option, "0", "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
