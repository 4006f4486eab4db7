"""A complete external bot that uses only the standard library and plays most turns with one answer.

    risk-env tournament --agents "random,cmd:python examples/bot_plans.py" --players 2 --games 100

The bot puts all new troops at the border where its majority is largest, attacks there, and continues from the
captured territory. See docs/protocol.md and docs/llm.md#plans.
"""

import json
import sys


def plan(game, question):
    """Return a plan: for the whole turn in phase `DRAFT`, and for a single decision in most other phases."""
    phase, amount = question["phase"], question.get("amount")
    if phase == "DRAFT":
        return campaign(game, question)
    if amount:  # a number of troops to draft, occupy with or move
        return [f"{WORDS[phase]} {amount['most']}"]
    if phase == "DEFEND":
        return ["always defend 2", question["legal"][-1]]
    return [
        "trade"
        if phase == "TRADE"
        else "end"
        if phase in ("ATTACK", "FORTIFY_FROM")
        else question["legal"][0]
    ]


def campaign(game, question):
    """Return a plan: draft all troops to one border, attack there, and attack from the captured territory."""
    names, borders = game["map"]["territories"], game["map"]["borders"]
    owner, troops, seat = question["owner"], question["troops"], question["seat"]
    fronts = [(a, b) for a, b in borders if owner[a] == seat != owner[b]]
    source, target = max(fronts, key=lambda front: troops[front[0]] - troops[front[1]])
    further = [b for a, b in borders if a == target and owner[b] != seat]
    return [
        f"draft {names[source]} all",
        f"attack {names[source]} > {names[target]}",
        "occupy all",
        *(f"try attack {names[target]} > {names[place]}" for place in further),
        "end",
    ]


WORDS = {"DRAFT_AMOUNT": "troops", "OCCUPY": "occupy", "FORTIFY_AMOUNT": "move"}


def main():
    """Answer messages until the input ends."""
    game = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({"protocol": 1, "name": "plans", "version": "1"}), flush=True)
        elif message["type"] == "game":
            game = message
        elif message["type"] == "act":
            print(json.dumps({"id": message["id"], "actions": plan(game, message)}), flush=True)


if __name__ == "__main__":
    main()
