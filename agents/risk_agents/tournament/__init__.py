"""Tournaments between agents of any kind, with ratings and their confidence intervals.

On the command line, use `risk-env tournament`. In a program, use:

    rules = Rules.preset("classic", num_players=3)
    config = make_config(["grower", "bots.py:MyBot"], rules, "classic", seed=0)
    store = Store.create("games.sqlite", config)
    conduct(store, games=3000, jobs=2)
    summary = summarise(config, list(store.results()))
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Entrant": "config",
    "GameResult": "results",
    "TournamentConfig": "config",
    "Store": "results_store",
    "Summary": "summary",
    "conduct": "running",
    "make_config": "loading",
    "summarise": "summary",
    "write_csv": "exports",
    "write_json": "exports",
    "write_records": "records",
    "write_report": "report",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
