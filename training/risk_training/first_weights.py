"""The setting `begin_with`: a run begins with the weights of a trained file, not with random weights."""

from collections.abc import Mapping

import torch

from risk_agents.export import FOLDER
from risk_agents.learned.trained import BEAM_VALUE, POLICY, STATE_VALUE, TURN_POLICY, TrainedFile
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules

# names of the shipped files, by kind and by name of the agent that plays with the file
SHIPPED = {
    (POLICY, "duelist"): "duelist",
    (BEAM_VALUE, "marshal"): "marshal",
    (STATE_VALUE, "strategist"): "strategist",
    (STATE_VALUE, "tactician"): "tactician_value",
    (TURN_POLICY, "tactician"): "tactician",
}


def path_of(kind: str, source: str) -> str:
    """Return the path of a trained file of this kind. `source` is a path, or the name of an agent."""
    shipped = SHIPPED.get((kind, source))
    return source if shipped is None else str(FOLDER / f"{shipped}.npz")


def read_arrays(kind: type[TrainedFile], source: str, rules: Rules, board: Board) -> dict[str, Array]:
    """Return the weights in a trained file of this kind. `source` is a path, or the name of an agent.

    Raises ValueError if the file cannot be read, or was trained for other games.
    """
    path = path_of(kind.KIND, source)
    trained = kind.load(path)
    trained.check(rules, board, path)
    return trained.arrays


@torch.no_grad()
def copy_weights(
    own: Mapping[str, torch.Tensor], given: Mapping[str, Array | torch.Tensor], source: str
) -> None:
    """Copy the weights of a file into a network whose weights have the same names and shapes.

    Raises ValueError if names or shapes differ, for example because the layer sizes differ.
    """
    for name in sorted({*own, *given}):
        shapes = [tuple(weights[name].shape) if name in weights else "missing" for weights in (given, own)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"begin_with={source!r}: shape of the weights {name!r}: {shapes[0]} in the file, {shapes[1]} "
                "in the network of these settings; set the same inputs and layer sizes"
            )
    for name, values in own.items():
        values.copy_(torch.as_tensor(given[name]))
