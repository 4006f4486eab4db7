"""Text of the map file for a finished draft."""

import json
from collections.abc import Iterator

from risk_env.board.importing.draft import DraftMission, MapDraft
from risk_env.board.maps import NO_CARD


def toml_of(draft: MapDraft, origin: str) -> str:
    """Return the text of a map file. `origin` becomes a comment in the first line."""
    lines = [f"# {' '.join(origin.split())}", f"name = {quoted(draft.name)}", f"wilds = {draft.wilds}"]
    for continent in draft.continents:
        lines += ["", "[[continent]]", f"name = {quoted(continent.name)}", f"bonus = {continent.bonus}"]
        lines += [f"colour = {quoted(continent.colour)}"] if continent.colour else []
    for line in _territories(draft):
        lines.append(line)
    for mission in draft.missions:
        lines += _mission(mission, draft)
    return "\n".join([*lines, *_drawing(draft), ""])


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    return json.dumps(text, ensure_ascii=False)


def _territories(draft: MapDraft) -> Iterator[str]:
    names = [quoted(territory.name) for territory in draft.territories]
    targets: list[list[str]] = [[] for _ in names]
    one_way: list[list[str]] = [[] for _ in names]
    for source, target in sorted(draft.borders):
        (targets if (target, source) in draft.borders else one_way)[source].append(names[target])
    for t, territory in enumerate(draft.territories):
        yield from ("", "[[territory]]", f"name = {names[t]}")
        if territory.continent >= 0:
            yield f"continent = {quoted(draft.continents[territory.continent].name)}"
        yield f"symbol = {quoted(territory.symbol or NO_CARD)}"
        yield f"borders = [{', '.join(targets[t])}]"
        if one_way[t]:
            yield f"one_way_to = [{', '.join(one_way[t])}]"


def _mission(mission: DraftMission, draft: MapDraft) -> list[str]:
    lines = ["", "[[mission]]", f"kind = {quoted(mission.kind)}"]
    if mission.continents:
        names = ", ".join(quoted(draft.continents[number].name) for number in mission.continents)
        lines.append(f"continents = [{names}]")
    return lines + [f"{key} = {json.dumps(value)}" for key, value in mission.values.items()]


def _drawing(draft: MapDraft) -> Iterator[str]:
    """Yield the lines of the drawing, if the territories have centres."""
    centres = [territory.centre for territory in draft.territories if territory.centre is not None]
    if not centres:
        return
    yield from ("", "[drawing]", f"width = {draft.size[0]}", f"height = {draft.size[1]}")
    if draft.picture is not None:
        yield f"picture = {quoted(draft.picture_name)}"
    yield from ("", "[drawing.centres]")
    for territory, (x, y) in zip(draft.territories, centres, strict=True):
        yield f"{quoted(territory.name)} = [{x:g}, {y:g}]"
