"""The command `export`: convert a trained file to another format (`risk-env export --help`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from risk_env.cli import check_output, command_parser
from risk_env.whole_file import whole_file

if TYPE_CHECKING:  # other imports are in functions, so that --help is quick
    from risk_agents.learned.trained import TrainedFile

FOLDER = Path(__file__).parent / "learned" / "policies"
SHIPPED = {name: FOLDER / f"{name}.npz" for name in ("duelist", "marshal")}
FILES = (
    "a file of `risk-env train`, such as policy.npz, beam_value.npz or best.zip, or a shipped agent "
    f"({', '.join(SHIPPED)})"
)


def main(argv: Sequence[str]) -> None:
    """Run the command `export`: write an ONNX model, the weights as a .npz file, or both."""
    parser = command_parser("export")
    parser.add_argument("policy", help=f"network to convert: {FILES}")
    parser.add_argument(
        "--onnx",
        metavar="FILE",
        help="write an ONNX model; a policy's model reads the observation and the mask of an environment",
    )
    parser.add_argument(
        "--npz", metavar="FILE", help="write the weights as a .npz file, which can be used without PyTorch"
    )
    arguments = parser.parse_args(argv)
    if arguments.onnx is None and arguments.npz is None:
        parser.error("no output file: add --onnx FILE or --npz FILE")
    if arguments.onnx is not None:
        import onnx  # noqa: F401 — before all other work, so that a missing extra is reported at once
    for name in ("onnx", "npz"):
        if path := getattr(arguments, name):
            check_output(f"--{name}", path, f".{name}")
    network = read(arguments.policy)
    if arguments.npz is not None:
        with whole_file(Path(arguments.npz)) as fresh:
            network.save(fresh)
        print(f"{arguments.npz}: {network.KIND} {network.made.get('name')!r}, weights as float16")
    if arguments.onnx is not None:
        write_onnx(network, arguments.onnx)


def read(source: str) -> TrainedFile:
    """Return the network of a file or a shipped agent; raise ValueError for any other `source`."""
    from risk_agents.learned.sb3_policy import own_network
    from risk_agents.registry import trained_class

    path = SHIPPED.get(source, Path(source))
    if path.suffix == ".zip":
        return own_network(path)
    if path.suffix != ".npz":
        raise ValueError(f"policy={source!r}: must be {FILES}")
    return trained_class(path).load(path)


def write_onnx(network: TrainedFile, path: str) -> None:
    """Write an ONNX model of the network, and print the inputs and outputs of the model."""
    from risk_agents.onnx_model import model_of

    model = model_of(network)
    with whole_file(Path(path)) as fresh:
        fresh.write_bytes(model.SerializeToString())
    print(f"{path}: {network.KIND} {network.made.get('name')!r}, {len(model.graph.node)} nodes")
    for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
        for value in values:
            shape = [
                dimension.dim_param or dimension.dim_value for dimension in value.type.tensor_type.shape.dim
            ]
            print(f"  {kind:<7}{value.name} ({', '.join(map(str, shape))})")
