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
    if HABIT == "dies":
        sys.exit("I have had enough")
    return good


if HABIT == "mute":
    time.sleep(60)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"protocol": 2 if HABIT == "newer" else 1, "name": HABIT, "version": "7"})
        if HABIT == "deaf":
            time.sleep(60)
    elif message["type"] == "act":
        say(answer(message))
    elif message["type"] == "bye" and HABIT != "clings":
        break
if HABIT == "clings":
    time.sleep(60)
