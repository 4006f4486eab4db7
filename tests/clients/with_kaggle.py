"""kaggle-environments: games of the bundle of `examples/hubs`, faults, copies, text and page of a game."""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import kaggle_environments

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.hubs.bundle import bundle

TINY = {"board": "tiny", "maxRounds": 10, "seed": 4}


def play_games() -> int:
    """Play games of two and of three agents, and compare the rewards; return the number of steps."""
    env = kaggle_environments.make("risk", configuration=TINY)
    for players in (2, 3):
        steps = env.run(["random"] * players)
        final = steps[-1]
        assert {agent.status for agent in final} == {"DONE"} and len(steps) > 20
        rewards = [agent.reward for agent in final]
        assert all(reward in (1, 0, -1 / (players - 1)) for reward in rewards), rewards
        acting = [[agent.status for agent in step].count("ACTIVE") for step in steps[:-1]]
        assert set(acting) == {1}
        assert all(
            agent.observation.legal == [] for step in steps for agent in step if agent.status == "INACTIVE"
        )
    again = json.loads(json.dumps(env.toJSON()))
    assert len(again["steps"]) == len(steps)
    assert str(env.clone().render(mode="ansi")) == env.render(mode="ansi")
    return len(steps)


def check_faults() -> None:
    """Check that an illegal action and an error end the game, with the rewards of the others."""

    def broken(observation):
        raise ValueError("broken")

    for bad, status in ((lambda observation: 10**6, "INVALID"), (broken, "ERROR")):
        env = kaggle_environments.make("risk", configuration=TINY)
        final = env.run(["random", bad, "random"])[-1]
        assert [agent.status for agent in final] == ["DONE", status, "DONE"]
        assert [agent.reward for agent in final] == [0.5, None, 0.5]


def check_copy() -> None:
    """Check that a copy in the middle of a game plays on without the original."""
    env = kaggle_environments.make("risk", configuration=TINY)
    env.reset(2)
    for _ in range(9):
        env.step([agent.observation.legal[0] if agent.status == "ACTIVE" else None for agent in env.state])
    other, before = env.clone(), env.render(mode="ansi")
    other.step([agent.observation.legal[-1] if agent.status == "ACTIVE" else None for agent in other.state])
    assert env.render(mode="ansi") == before != other.render(mode="ansi")


def page_of_game() -> str:
    """Return the page of a short game."""
    env = kaggle_environments.make("risk", configuration={**TINY, "maxRounds": 2})
    env.run(["random", "random"])
    page = env.render(mode="html")
    assert page.index("window.kaggle =") < page.index("show(") and "<svg" in page and "@" not in page[:200]
    return page


def main() -> None:
    """Run all of it."""
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, str(bundle("kaggle", Path(folder) / "bundle")))
        from risk.risk import register

        register()
        steps = play_games()
        check_faults()
        check_copy()
        page = page_of_game()
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page, encoding="utf-8")
    print(
        f"kaggle-environments {version('kaggle-environments')}: a game of {steps} steps, "
        f"a page of {len(page)} bytes"
    )


if __name__ == "__main__":
    main()
