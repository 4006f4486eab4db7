"""The graph of borders: targets and neighbours of territories, and the territories that borders connect."""

from collections.abc import Iterable


def neighbours_of(territories: Iterable[int], borders: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the neighbours of each territory in `territories`.

    Borders to other territories are ignored. One direction of each two-way border is enough.
    """
    neighbours: dict[int, list[int]] = {territory: [] for territory in territories}
    for one, other in borders:
        if one in neighbours and other in neighbours:
            neighbours[one].append(other)
            neighbours[other].append(one)
    return neighbours


def targets_of(count: int, borders: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the targets of each territory's directed borders, in the order of the borders."""
    targets: list[list[int]] = [[] for _ in range(count)]
    for source, target in borders:
        targets[source].append(target)
    return targets


def unreachable(count: int, borders: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the territories that territory 0 does not reach, and those that do not reach territory 0.

    A territory reaches another territory if a chain of borders leads to the other territory. If both lists
    are empty, every territory reaches every other territory.
    """
    ways = list(borders)
    both = (ways, [(target, source) for source, target in ways])
    reached, reaching = (reached_from(0, targets_of(count, directed)) for directed in both)
    return [t for t in range(count) if t not in reached], [t for t in range(count) if t not in reaching]


def is_connected(territories: set[int], borders: Iterable[tuple[int, int]]) -> bool:
    """Return True if the borders among `territories` connect all of `territories`."""
    reached = reached_from(min(territories), neighbours_of(territories, borders))
    return len(reached) == len(territories)


def reached_from(start: int, targets_of: dict[int, list[int]] | list[list[int]]) -> set[int]:
    """Return `start` and all territories that chains of borders from `start` reach."""
    reached, todo = {start}, [start]
    while todo:
        for target in targets_of[todo.pop()]:
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return reached
