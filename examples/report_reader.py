"""A script in place of a language model: it reads only the text of reports, and answers with plans.

python examples/report_reader.py --games 100  # plays duels against `random`, and counts wins
"""

from __future__ import annotations

import argparse
import re
from statistics import median

from risk_env.text_env import TextEnv

TARGET = re.compile(r"([^,>%(]+) \((?:P\d|neutral), \d+\) (\d+)%")
GOOD = 50  # lowest win probability of an attack, in percent


def answer(report: str) -> str:
    """Return a plan for the decision that a report describes, found by regular expressions."""
    legal = re.search(r"^Legal: `(\w+) [^`]*`: ?(.*)$", report, re.MULTILINE)
    asked = re.search(r"question to P\d: (\w+)", report)
    if asked and asked[1] == "DEFEND":
        return "always defend 2"
    if legal and legal[1] in (
        "claim",
        "deploy",
        "capital",
        "headquarters",
        "bonus",
        "airfield",
        "card",
        "objective",
    ):
        return f"{legal[1]} {choose(legal[2], report)}"
    return "; ".join([*trades(report), *drafts(report), *attacks(report), "end"])


def choose(names: str, report: str) -> str:
    """Return a legal name: the reader's strongest territory, a free territory, or the first listed name."""
    if names.startswith("any of your territories"):
        return strongest(report)
    if names.startswith("any free territory"):
        return re.search(r"free (.+?) 0", report)[1]
    return re.split(r", | and \d+ more| or ", names)[0]


def strongest(report: str) -> str:
    """Return the reader's territory with the most troops."""
    held = re.findall(r"(?:: |; )you ((?:[^,;\n]+ \d+(?:, )?)+)", report)
    garrisons = [garrison.rpartition(" ") for group in held for garrison in group.split(", ")]
    return max(garrisons, key=lambda garrison: int(garrison[2]))[0]


def trades(report: str) -> list[str]:
    """Return the step that trades cards, if the decision is a trade."""
    return ["trade"] if "question to P" in report and ": TRADE" in report else []


def drafts(report: str) -> list[str]:
    """Return the step that drafts all new troops to the territory with the most targets."""
    if not new_troops(report):
        return []
    best = max(fronts(report), key=lambda front: len(front[1]), default=(strongest(report), []))
    return [f"draft {best[0]} all"]


def attacks(report: str) -> list[str]:
    """Return the steps that attack weak neighbours.

    The army with the most targets attacks first. If new troops remain to be placed, every other army attacks
    only if it does not need the new troops. An army moves on after its last attack.
    """
    steps = []
    for number, (source, targets) in enumerate(sorted(fronts(report), key=lambda front: -len(front[1]))):
        if number == 0 or not new_troops(report) or not needs_new_troops(source, report):
            attack = "try attack" if steps else "attack"  # `try` skips an attack that is not legal
            steps += [step for target in targets for step in (f"{attack} {source} > {target}", "occupy 0")]
            steps = [*steps[:-1], "occupy all"] if targets else steps
    return steps


def fronts(report: str) -> list[tuple[str, list[str]]]:
    """Return the reader's territories that can attack, each with its likely captures, likeliest first."""
    fronts = []
    for line in re.findall(r"^  (\S.* \d+ > .+)$", report, re.MULTILINE):
        source, _, targets = line.partition(" > ")
        likely = [
            (int(chance), name.strip()) for name, chance in TARGET.findall(targets) if int(chance) >= GOOD
        ]
        fronts.append((source.rpartition(" ")[0], [name for _, name in sorted(likely, reverse=True)]))
    return fronts


def new_troops(report: str) -> int:
    """Return the number of troops that are still to be placed."""
    match = re.search(r"New troops to place: (\d+)", report)
    return int(match[1]) if match else 0


def needs_new_troops(source: str, report: str) -> bool:
    """Return True if an army is too small without the new troops.

    The probabilities in the report were computed with the new troops.
    """
    return int(re.search(rf"^  {re.escape(source)} (\d+) >", report, re.MULTILINE)[1]) < 3 * new_troops(
        report
    )


def play(env: TextEnv, seed: int) -> tuple[bool, list[int]]:
    """Play one episode; return whether the reader won, and the number of answers in each turn."""
    report, info = env.reset(seed)
    turns: dict[int, int] = {}
    is_over = False
    while not is_over:
        turns[info["round"]] = turns.get(info["round"], 0) + 1
        report, _, terminated, truncated, info = env.step(answer(report))
        is_over = terminated or truncated
    return info["winner"] == info["seat"], [count for number, count in turns.items() if number]


def main() -> None:
    """Play duels and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100, help="number of duels (default: 100)")
    arguments = parser.parse_args()
    env = TextEnv("classic", 2, opponents="random", setup="random")
    results = [play(env, seed) for seed in range(arguments.games)]
    wins = sum(won for won, _ in results)
    exchanges = [count for _, turns in results for count in turns]
    print(
        f"{wins} of {arguments.games} duels won; exchanges per turn: median {median(exchanges):g}, "
        f"mean {sum(exchanges) / len(exchanges):.2f}"
    )


if __name__ == "__main__":
    main()
