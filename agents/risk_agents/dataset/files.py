"""Recorded decisions as files: one Parquet file, or a Minari dataset."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from risk_agents.dataset.pages import expanded_sizes
from risk_agents.dataset.recorder import GameDecisions, RecordingSpec
from risk_agents.learned.schema import Schema
from risk_env.bounded_io import UNREADABLE, parse_json
from risk_env.core.observe import MOST_CODE
from risk_env.game_vector import REWARDS, check_memory
from risk_env.messages import shortened

Array = npt.NDArray[Any]
Progress = Callable[[int], None]  # called with the number of decisions written so far

FORMAT = 1
FACTS = "risk_env"  # key of the facts in a file's metadata
_ROWS = 1 << 16  # minimum number of rows of a row group, except the last row group
# Largest ratio of expanded size to file size; the ratio is 30 to 60 for files of `risk-env dataset`
MOST_TIMES = 500
MOST_ACTIONS = 1 << 14  # maximum number of actions; the largest allowed map has fewer
_LEAST_EXPANDED = 1 << 20  # expanded size that is allowed for a file of any size, in bytes
_MOST_FOOTER = 1 << 24  # maximum size of a string (bytes) and of a list (entries) in the footer
_MOST = 2**31 - 1  # the largest int32
_NUMBERS = {  # columns with one number per decision
    "game": np.int32,
    "round": np.int32,
    "seat": np.int8,
    "agent": np.int16,
    "action": np.int32,
    "reward": np.float32,
    "placement": np.int8,
    "truncated": np.bool_,
}


def facts_of(spec: RecordingSpec) -> dict[str, Any]:
    """Return the facts about the games of a dataset as a dict for `json.dumps`."""
    from risk_env import __version__

    return {
        "format": FORMAT,
        "version": __version__,
        "schema": spec.schema.to_dict(),
        "agents": list(spec.names),
        "only": list(spec.only),
        "seed": spec.seed,
        "reward": spec.reward,
    }


def first_games(
    games: Iterable[GameDecisions], decisions: int, progress: Progress
) -> Iterator[GameDecisions]:
    """Yield games until the yielded games contain at least `decisions` decisions."""
    written = 0
    for game in games:
        yield game
        written += len(game.actions)
        progress(min(written, decisions))
        if written >= decisions:
            return


# ------------------------------------------------------------------------------------------------ Parquet


def write_parquet(path: str | Path, spec: RecordingSpec, games: Iterable[GameDecisions]) -> int:
    """Write games into a Parquet file, one row per decision, and return the number of rows.

    The columns are `game`, `round`, `seat`, `agent` (index in `agents` of the facts), `action`, `reward`,
    `placement`, `truncated`, `observation` (D bytes: int8) and `mask` (bits). `reward` and `placement` are
    the seat's results at the end of the game.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    games = iter(games)
    first = next(games)
    schema = _parquet_schema(pa, first.observations.shape[1], first.masks.shape[1])
    schema = schema.with_metadata({FACTS: json.dumps(facts_of(spec))})
    rows = 0
    with pq.ParquetWriter(
        path, schema, compression="zstd", compression_level=1, use_dictionary=False
    ) as writer:
        for group in _groups(chain([first], games)):
            columns = {name: np.concatenate(parts) for name, parts in group.items()}
            writer.write_table(pa.table([_arrow(pa, column) for column in columns.values()], schema=schema))
            rows += len(columns["game"])
    return rows


