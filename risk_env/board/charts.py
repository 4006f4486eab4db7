"""Start charts of Basic Training (RULES 9.1).

For the chart of three players, a map file has one table `[[chart.3]]` per seat. Charts for other numbers of
players have the same form.
"""

from dataclasses import dataclass

from risk_env.board.toml_table import TomlTable

PLAYERS = (3, 4, 5)  # numbers of players that can have a chart (RULES 4.2)
MAX_TROOPS = 1000  # maximum number of troops on a territory


@dataclass(frozen=True)
class Chart:
    """Start position for P players on a map of T territories.

    Seat 0 starts the game.
    """

    owner: tuple[int, ...]  # (T,) seat of each territory
    troops: tuple[int, ...]  # (T,) troops of each territory
    capitals: tuple[int, ...]  # (P,) territory of each seat's capital

    @property
    def num_players(self) -> int:
        """Number of players P."""
        return len(self.capitals)


def read_charts(file: TomlTable, names: list[str]) -> tuple[Chart, ...]:
    """Return the charts of a map whose territories are `names`, ordered by the number of players."""
    table = file.table("chart", {})
    table.only(*map(str, PLAYERS))
    return tuple(_chart(table, players, names) for players in PLAYERS if str(players) in table.values)


def _chart(table: TomlTable, num_players: int, names: list[str]) -> Chart:
    seats = table.tables(str(num_players), num_players)
    if len(seats) < num_players:
        raise table.error(
            f"number of [[chart.{num_players}]] tables: {len(seats)}; must be {num_players}, "
            "one for each seat",
            str(num_players),
        )
    owner, troops = [-1] * len(names), [0] * len(names)
    for seat, start in enumerate(seats):
        start.only("capital", "troops")
        _write_seat(start.table("troops"), seat, names, owner, troops)
    if -1 in owner:
        raise table.error(
            f"{names[owner.index(-1)]!r} has no owner; a chart must give every territory to a seat",
            str(num_players),
        )
    capitals = tuple(_capital(start, seat, names, owner) for seat, start in enumerate(seats))
    return Chart(tuple(owner), tuple(troops), capitals)


def _write_seat(table: TomlTable, seat: int, names: list[str], owner: list[int], troops: list[int]) -> None:
    for name in table.values:
        territory = table.number_of("territory", name, names)
        if owner[territory] >= 0:
            raise table.error(f"already owned by seat {owner[territory]}; a territory has one owner", name)
        owner[territory], troops[territory] = seat, table.whole(name, 1, MAX_TROOPS)


def _capital(table: TomlTable, seat: int, names: list[str], owner: list[int]) -> int:
    capital = table.number_of("territory", table.text("capital"), names, "capital")
    if owner[capital] != seat:
        raise table.error(
            f"{names[capital]!r} belongs to seat {owner[capital]}, not to seat {seat}", "capital"
        )
    return capital
