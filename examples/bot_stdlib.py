"""A complete external bot that uses only the standard library.

    risk-env tournament --agents "random,cmd:python examples/bot_stdlib.py" --players 2 --games 100

The bot attacks where its majority is largest, drafts and occupies with all troops, and otherwise acts at
random. The protocol (docs/protocol.md) has one JSON object in each line, in both directions. Only `hello` and
`act` need an answer.
"""

import json
import random
import sys


def majority(game, question, action):
    """Return the attacking troops minus the defending troops, or None if the action is not an attack."""
    border = action - game["actions"]["border"]
    if not 0 <= border < len(game["map"]["borders"]):
        return None
    source, target = game["map"]["borders"][border]
    return question["troops"][source] - question["troops"][target]


def choose(game, question, rng):
    """Return one of the legal actions."""
    legal = question["legal"]
    if question["phase"] == "ATTACK":
        best = max(legal, key=lambda action: majority(game, question, action) or 0)
        return best if (majority(game, question, best) or 0) > 0 else game["actions"]["done"]
    if question["phase"] in ("DRAFT_AMOUNT", "OCCUPY"):
        return legal[-2] if legal[-1] == game["actions"]["done"] else legal[-1]  # all troops
    return rng.choice(legal)


def main():
    """Answer messages until `bye` or the end of the input."""
    game, rng = None, random.Random()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"protocol": 1, "name": "stdlib", "version": "1"}
        elif message["type"] == "act":
            answer = {"id": message["id"], "action": choose(game, message, rng)}
        elif message["type"] == "game":
            game, rng = message, random.Random(message["seed"])
            continue
        elif message["type"] == "bye":
            break
        else:
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
