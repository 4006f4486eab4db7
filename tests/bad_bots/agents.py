"""Agents in Python that are bad in one way each.

Some write into all open files, to find the one that the tournament reads.
"""

import os
import sys
import time

from risk_env.agent import Agent


class Bad(Agent):
    """An agent with the name of its class."""

    def __init_subclass__(cls):
        cls.name = cls.__name__.lower()


class Crashing(Bad):
    def act(self, view):
        raise RuntimeError("what is a border?")


class CrashingAtReset(Bad):
    def reset(self, seat, rules, board, seed):
        raise KeyError("no seat for me")


class CrashingOddly(Bad):
    def act(self, view):
        raise RuntimeError("\ud800\x1b[2J[/red] " + "long " * 100_000)


class Illegal(Bad):
    def act(self, view):
        return -7


class Wordy(Bad):
    def act(self, view):
        return "attack everywhere"


class Huge(Bad):
    """An agent that chooses a number that no kernel can read and no text can hold."""

    def act(self, view):
        return 10**5000


class Absent(Bad):
    def act(self, view):
        return None


class Recursive(Bad):
    def act(self, view):
        return self.act(view)


class Hanging(Bad):
    def act(self, view):
        while True:
            time.sleep(0.01)


class Dying(Bad):
    def act(self, view):
        os._exit(3)


class Leaving(Bad):
    def act(self, view):
        sys.exit("enough")


def write_everywhere(data):
    for number in range(3, 32):
        try:
            os.write(number, data)
        except OSError:
            continue


class HalfMessage(Bad):
    def act(self, view):
        write_everywhere(b'{"id": 1, "answ')
        time.sleep(600)


class GarbageMessage(Bad):
    def act(self, view):
        write_everywhere(b"\x80\x04\x95pickle me\n")
        return view.legal_actions[0]


class OtherMessage(Bad):
    def act(self, view):
        write_everywhere(b'{"id": 3, "result": {"name": []}}\n')
        return view.legal_actions[0]


class EndlessMessage(Bad):
    def act(self, view):
        while True:
            write_everywhere(b"x" * 65536)


class ClosingPipes(Bad):
    def act(self, view):
        os.closerange(0, 64)
        time.sleep(600)


class Loud(Bad):
    """An agent that is not bad, but prints more than a pipe holds."""

    def act(self, view):
        print("loud " * 20_000)
        return view.legal_actions[0]
