"""The arguments of the command line that choose rules and map: the same for tournaments and for play."""

import argparse
from collections.abc import Mapping
from typing import Any

from risk_env.board.rules import Rules, preset_players, read_option

PRESET = "classic"
_OWN = {"num_players": "--players", "expert": "--expert", "preset": "--preset"}  # not options of a preset


def add_rules_arguments(parser: argparse.ArgumentParser, defaults: Mapping[str, str]) -> None:
    """Add them, each None where it is not given; `defaults` says in words what holds then."""
    add = parser.add_argument
    add("--preset", help="the rules (default: classic; `risk-env presets` lists them)")
    add("--players", type=int, metavar="N", help=f"seats (default: {defaults['players']})")
    add("--map", help="name or file of the map (default: classic)")
    add("--expert", action="store_true", default=None, help="with the variations for experts (RULES 10)")
    add("--setup", metavar="NAME", help=f"where players start, RULES 4.3 (default: {defaults['setup']})")
    add("--attack", choices=("choice", "max", "blitz"), help=f"RULES 3.2.4 (default: {defaults['attack']})")
    add("--defender-dice", choices=("choice", "max"), help=f"RULES 3.2.2 (default: {defaults['defender_dice']})")
    truncated = f"rounds after which a game is truncated (default: {defaults['max_rounds']})"
    add("--max-rounds", type=int, metavar="N", help=truncated)
    add("--option", action="append", metavar="NAME=VALUE", help="any other option of the rules (RULES 13)")


def rules_of(wanted: Mapping[str, Any], named: int | None, deals: bool = False) -> Rules:
    """The rules of these arguments; by default one seat for each `named` player, where the preset allows that.

    What is None is as in the preset; --option wins over the argument for the same option. With `deals`, territories are
    dealt where the preset has them claimed and no argument says how to begin.
    """
    preset = wanted["preset"] or PRESET
    players = wanted["players"]
    if players is None and named in preset_players(preset):
        players = named
    options = dict(map(read_option, wanted["option"] or ()))
    for name in options.keys() & _OWN:
        raise ValueError(f"--option {name}: is said by {_OWN[name]}")
    for name in ("setup", "attack", "defender_dice", "max_rounds"):
        if wanted[name] is not None:
            options.setdefault(name, wanted[name])
    rules = Rules.preset(preset, num_players=players, expert=bool(wanted["expert"]), **options)
    return dealt(rules) if deals and "setup" not in options else rules


def dealt(rules: Rules) -> Rules:
    """The same rules with territories dealt where they would be claimed: scripted bots claim alike in most games."""
    return rules.replace(setup="deal") if rules.setup == "claim" else rules