def read_decisions(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a file of `write_parquet`; return the facts, and the columns of the k decisions by name.

    Column `observation` is int8 (k, D), and column `mask` is bool (k, n), True for legal actions. The other
    columns have shape (k,). Raises FileNotFoundError if `path` is not a regular file. Raises ValueError if
    `write_parquet` cannot have written the file, or if the columns need too much memory. A file is never
    expanded to more than MOST_TIMES times its size; for small files, the limit is 1 MiB.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        raise FileNotFoundError(f"{str(path)!r} is not a regular file")
    limits = {"thrift_string_size_limit": _MOST_FOOTER, "thrift_container_size_limit": _MOST_FOOTER}
    try:
        with open(path, "rb") as source, pq.ParquetFile(source, **limits) as file:
            facts = _checked_facts(pa, file.schema_arrow)
            row = sum(kind.byte_width for kind in file.schema_arrow.types if not pa.types.is_boolean(kind))
            row += facts["schema"]["num_actions"]
            check_memory("num_rows", file.metadata.num_rows, row, advises=False)
            _check_sizes(source, file.metadata, row)
            return facts, _checked_columns(file.read(), facts)
    except (pa.ArrowException, *UNREADABLE) as error:
        raise ValueError(f"{path} cannot be read as a file of `risk-env dataset`: {error}") from error


def _check_sizes(source: BinaryIO, footer: Any, row: int) -> None:
    """Raise ValueError if the rows or the pages expand to more than MOST_TIMES times the size of the file.

    Also raises ValueError if the footer is inconsistent, or if the encoding is not the encoding of
    `write_parquet`. `row` is the expanded size of a row, in bytes.
    """
    size = os.fstat(source.fileno()).st_size
    most = max(MOST_TIMES * size, _LEAST_EXPANDED)
    groups = [footer.row_group(k) for k in range(footer.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != footer.num_rows or min([group.num_rows for group in groups], default=0) < 0:
        raise ValueError(
            f"row counts must be equal and not negative: footer {footer.num_rows}, row groups {rows}"
        )
    if rows * row > most:
        raise ValueError(
            f"{rows} rows of {row} bytes: the rows of a file of {size} bytes may expand to at most {most} "
            "bytes"
        )
    expanded = 0
    for group in groups:
        for column in map(group.column, range(group.num_columns)):
            if column.has_dictionary_page or column.num_values != group.num_rows:
                raise ValueError(
                    f"column {column.path_in_schema} does not have the encoding of `risk-env dataset`"
                )
            first = column.data_page_offset
            last = first + column.total_compressed_size
            if not 0 < first <= last <= size:
                raise ValueError(f"column {column.path_in_schema} lies outside the file")
            for page in expanded_sizes(source, first, last):
                expanded += page
                if expanded > most:
                    raise ValueError(f"the pages exceed {most} bytes, the maximum for a file of {size} bytes")


def _checked_facts(pa: Any, file_schema: Any) -> dict[str, Any]:
    """Return the facts of a file; raise ValueError if the facts are not valid or the columns do not match."""
    facts = parse_json((file_schema.metadata or {})[FACTS.encode()])
    if facts["format"] != FORMAT:
        raise ValueError(f"the format is {shortened(facts['format'])}, but must be {FORMAT}")
    schema = Schema.from_dict(facts["schema"])
    schema.check_types()
    texts = [*facts["agents"], *facts["only"], facts["reward"], facts["version"]]
    if not (
        isinstance(facts["agents"], list) and facts["agents"] and all(isinstance(text, str) for text in texts)
    ):
        given = (f"{name}={shortened(facts[name])}" for name in ("agents", "only", "reward", "version"))
        raise ValueError(
            f"{', '.join(given)}: agents must be a list of one or more strings, only must contain strings, "
            "and reward and version must be strings"
        )
    if (
        not 0 < schema.num_actions <= MOST_ACTIONS
        or type(facts["seed"]) is not int
        or facts["reward"] not in REWARDS
    ):
        raise ValueError(
            f"num_actions={schema.num_actions!r}, seed={shortened(facts['seed'])}, "
            f"reward={shortened(facts['reward'])}: num_actions must be from 1 to {MOST_ACTIONS}, seed a "
            f"whole number, and reward one of {', '.join(REWARDS)}"
        )
    width = file_schema.field("observation").type.byte_width
    expected = _parquet_schema(pa, width, -(-schema.num_actions // 8))
    if not file_schema.equals(expected):
        columns = [schema.to_string(show_schema_metadata=False) for schema in (file_schema, expected)]
        raise ValueError(
            f"columns do not match the format of datasets: found {shortened(columns[0])}, "
            f"expected {shortened(columns[1])}"
        )
    return facts


def _checked_columns(table: Any, facts: dict[str, Any]) -> dict[str, Array]:
    """Return the columns as arrays; raise ValueError for missing, impossible or illegal values."""
    schema = Schema.from_dict(facts["schema"])
    num_actions, players = schema.num_actions, schema.rules.num_players
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise ValueError(f"column {name} contains null values, which are not allowed")
    columns = {name: table[name].to_numpy() for name in _NUMBERS}
    columns["observation"] = _bytes_of(table["observation"]).view(np.int8)
    _check_values("observation", columns["observation"], 0, MOST_CODE)
    limits = {
        "game": (0, _MOST),
        "round": (0, _MOST),
        "seat": (0, players - 1),
        "agent": (0, len(facts["agents"]) - 1),
    }
    for name, (least, most) in (limits | {"reward": (-1, 1), "placement": (1, players)}).items():
        _check_values(name, columns[name], least, most)
    bits = np.unpackbits(_bytes_of(table["mask"]), axis=1, bitorder="little")
    if bits[:, num_actions:].any():
        raise ValueError(
            f"column mask allows an action that does not exist: the game has {num_actions} actions"
        )
    columns["mask"] = mask = bits[:, :num_actions].view(np.bool_)
    actions = columns["action"]
    inside = (actions >= 0) & (actions < num_actions)
    if not (inside.all() and mask[np.arange(len(actions)), actions].all()):
        raise ValueError("column action contains an action that the mask of its row does not allow")
    return columns


def _check_values(name: str, values: Array, least: int, most: int) -> None:
    """Raise ValueError unless all values of the column `name` are numbers from `least` to `most`."""
    wrong = ~((values >= least) & (values <= most))
    if wrong.any():
        raise ValueError(f"column {name} contains {values[wrong][0]}: must be from {least} to {most}")


def _parquet_schema(pa: Any, observation: int, mask: int) -> Any:
    """Return the Parquet schema for observations of `observation` bytes and masks of `mask` bytes."""
    fields = [(name, pa.from_numpy_dtype(kind)) for name, kind in _NUMBERS.items()]
    return pa.schema([*fields, ("observation", pa.binary(observation)), ("mask", pa.binary(mask))])


def _groups(games: Iterable[GameDecisions]) -> Iterator[dict[str, list[Array]]]:
    """Yield the columns of each group of games; a column is a list with one array per game."""
    parts: dict[str, list[Array]] = {}
    rows = 0
    for game in games:
        for name, column in _columns(game).items():
            parts.setdefault(name, []).append(column)
        rows += len(game.actions)
        if rows >= _ROWS:
            yield parts
            parts, rows = {}, 0
    if rows:
        yield parts


def _columns(game: GameDecisions) -> dict[str, Array]:
    """Return the columns of a game, in the order of the file."""
    seats = game.seats
    columns = {
        "game": np.full(len(seats), game.game),
        "round": game.rounds,
        "seat": seats,
        "agent": game.agents[seats],
        "action": game.actions,
        "reward": game.rewards[seats],
        "placement": game.placement[seats],
        "truncated": np.full(len(seats), game.truncated),
    }
    numbers: dict[str, Array] = {name: column.astype(_NUMBERS[name]) for name, column in columns.items()}
    return numbers | {"observation": game.observations, "mask": game.masks}


def _arrow(pa: Any, column: Array) -> Any:
    """Return a column as an Arrow array; the column contains numbers (k,) or bytes (k, width)."""
    if column.ndim == 1:
        return pa.array(column)
    kind = pa.binary(column.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(
        kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))]
    )


def _bytes_of(column: Any) -> Array:
    """Return the bytes of an Arrow column of fixed-size binary values: uint8 (k, width)."""
    rows = column.combine_chunks()
    return np.frombuffer(rows.buffers()[1], np.uint8).reshape(-1, column.type.byte_width)[rows.offset :][
        : len(rows)
    ]


# ------------------------------------------------------------------------------------------------ Minari


def write_minari(name: str, spec: RecordingSpec, games: Iterable[GameDecisions]) -> int:
    """Write games as the Minari dataset `name`, and return the number of decisions.

    The decisions of one seat in one game are an episode. Observations are int8 (D,), and actions are whole
    numbers. The seat's last decision has the reward of the whole game; the seat's other decisions have the
    reward 0. `infos["action_mask"]` contains the action mask of each decision, int8 (n,).
    """
    import minari
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer

    episodes: list[EpisodeBuffer] = []
    rows = 0
    for game in games:
        rows += len(game.actions)
        for seat in np.unique(game.seats).tolist():
            episodes.append(EpisodeBuffer(id=len(episodes), **_episode(game, seat, spec.schema.num_actions)))
    with warnings.catch_warnings():
        # Minari warns because the dataset has no author, no environment and no link
        warnings.filterwarnings("ignore", category=UserWarning, module="minari")
        minari.create_dataset_from_buffers(
            dataset_id=name,
            buffer=episodes,
            observation_space=spaces.Box(-128, 127, episodes[0].observations.shape[1:], np.int8),
            action_space=spaces.Discrete(spec.schema.num_actions),
            algorithm_name=",".join(spec.names),
            description=json.dumps(facts_of(spec)),
            data_format="arrow",
        )
    return rows


def check_new(name: str) -> None:
    """Raise ValueError if `name` is not a valid name of a Minari dataset, or if that dataset exists."""
    import minari
    from minari.dataset.minari_dataset import parse_dataset_id

    parse_dataset_id(name)
    if name in minari.list_local_datasets():
        raise ValueError(
            f"the Minari dataset {name!r} already exists: choose another name, or run `minari delete {name}`"
        )


def _episode(game: GameDecisions, seat: int, num_actions: int) -> dict[str, Any]:
    """Return the k decisions of a seat as an episode of Minari.

    The episode has k + 1 observations. The last observation shows the end of the game.
    """
    rows = np.flatnonzero(game.seats == seat)
    is_last = np.arange(len(rows)) == len(rows) - 1
    masks = np.unpackbits(game.masks[rows], axis=1, bitorder="little")[:, :num_actions].view(np.int8)
    return {
        "seed": None,
        "options": {"game": game.game, "seat": seat, "agent": int(game.agents[seat])},
        "observations": np.concatenate([game.observations[rows], game.final_observations[[seat]]]),
        "actions": game.actions[rows].astype(np.int64),
        "rewards": np.where(is_last, game.rewards[seat], 0).astype(np.float32),
        "terminations": is_last & (not game.truncated),
        "truncations": is_last & game.truncated,
        "infos": {"action_mask": np.concatenate([masks, np.zeros((1, num_actions), np.int8)])},
    }
