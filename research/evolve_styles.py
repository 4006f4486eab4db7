"""Search over the parameters of `risk_agents.scripted.style` for strong styles.

    python -m research.evolve_styles --seed 2 --generations 11    # `evolved`
    python -m research.evolve_styles --seed 1 --generations 16    # the strangers of `risk_agents.kept_out`
    python -m research.evolve_styles --seed 3 --generations 14 --players 3 --setup deal --against beam

The third command led to `evolved:7`.

A population of styles plays games of five and six players, with dealt and with claimed territories.
`breaker`, `hunter` and the shipped styles also play. The best third of the population is kept. All other
styles are replaced by copies of the kept styles, in which two parameters are drawn again, and by random
styles. The score of a style is its win rate divided by the even share, so the score depends on the
population. With `--against`, one style plays in each game, and the named bots play all other seats. The first
population then contains `evolved` and changed copies of `evolved`. The score of a style is then its mean
score in all generations so far.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.scripted import evolved
from risk_agents.scripted.style import Style, bot
from risk_env.arena import play
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, find

CHOICES: dict[str, list[int]] = {
    "border": [0, 3, 6, 10, 15],
    "crowd": [0, 20, 40, 80],
    "gathers": [0, 1],
    "home": [0, 15, 30, 60, 100],
    "spoil": [0, 50, 100, 150],
    "leader": [0, 10, 20, 40],
    "revenge": [0, 0, 20, 40],
    "stalk": [0, 0, 3, 6],
    "least": [0, 30, 60, 85, 110, 200],
    "odds": [80, 100, 120, 140],
    "thin": [0, 50, 80, 120],
    "rush": [100, 120, 150, 200, 300],
    "caution": [60, 75, 85, 95, 110],
    "guard": [0, 40, 70, 100],
    "everywhere": [0, 0, 0, 1],
    "mass": [0, 1, 3, 6],
    "keeps": [0, 0, 2, 3, 4],
    "walks": [0, 1],
}
OTHERS = (
    *("holder", "walker", "card_killer", "saver", "turtle", "leader_stopper", "grudge"),
    *("breaker", "hunter"),
)
SETUPS = ("deal", "claim")
POPULATION, KEPT, NEW = 120, 40, 10
GAMES_EACH = 30  # number of games per bot, set-up and number of players in a generation
CHANGED = 2  # number of parameters that are drawn again in a copy
LANES = 1024

Array = npt.NDArray[np.float64]


class Field(NamedTuple):
    """Opponents of the styles."""

    others: list[CompiledBot]
    alone: bool  # True if every style plays only against `others`, not against other styles
    tables: list[tuple[str, int]]  # set-up and number of players


def main() -> None:
    """Search for styles, and print the twelve best styles of the last generation with their scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--seed", type=int, default=1, help="seed of the search (default: 1)")
    add("--generations", type=int, default=16, help="number of generations (default: 16)")
    add("--players", type=int, nargs="+", default=[5, 6], help="numbers of players (default: 5 6)")
    add("--setup", nargs="+", choices=SETUPS, default=SETUPS, help="set-ups (default: deal claim)")
    add(
        "--against",
        nargs="+",
        default=[],
        metavar="BOT",
        help="opponents of the styles (default: other styles and bots)",
    )
    arguments = parser.parse_args()
    chance = np.random.default_rng(arguments.seed)
    tables = [(setup, players) for players in arguments.players for setup in arguments.setup]
    field = Field([find(name) for name in arguments.against or OTHERS], bool(arguments.against), tables)
    styles = first_styles(field, chance)
    earlier: dict[Style, list[float]] = {}
    for generation in range(arguments.generations):
        scores = scored(styles, field, generation, chance)
        if field.alone:
            scores = mean_scores(styles, scores, earlier)
        order = np.argsort(-scores)
        best = [styles[k] for k in order]
        print(f"generation {generation}: best {scores[order[0]]:.2f}, tenth {scores[order[9]]:.2f}")
        best_styles = list(zip(best[:12], scores[order[:12]].tolist(), strict=True))
        styles = following(best[:KEPT], chance)
    for style, score in best_styles:
        print(f"{score:.2f} {style}")


def first_styles(field: Field, chance: np.random.Generator) -> list[Style]:
    """Return the first population: random styles and, with `--against`, `evolved` and changed copies."""
    if not field.alone:
        return [drawn(chance) for _ in range(POPULATION)]
    parents = [Style(*(int(value) for value in parent.begins[1:])) for parent in evolved.BOTS]
    return following([*parents, *(changed(parent, chance) for parent in parents * 5)], chance)


def mean_scores(styles: Sequence[Style], scores: Array, earlier: dict[Style, list[float]]) -> Array:
    """Return the mean score of each style in all generations, float64 (styles,); extend `earlier`.

    `earlier` contains the scores of each style in the generations so far.
    """
    for style, score in zip(styles, scores.tolist(), strict=True):
        earlier.setdefault(style, []).append(score)
    return np.array([np.mean(earlier[style]) for style in styles])


def drawn(chance: np.random.Generator) -> Style:
    """Return a random style."""
    return Style(**{name: int(chance.choice(values)) for name, values in CHOICES.items()})


def changed(style: Style, chance: np.random.Generator) -> Style:
    """Return a copy of a style, in which CHANGED parameters are drawn again."""
    values = style._asdict()
    for name in chance.choice(list(CHOICES), CHANGED, replace=False):
        values[name] = int(chance.choice(CHOICES[name]))
    return Style(**values)


def following(kept: list[Style], chance: np.random.Generator) -> list[Style]:
    """Return the next generation: the kept styles, changed copies and random styles."""
    copies = [changed(kept[chance.integers(len(kept))], chance) for _ in range(POPULATION - len(kept) - NEW)]
    return kept + copies + [drawn(chance) for _ in range(NEW)]


def scored(styles: Sequence[Style], field: Field, generation: int, chance: np.random.Generator) -> Array:
    """Return the score of each style, float64 (styles,)."""
    bots = [bot(f"style {k}", "1", style) for k, style in enumerate(styles)]
    scores = np.zeros(len(bots))
    for setup, players in field.tables:
        rates = win_rates(bots, field, setup, players, 1000 * generation + players, chance)
        scores += rates * players / len(field.tables)
    return scores


def win_rates(
    bots: Sequence[CompiledBot],
    field: Field,
    setup: str,
    players: int,
    seed: int,
    chance: np.random.Generator,
) -> Array:
    """Return the win rate of each of `bots`, float64 (bots,)."""
    seated = [*bots, *field.others]
    games = GAMES_EACH * len(seated)
    if field.alone:
        line_ups = np.array([alone(k % len(bots), seated, bots, players, chance) for k in range(games)])
    else:
        line_ups = np.array([chance.permutation(len(seated))[:players] for _ in range(games)])
    rules = Rules.preset("classic", players, setup=setup, profile="fast")
    results = play(rules, load_map("classic"), seated, games, seed, LANES, line_ups=line_ups)
    winners = results["winner"]
    ended = np.flatnonzero(winners >= 0)
    won = np.bincount(line_ups[ended, winners[ended]], minlength=len(seated))
    rates: Array = won / np.maximum(np.bincount(line_ups.ravel(), minlength=len(seated)), 1)
    return rates[: len(bots)]


def alone(
    own: int,
    seated: Sequence[CompiledBot],
    bots: Sequence[CompiledBot],
    players: int,
    chance: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return the line-up of a game of style number `own` against bots of the field, in random order."""
    others = chance.integers(len(bots), len(seated), size=players - 1)
    return chance.permutation([own, *others])


if __name__ == "__main__":
    main()
