"""External programs for the tests: `program.py HABIT`. Standard library only."""

import json
import subprocess
import sys
import time

HABIT = sys.argv[1]


def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def answer(question):
    good = {"id": question["id"], "action": question["legal"][0]}
    if HABIT == "texts":
        return {"id": question["id"], "action": question["texts"][0]}
    if HABIT == "garbage":
        return "I attack!"
    if HABIT == "illegal":
        return {"id": question["id"], "action": "attack Nowhere > Elsewhere"}
    if HABIT == "stale":
        return {"id": question["id"] - 1, "action": question["legal"][0]}
    if HABIT == "endless":
        return "x" * (1 << 21)
    if HABIT == "hangs":
        time.sleep(60)
    if HABIT == "leaves":  # a child with its output that outlives it
        subprocess.Popen(["sleep", "8"], start_new_session=True)
        time.sleep(60)
    if HABIT == "plans-badly":
        return {"id": question["id"], "actions": ["draft Nowhere 3"]}
    if HABIT == "plans":
        return {"id": question["id"], "actions": plan(question)}
    if HABIT == "talks":
        print("thinking\x1b[31m", file=sys.stderr, flush=True)
        time.sleep(0.2)
    if HABIT == "dies":
        sys.exit("I have had enough")
    return good


def plan(question):
    """A whole turn where a turn begins: numbers and texts, short forms."""
    assert "texts" not in question and "state" not in question and isinstance(question["events"], list)
    assert all(event["only"] in (-1, question["seat"]) for event in question["events"])
    if question["phase"] in ("DRAFT", "TRADE"):
        mine = [t for t, owner in enumerate(question["owner"]) if owner == question["seat"]]
        return [
            *["trade"] * (question["phase"] == "TRADE"),
            f"draft {NAMES[mine[0]]} 3",
            f"draft {NAMES[mine[0]]} all",
            "end",
        ]
    return [question["legal"][-1], "end"]


if HABIT == "mute":
    time.sleep(60)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        two = HABIT.startswith("plans")
        say({"protocol": 3 if HABIT == "newer" else 1 + two, "name": HABIT, "version": "7", "events": two})
        if HABIT == "deaf":
            time.sleep(60)
    elif message["type"] == "game":
        NAMES = message["map"]["territories"]
    elif message["type"] == "act":
        say(answer(message))
    elif message["type"] == "bye" and HABIT != "clings":
        break
if HABIT == "clings":
    time.sleep(60)
