"""`risk-env demo`, in small: a game, a training, a tournament with a report."""

from __future__ import annotations

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
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # no more processes
    demo.main(["--decisions", "1024", "--games", "6", "--out", str(tmp_path / "out")])
    told = capsys.readouterr().out
    for words in ("won", "Games won", "yours", "attacker", "6 games"):
        assert words in told
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert (tmp_path / "out" / "policy.npz").is_file()


def test_what_the_demo_asks_the_tournament_for() -> None:
    arguments: Any = type("Arguments", (), {"games": 10, "seed": 3})
    words = demo.tournament_arguments(["a", "b=c.npz"], arguments, Path("folder"), Path("folder/report.html"))
    assert words[:6] == ["--agents", "a,b=c.npz", "--players", "2", "--games", "10"]
    assert words[words.index("--report") + 1] == str(Path("folder/report.html"))
