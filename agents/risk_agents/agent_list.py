"""Parse lists of agents on the command line: specs or `label=spec`, as in `grower,mine=bot.py:Bot`."""

import csv
import re
from typing import NamedTuple

from risk_agents.external import is_program
from risk_env.bounded_io import composed
from risk_env.messages import shortened
from risk_env.text.escape import LABEL_LETTERS, is_label

_LABELLED = re.compile(r"([\w .+\-\x80-\U0010ffff]+)=(.+)", re.DOTALL)


class NamedAgent(NamedTuple):
    """Agent on the command line: the label (or None), and the spec (`registry.make`)."""

    label: str | None
    spec: str

    @property
    def name(self) -> str:
        """Label of the agent, or its spec if it has no label."""
        return self.label or self.spec


def split_agents(text: str, argument: str = "--agents") -> list[str]:
    """Split a list of agents at commas outside quotes, as in `random,"cmd:./bot --levels 1,2"`.

    Raises ValueError if `text` is not one line of CSV.
    """
    try:
        (row,) = csv.reader([text], skipinitialspace=True)
    except (csv.Error, ValueError) as error:
        raise ValueError(
            f"{argument}: {shortened(text)} is not a comma-separated list of agents: {error}"
        ) from error
    return [spec.strip() for spec in row if spec.strip()]


def labelled(text: str, argument: str = "--agents") -> NamedAgent:
    """Parse `label=spec`, or a spec without a label; raise ValueError if the label is not valid."""
    match = _LABELLED.fullmatch(text) if not is_program(text) else None
    if match is None:
        return NamedAgent(None, text)
    given = composed(match[1])
    if not is_label(given):
        raise ValueError(
            f"{argument}: label {given!r} is not allowed: use 1 to {LABEL_LETTERS} printable characters, and "
            "no space at either end"
        )
    return NamedAgent(given, match[2])


def agent_list(text: str, argument: str = "--agents") -> list[NamedAgent]:
    """Parse a list of agents, separated by commas; raise ValueError if the list is empty or not valid.

    `argument` is the name of the command-line argument in error messages.
    """
    agents = [labelled(part, argument) for part in split_agents(text, argument)]
    if not agents:
        raise ValueError(f"{argument} {text!r}: name at least one agent")
    return agents
