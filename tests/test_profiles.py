"""Profiles of rules (RULES 12.1): the same rules at every entry point, suggestions for wrong names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import gymnasium
import pytest

from risk_agents.dataset import cli as dataset
from risk_agents.mcp import games as mcp_games
from risk_agents.play import cli as play
from risk_agents.rules_arguments import NAMES
from risk_agents.tournament import cli as tournament
from risk_agents.web import cli as serve
from risk_agents.web import lobby
from risk_env import Game, GameBatch, Match, Rules, cli, risk_v0
from risk_env.board.rules import BOOK, FAST, PROFILES, rules_from
from risk_env.text_env import TextEnv
from risk_training.config import TRAINERS
from risk_training.sb3 import RiskVecEnv

ID = "risk_env/Risk-v0"
PRESETS = [("classic", 3), ("classic", 2), ("capital", 4), ("secret_mission", 3), ("world_conquest", 3)]
CHANGED = ("setup", "attack", "defender_dice", "max_rounds")


class Stop(Exception):
    """Raised instead of running a command; carries the command's rules."""


def stop_with(rules: Rules) -> Any:
    raise Stop(rules)


def words(options: dict[str, Any]) -> list[str]:
    """Return options as arguments of a command."""
    own = {"num_players": "players"}
    return [word for name, value in options.items() for word in (f"--{own.get(name, name)}", str(value))]


def of_tournament(preset: str, options: dict[str, Any]) -> Rules:
    arguments = tournament._parser().parse_args(["--agents", "random", "--preset", preset, *words(options)])
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop) as stopped:
        patch.setattr(tournament, "make_config", lambda agents, rules, *_, **__: stop_with(rules))
        tournament._config({**tournament.DEFAULTS, "record": False, **tournament._given(arguments)}, None)
    return stopped.value.args[0]


def of_play(preset: str, options: dict[str, Any]) -> Rules:
    arguments = play._parser().parse_args(["--preset", preset, *words(options)])
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop) as stopped:
        patch.setattr(play, "TerminalTable", lambda game, *_: stop_with(game.rules))
        play._begun(arguments, None)  # type: ignore[arg-type]
    return stopped.value.args[0]


def of_dataset(preset: str, options: dict[str, Any]) -> Rules:
    given = ["--agents", "random", "--out", "x.parquet", "--preset", preset, *words(options)]
    return dataset._spec(dataset._parser().parse_args(given)).rules


def of_serve(preset: str, options: dict[str, Any]) -> Rules:
    proposed = serve.proposed_game(serve._parser().parse_args(["--preset", preset, *words(options)]))
    wish = {"preset": proposed["preset"], "map": proposed["map"], "options": proposed["options"]}
    return lobby._of_preset(wish, proposed["players"]).rules


def of_evaluate(preset: str, options: dict[str, Any]) -> Rules:
    evaluate = pytest.importorskip("risk_training.evaluate")
    return evaluate.setting("grower", evaluate._parser().parse_args(["--preset", preset, *words(options)]))[0]


def of_train(preset: str, options: dict[str, Any]) -> Rules:
    pytest.importorskip("torch")
    train = pytest.importorskip("risk_training.cli")
    trainer = import_module("risk_training.ppo")
    given = train._parser().parse_args(["--config", "x", "--preset", preset, *words(options)])
    facts = train.changed({"trainer": "selfplay"}, given, trainer.Config.LENGTH)
    return trainer.Config.from_dict(facts).rules()


def of_trainer(name: str) -> Callable[[str, dict[str, Any]], Rules]:
    def rules(preset: str, options: dict[str, Any]) -> Rules:
        pytest.importorskip("torch")
        settings = import_module(TRAINERS[name]).Config
        facts = {"preset": preset, "tables": [options["num_players"]], "round_games": 10, **options}
        known = {field for field in (*settings.__dataclass_fields__, "num_players") if field in facts}
        named = {"players" if field == "num_players" else field: facts[field] for field in known}
        return settings.from_dict(named).rules()

    return rules


def of_sb3(preset: str, options: dict[str, Any]) -> Rules:
    pytest.importorskip("stable_baselines3")
    return import_module("risk_training.sb3").RiskVecEnv(1, preset=preset, **options).lanes.rules


def of_mcp(preset: str, options: dict[str, Any]) -> Rules:
    others = {name: value for name, value in options.items() if name != "num_players"}
    rules = mcp_games._rules(preset, options["num_players"], others)
    return rules.replace(max_rounds=None) if rules.max_rounds == mcp_games.MOST_ROUNDS else rules


