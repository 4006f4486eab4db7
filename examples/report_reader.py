"""A scripted stand-in for a language model: it reads nothing but the text of reports, and answers in plans.

python examples/report_reader.py --games 100          # duels against `random`: how often it wins
"""

from __future__ import annotations

import argparse
import re
from statistics import median

from risk_env.text_env import TextEnv

TARGET = re.compile(r"([^,>%(]+) \((?:P\d|neutral), \d+\) (\d+)%")
GOOD = 50  # percent: the least chance of an attack


def answer(report: str) -> str:
    """A plan for the question of a report, found by regular expressions."""
    legal = re.search(r"^Legal: `(\w+) [^`]*`: ?(.*)$", report, re.MULTILINE)
    asked = re.search(r"question to P\d: (\w+)", report)
    if asked and asked[1] == "DEFEND":
        return "always defend 2"
    if legal and legal[1] in ("claim", "deploy", "capital", "headquarters", "bonus", "airfield", "card", "objective"):
        return f"{legal[1]} {choose(legal[2], report)}"
    return "; ".join([*trades(report), *drafts(report), *attacks(report), "end"])


def choose(names: str, report: str) -> str:
    """One of the names that are legal: the own territory with the most troops, or the first of a list."""
    if names.startswith("any of your territories"):
        return strongest(report)
    if names.startswith("any free territory"):
        return re.search(r"free (.+?) 0", report)[1]
    return re.split(r", | and \d+ more| or ", names)[0]


def strongest(report: str) -> str:
    """The own territory with the most troops."""
    held = re.findall(r"(?:: |; )you ((?:[^,;\n]+ \d+(?:, )?)+)", report)
    garrisons = [garrison.rpartition(" ") for group in held for garrison in group.split(", ")]
    return max(garrisons, key=lambda garrison: int(garrison[2]))[0]


def trades(report: str) -> list[str]:
    """Trade cards where that is the question."""
    return ["trade"] if "question to P" in report and ": TRADE" in report else []


def drafts(report: str) -> list[str]:
    """All new troops go to the territory with the most targets."""
    if not new_troops(report):
        return []
    best = max(fronts(report), key=lambda front: len(front[1]), default=(strongest(report), []))
    return [f"draft {best[0]} all"]


def attacks(report: str) -> list[str]:
    """Every army attacks its weak neighbours, that with the most targets first; it moves on after the last."""
    steps = []
    for number, (source, targets) in enumerate(sorted(fronts(report), key=lambda front: -len(front[1]))):
        if number == 0 or not new_troops(report) or not needs_new_troops(source, report):
            attack = "try attack" if steps else "attack"  # without the first army's victories all is to be thought over
            steps += [step for target in targets for step in (f"{attack} {source} > {target}", "occupy 0")]
            steps = [*steps[:-1], "occupy all"] if targets else steps
    return steps


def fronts(report: str) -> list[tuple[str, list[str]]]:
    """Own territories with the neighbours that are likely to fall, the likeliest first."""
    found = []
    for line in re.findall(r"^  (\S.* \d+ > .+)$", report, re.MULTILINE):
        source, _, targets = line.partition(" > ")
        likely = [(int(chance), name.strip()) for name, chance in TARGET.findall(targets) if int(chance) >= GOOD]
        found.append((source.rpartition(" ")[0], [name for _, name in sorted(likely, reverse=True)]))
    return found


def new_troops(report: str) -> int:
    """Troops still to be placed."""
    found = re.search(r"New troops to place: (\d+)", report)
    return int(found[1]) if found else 0


def needs_new_troops(source: str, report: str) -> bool:
    """Whether an army is too small without the new troops, with which the chances of the report were worked out."""
    return int(re.search(rf"^  {re.escape(source)} (\d+) >", report, re.MULTILINE)[1]) < 3 * new_troops(report)


def play(env: TextEnv, seed: int) -> tuple[bool, list[int]]:
    """One episode: whether the reader won, and its exchanges in each of its turns."""
    report, info = env.reset(seed)
    turns: dict[int, int] = {}
    is_over = False
    while not is_over:
        turns[info["round"]] = turns.get(info["round"], 0) + 1
        report, _, terminated, truncated, info = env.step(answer(report))
        is_over = terminated or truncated
    return info["winner"] == info["seat"], [count for number, count in turns.items() if number]


def main() -> None:
    """Play duels and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    arguments = parser.parse_args()
    env = TextEnv("classic", 2, opponents="random", setup="random")
    results = [play(env, seed) for seed in range(arguments.games)]
    wins = sum(won for won, _ in results)
    exchanges = [count for _, turns in results for count in turns]
    print(
        f"{wins} of {arguments.games} duels won; exchanges a turn: median {median(exchanges):g}, "
        f"mean {sum(exchanges) / len(exchanges):.2f}"
    )


if __name__ == "__main__":
    main()
