"""A complete external bot, standard library only: it attacks where it has the largest majority, else at random.

    risk-env tournament --agents "random,cmd:python examples/bot_stdlib.py" --players 2 --games 100

The protocol is in docs/protocol.md: one JSON object a line, each way. Only `hello` and `act` want an answer.
"""

import json
import random
import sys


def majority(game, question, action):
    """By how many troops an attack outnumbers its target; None for an action that is no attack."""
    border = action - game["actions"]["border"]
    if not 0 <= border < len(game["map"]["borders"]):
        return None
    source, target = game["map"]["borders"][border]
    return question["troops"][source] - question["troops"][target]


def choose(game, question, rng):
    """One of the legal actions."""
    legal = question["legal"]
    if question["phase"] == "ATTACK":
        best = max(legal, key=lambda action: majority(game, question, action) or 0)
        return best if (majority(game, question, best) or 0) > 0 else game["actions"]["done"]
    if question["phase"] in ("DRAFT_AMOUNT", "OCCUPY"):
        return legal[-2] if legal[-1] == game["actions"]["done"] else legal[-1]  # all of them
    return rng.choice(legal)


def main():
    """Answer until the other end says goodbye."""
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