def seats(options: dict[str, Any]) -> list[None]:
    return [None] * options["num_players"]


ENTRIES: dict[str, dict[str, Callable[[str, dict[str, Any]], Rules]]] = {  # by their default profile
    BOOK: {
        "Rules.preset": lambda preset, options: Rules.preset(preset, **options),
        "Game": lambda preset, options: Game(preset, **options).rules,
        "Match": lambda preset, options: Match(preset, "classic", seats(options), **options).game.rules,
        "play": of_play,
        "serve": of_serve,
        "mcp": of_mcp,
    },
    FAST: {
        "GameBatch": lambda preset, options: GameBatch(preset, num_games=1, **options).rules,
        "raw_env": lambda preset, options: risk_v0.raw_env(preset, **options).rules,
        "env": lambda preset, options: risk_v0.env(preset, **options).unwrapped.rules,
        "make": lambda preset, options: gymnasium.make(ID, preset=preset, **options).unwrapped.lanes.rules,
        "make_vec": lambda preset, options: (
            gymnasium.make_vec(ID, preset=preset, **options).unwrapped.lanes.rules
        ),
        "TextEnv": lambda preset, options: TextEnv(preset, **options).rules,
        "RiskVecEnv": of_sb3,
        "tournament": of_tournament,
        "dataset": of_dataset,
        "evaluate": of_evaluate,
        "train": of_train,
        **{f"YAML, {name}": of_trainer(name) for name in TRAINERS},
    },
}


@pytest.mark.parametrize(
    ("usual", "entry"), [(usual, entry) for usual in ENTRIES for entry in ENTRIES[usual]]
)
def test_every_entry_point_has_the_same_rules(usual: str, entry: str) -> None:
    rules_at = ENTRIES[usual][entry]
    for preset, players in PRESETS:
        assert rules_at(preset, {"num_players": players}) == Rules.preset(preset, players, profile=usual)
        for profile in PROFILES:
            found = rules_at(preset, {"num_players": players, "profile": profile})
            assert found == Rules.preset(preset, players, profile=profile), (preset, profile)


def test_rules_of_a_preset_are_checked_once_and_arguments_are_read_once(monkeypatch: Any) -> None:
    rules_from("classic", {}, BOOK, Game)
    check, checked = Rules.__post_init__, list[Rules]()
    monkeypatch.setattr(Rules, "__post_init__", lambda rules: (checked.append(rules), check(rules)))
    monkeypatch.setattr(inspect, "signature", lambda function: pytest.fail(f"signature of {function}"))
    assert rules_from("classic", {"setup": "deal"}, BOOK, Game) == Rules.preset("classic", setup="deal")
    assert len(checked) == 2
    with pytest.raises(ValueError, match=r"'sead' is unknown .did you mean 'seed'"):
        rules_from("classic", {"sead": 3}, BOOK, Game)


