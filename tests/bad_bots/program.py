"""Programs that speak the line protocol, most of them badly: `program.py HABIT`. Standard library only."""

import json
import os
import signal
import subprocess
import sys
import time

HABIT = sys.argv[1]
FOREVER = 600


def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def hang():
    time.sleep(FOREVER)


def leave_a_child(**options):
    subprocess.Popen(["sleep", "300"], **options)


def answer_with(**changes):
    return lambda question: say({"id": question["id"], "action": question["legal"][0], **changes})


def then(*deeds):
    """Return a habit with several deeds, the last of which answers."""
    return lambda question: [deed() for deed in deeds[:-1]] and deeds[-1](question)


def only(deed):
    return lambda question: deed()


def write_for_ever():
    while True:
        write(b"x" * 65536)


def close_pipes():
    for stream in range(3):
        os.close(stream)
    hang()


def ignore_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang()


def send_supervisor(number):
    def deed():
        os.kill(os.getppid(), number)
        hang()

    return deed


def fill_stderr():
    for _ in range(200):
        sys.stderr.write("complaint " * 5000)


def plan(question):
    """Answer with a plan for the whole turn when a turn begins: numbers, texts and short forms."""
    assert "texts" not in question and isinstance(question["events"], list)
    assert all(event["only"] in (-1, question["seat"]) for event in question["events"])
    actions = [question["legal"][-1], "end"]
    if question["phase"] in ("DRAFT", "TRADE"):
        name = GAME["map"]["territories"][question["owner"].index(question["seat"])]
        actions = ["trade"] * (question["phase"] == "TRADE") + [f"draft {name} 3", f"draft {name} all", "end"]
    say({"id": question["id"], "actions": actions})


def talk():
    print("thinking\x1b[31m", file=sys.stderr, flush=True)
    time.sleep(0.2)


GAME = {}  # the message that began the game
good = answer_with()
HABITS = {  # the reaction to a message of type `act`
    "good": good,
    "texts": lambda question: say({"id": question["id"], "action": question["texts"][0]}),
    "digits": lambda question: say({"id": question["id"], "action": str(question["legal"][0])}),
    "noisy": then(fill_stderr, good),
    "talks": then(talk, good),
    "plans": plan,
    "plans-badly": answer_with(actions=["draft Nowhere 3"]),
    "garbage": only(lambda: say("I attack!")),
    "illegal": answer_with(action="attack Nowhere > Elsewhere"),
    "stale": lambda question: say({"id": question["id"] - 1, "action": question["legal"][0]}),
    "no_object": only(lambda: say("[1]")),
    "wrong_type": answer_with(action=[0]),
    "boolean": answer_with(action=True),
    "fraction": answer_with(action=0.5),
    "nan": answer_with(action=float("nan")),
    "overflows": lambda question: say(f'{{"id": {question["id"]}, "action": 0, "value": 1e999}}'),
    "huge_number": answer_with(action=10**4000),
    "too_huge_number": lambda question: say(f'{{"id": {question["id"]}, "action": {"9" * 9000}}}'),
    "deep": only(lambda: say('{"id": 1, "action": ' + "[" * 100_000)),
    "deep_and_closed": lambda question: say(f'{{"id": {question["id"]}, "action": {"[" * 900}{"]" * 900}}}'),
    "surrogate": answer_with(action="\ud800"),
    "escapes": answer_with(action="\x1b]0;owned\x07\x1b[2J[/red]\u202e"),
    "binary": only(lambda: write(bytes(range(256)) + b"\n")),
    "empty": only(lambda: say("")),
    "endless": only(lambda: say("x" * (1 << 21))),
    "for_ever": only(write_for_ever),
    "half": only(lambda: (write(b'{"id": 1, "act'), hang())),
    "half_and_exit": only(lambda: (write(b'{"id": 1, "act'), sys.exit(0))),
    "hangs": only(hang),
    "closes": only(close_pipes),
    "dies": only(lambda: sys.exit("I have had enough")),
    "dies_at_once": only(lambda: os._exit(3)),
    "aborts": only(os.abort),
    "allocates": only(lambda: bytearray(1 << 46)),
    "ignores_signals": only(ignore_signals),
    "leaves": only(lambda: (leave_a_child(), hang())),
    "leaves_a_daemon": only(lambda: (leave_a_child(start_new_session=True), sys.exit("gone"))),
    "stops_supervisor": only(send_supervisor(signal.SIGSTOP)),
    "kills_supervisor": only(send_supervisor(signal.SIGKILL)),
}
HELLO = {  # the reply to `hello`
    "plans": {"protocol": 1, "name": "plans", "version": "7", "events": True},
    "texts": {"protocol": 1, "name": "texts", "version": "7", "texts": True},
    "umlaut": {"protocol": 1, "name": "übel", "version": "7"},
    "plans-badly": {"protocol": 1, "name": "plans-badly", "version": "7"},
    "newer": {"protocol": 2, "name": "newer", "version": "7"},
    "unnamed": {"protocol": [[[]]], "name": {}, "version": "\ud800"},
}


def main():
    if HABIT == "exits":
        sys.exit(0)
    if HABIT == "mute":
        hang()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say(HELLO.get(HABIT, {"protocol": 1, "name": HABIT, "version": "7"}))
            if HABIT == "deaf":
                hang()
        elif message["type"] == "game":
            GAME.update(message)
        elif message["type"] == "act":
            HABITS.get(HABIT, good)(message)
        elif message["type"] == "bye" and HABIT != "clings":
            return
    if HABIT == "clings":
        hang()


main()
