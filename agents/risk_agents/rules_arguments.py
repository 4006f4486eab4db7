"""Command-line arguments for the rules and the map, shared by several commands."""

import argparse
from collections.abc import Mapping
from typing import Any

from risk_env.board.rules import CHOICES, PROFILES, Rules, preset_players, presets, read_option

PRESET = MAP = "classic"
# Options of RULES 13 that have their own argument
OPTIONS = ("setup", "attack", "defender_dice", "max_rounds")
NAMES = ("preset", "players", "map", "expert", "profile", *OPTIONS, "option")
PLAYERS = "3, or 2 for two_player"  # default number of players
# Options of `Rules.preset` that have their own argument, or their own setting in a configuration
OWN = {"num_players": "players", "expert": "expert", "preset": "preset", "profile": "profile"}


def add_rules_arguments(
    parser: argparse._ActionsContainer,
    profile: str,
    players: str = PLAYERS,
    otherwise: str = "",
    maps: str = "name or file of the map, or random:SEED",
) -> None:
    """Add the arguments for rules and map; an argument that is not on the command line has the value None.

    `profile` is the default profile. The other parameters are texts for the help: `players` describes the
    default number of players. `otherwise` names a source of values that takes precedence over the defaults,
    such as "value of the configuration". `maps` describes the maps that the command accepts.
    """
    add = parser.add_argument
    before = f"{otherwise}, else " if otherwise else ""
    add(
        "--preset",
        metavar="NAME",
        help=f"preset of the rules: {', '.join(presets())} (default: {before}{PRESET})",
    )
    add("--players", type=int, metavar="N", help=f"number of players (default: {before}{players})")
    add("--map", metavar="NAME", help=f"{maps} (default: {before}{MAP})")
    add(
        "--expert",
        action="store_true",
        default=None,
        help="play the variations for experts (RULES 10.1-10.5)",
    )
    profiles = " or ".join(PROFILES)
    add(
        "--profile",
        metavar="NAME",
        help=f"profile of the rules (RULES 12.1): {profiles} (default: {before}{profile})",
    )
    _add_options(parser, f"(default: {before}from the preset and the profile)")


def _add_options(parser: argparse._ActionsContainer, default: str) -> None:
    """Add the arguments for options of the rules; `default` is the end of their help texts."""
    add = parser.add_argument
    for option, meaning in (
        ("setup", "initial placement (RULES 4.3)"),
        ("attack", "dice of the attacker (RULES 3.2.4)"),
        ("defender_dice", "dice of the defender (RULES 3.2.2)"),
    ):
        choices = ", ".join(CHOICES[option])
        add(f"--{option.replace('_', '-')}", metavar="NAME", help=f"{meaning}: {choices} {default}")
    add(
        "--max-rounds",
        type=int,
        metavar="N",
        help=f"number of rounds after which a game is truncated {default}",
    )
    add(
        "--option",
        action="append",
        metavar="NAME=VALUE",
        help="set an option of the rules (RULES 13) other than num_players; may be repeated",
    )


def options_of(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of RULES 13 in `wanted`, which contains the arguments by name.

    `--option` overrides the argument for the same option. Raises ValueError if `--option` is not valid.
    """
    options = dict(map(read_option, wanted["option"] or ()))
    for name in options.keys() & OWN:
        raise ValueError(f"--option {name} is not allowed: use --{OWN[name]} instead")
    return {**{name: wanted[name] for name in OPTIONS if wanted[name] is not None}, **options}


def rules_of(wanted: Mapping[str, Any], profile: str, named: int | None = None) -> Rules:
    """Return the rules that the arguments in `wanted` choose; `profile` is the default profile.

    `named` is the number of players that the command line names. It is the default number of players if the
    preset allows this number.
    """
    preset, players = wanted["preset"] or PRESET, wanted["players"]
    if players is None and named is not None and preset in presets() and named in preset_players(preset):
        players = named
    options = {"profile": wanted["profile"] or profile, **options_of(wanted)}
    return Rules.preset(preset, players, bool(wanted["expert"]), **options)