def test_the_fast_profile() -> None:
    def changed(preset: str, players: int, **options: Any) -> list[Any]:
        rules = Rules.preset(preset, players, profile="fast", **options)
        return [getattr(rules, name) for name in CHANGED]

    assert changed("classic", 3) == changed("secret_mission", 3) == ["deal", "blitz", "max", 100]
    assert changed("command_room", 3) == ["capitals", "blitz", "max", 100]
    assert (
        changed("classic", 3, expert=True)
        == changed("classic", 3, commander=True)
        == ["deal", "max", "max", 100]
    )
    given = {"setup": "claim", "attack": "choice", "defender_dice": "choice", "max_rounds": None}
    assert changed("classic", 3, **given) == list(given.values())
    assert Rules.preset("classic", 3, profile="book") == Rules.preset("classic", 3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Rules.preset("classic", profile="fats"), "profile='fats' is unknown (did you mean 'fast'?)"),
        (lambda: Game("clasic"), "did you mean 'classic'"),
        (lambda: Game("classic", "clasic"), "did you mean 'classic'"),
        (lambda: Game("classic", seeed=1), "'seeed' is unknown (did you mean 'seed'?)"),
        (lambda: Match("classic", "classic", [None] * 3, setp="deal"), "did you mean 'setup'"),
        (lambda: Match("classic", "classic", ["growr", None, None]), "did you mean 'grower'"),
        (lambda: GameBatch("classic", thread=2), "did you mean 'threads'"),
        (lambda: GameBatch("classic", reward="wins"), "did you mean 'win'"),
        (lambda: risk_v0.env("classic", num_player=3), "did you mean 'num_players'"),
        (lambda: gymnasium.make(ID, max_round=3), "did you mean 'max_rounds'"),
        (lambda: gymnasium.make(ID, oponents="grower"), "did you mean 'opponents'"),
        (lambda: gymnasium.make(ID, opponents="growr"), "did you mean 'grower'"),
        (lambda: gymnasium.make_vec(ID, num_envs=2, atack="max"), "did you mean 'attack'"),
        (lambda: gymnasium.make(ID, preset="clasic"), "did you mean 'classic'"),
        (lambda: gymnasium.make(ID, render_mod="ansi"), "did you mean 'render_mode'"),
        (lambda: gymnasium.make(ID, preset=Rules(), oponents="grower"), "did you mean 'opponents'"),
        (lambda: gymnasium.make_vec(ID, num_envs=2, autoreset="disabled"), "did you mean 'autoreset_mode'"),
        (lambda: gymnasium.make(ID).reset(options={"postion": ""}), "did you mean 'position'"),
        (lambda: RiskVecEnv(num_env=2), "did you mean 'num_envs'"),
        (lambda: TextEnv(board="tinny"), "did you mean 'tiny'"),
        (lambda: TextEnv(styl="full"), "did you mean 'style'"),
        (lambda: TextEnv(ilegal_reward=-1.0), "did you mean 'illegal_reward'"),
        (
            lambda: Game(Rules(), setup="deal"),
            "setup='deal' cannot be given with a Rules object: use rules.replace(setup=...)",
        ),
        (
            lambda: Match(Rules(), "classic", [None] * 3, expert=True),
            "expert=True cannot be given with a Rules object",
        ),
        (lambda: GameBatch(Rules(), num_players=3), "num_players=3 cannot be given with a Rules object"),
        (lambda: risk_v0.env(Rules(), num_players=3), "num_players=3 cannot be given with a Rules object"),
        (
            lambda: gymnasium.make(ID, preset=Rules(), profile="fast"),
            "profile='fast' cannot be given with a Rules object",
        ),
    ],
)
def test_wrong_names_and_options_beside_rules(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        call()


def test_rules_are_taken_where_a_preset_is() -> None:
    rules = Rules.preset("capital", 4, max_rounds=7)
    batch, env = GameBatch(rules, num_games=1), risk_v0.env(rules)
    lanes = gymnasium.make(ID, preset=rules).unwrapped.lanes  # type: ignore[attr-defined]
    assert (
        Game(rules).rules
        == batch.rules
        == env.unwrapped.rules
        == lanes.rules
        == TextEnv(rules).rules
        == rules
    )


@pytest.mark.parametrize("command", ["play", "serve", "tournament", "train", "evaluate", "dataset"])
def test_every_command_that_plays_takes_the_same_arguments(command: str) -> None:
    module = import_module(cli.COMMANDS[command].module)
    known = {action.dest for action in module._parser()._actions}
    assert known >= set(NAMES)


def test_any_setting_is_set_on_the_command_line() -> None:
    pytest.importorskip("torch")
    train, ppo = import_module("risk_training.cli"), import_module("risk_training.ppo")

    def config(*given: str) -> Any:
        facts = {"trainer": "selfplay", "options": {"fortify": "free"}, "evaluation": {"games": 7}}
        return ppo.Config.from_dict(
            train.changed(facts, train._parser().parse_args(given), ppo.Config.LENGTH)
        )

    texts = ("actors=2", "evaluation.opponents=[random, grower]", "league.window=1", "learning_rate=1e-3")
    found = config(
        *(word for text in texts for word in ("--set", text)), "--max-rounds", "9", "--steps", "5e3"
    )
    assert (found.actors, found.evaluation.opponents, found.evaluation.games) == (2, ("random", "grower"), 7)
    assert (found.league.window, found.learning_rate, found.n_timesteps) == (1, 1e-3, 5000)
    assert found.options == {"fortify": "free", "max_rounds": 9}
    for text, said in {
        "actor=2": "'actor' is unknown (did you mean 'actors'?)",
        "actors": "must be KEY=VALUE",
        "trainer=ppo": "--set trainer: cannot be changed",
        "actors=no": "actors=False: must be",
        "actors.x=1": "actors",
        "league.windw=1": "did you mean 'window'",
        "seed={": "--set 'seed' cannot be read as YAML",
    }.items():
        with pytest.raises(ValueError, match=re.escape(said)):
            config("--set", text)
