"""Borders as a graph: the neighbours of territories, and the territories that borders connect."""

from collections.abc import Iterable


def neighbours_of(territories: Iterable[int], borders: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the neighbours of each territory.

    Borders to territories outside `territories` are ignored. List each border once, in either direction.
    """
    neighbours: dict[int, list[int]] = {territory: [] for territory in territories}
    for one, other in borders:
        if one in neighbours and other in neighbours:
            neighbours[one].append(other)
            neighbours[other].append(one)
    return neighbours


def is_connected(territories: set[int], borders: Iterable[tuple[int, int]]) -> bool:
    """Return True if the borders between these territories connect all of them."""
    reached = reached_from(min(territories), neighbours_of(territories, borders))
    return len(reached) == len(territories)


def reached_from(start: int, targets_of: dict[int, list[int]] | list[list[int]]) -> set[int]:
    """Return the territories that can be reached from a territory through borders."""
    reached, todo = {start}, [start]
    while todo:
        for target in targets_of[todo.pop()]:
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return reached
