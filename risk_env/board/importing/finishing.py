"""Checks of a draft, and the decisions that complete the draft.

Problems are collected in a `Report`, so that one error can list all problems.
"""

from collections import Counter

from risk_env.board.borders import unreachable
from risk_env.board.drawings import MAX_PIXELS
from risk_env.board.generating.spec import CLASSIC_TERRITORIES
from risk_env.board.importing.draft import DraftMission, MapDraft, Report
from risk_env.board.map_pictures import MapPicture
from risk_env.board.maps import (
    COLOUR,
    MAX_BONUS,
    MAX_BORDERS,
    MAX_COLOURS,
    MAX_CONTINENTS,
    MAX_TERRITORIES,
    SYMBOLS,
)
from risk_env.board.names import MAX_NAME, problem_of
from risk_env.core.types import MAX_MISSIONS
from risk_env.messages import shortened

# Size of a drawing, in pixels: the width with a picture, and the longer side without a picture.
WIDTH = 1200  # size for a map with as many territories as the classic map
NARROWEST, WIDEST = 600, 3000  # minimum and maximum size for other maps
MARGIN = 60  # distance between the centres and the edge of a drawing without a picture, in pixels
MOST_PIXELS_APART = 10**7  # maximum difference between two coordinates of a file
MOST_MISSION_TROOPS = 1000
MOST_NAMED = 8  # maximum number of names in one sentence


def finish(draft: MapDraft, report: Report) -> None:
    """Check and complete a draft. Raises MapError if the file has problems (`Report.raise_problems`)."""
    _check_sizes(draft, report)
    _check_names(draft, report)
    _finish_continents(draft, report)
    _finish_borders(draft, report)
    _finish_missions(draft, report)
    _finish_cards(draft, report)
    _finish_centres(draft, report)
    report.raise_problems()


def _listed(names: list[str]) -> str:
    """Return a list of names for a sentence: at most MOST_NAMED names, and the number of further names."""
    more = len(names) - MOST_NAMED
    return ", ".join(map(shortened, names[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _check_sizes(draft: MapDraft, report: Report) -> None:
    """Report a map that is too small or too large."""
    sizes = (
        ("territories", len(draft.territories), 2, MAX_TERRITORIES),
        ("continents", len(draft.continents), 1, MAX_CONTINENTS),
    )
    for what, size, least, most in sizes:
        if not least <= size <= most:
            report.problem(f"number of {what}: {size}; must be from {least} to {most}")


def check_before_borders(draft: MapDraft, report: Report) -> None:
    """Raise MapError if a map has too many territories, or names that are too long.

    The time to read borders grows with the number of territories and the length of names.
    """
    count = len(draft.territories)
    names = [
        *(continent.name for continent in draft.continents),
        *(place.name for place in draft.territories),
    ]
    long = [name for name in names if len(name) > MAX_NAME]
    if count > MAX_TERRITORIES:
        report.problem(f"number of territories: {count}; must be from 2 to {MAX_TERRITORIES}")
    if long:
        report.problem(f"{_listed(long)}: a name must have 1 to {MAX_NAME} characters")
    if long or count > MAX_TERRITORIES:
        report.raise_problems()


def _check_names(draft: MapDraft, report: Report) -> None:
    """Report names that are missing or not allowed."""
    kinds = {
        "map": [draft.name],
        "continent": [continent.name for continent in draft.continents],
        "territory": [territory.name for territory in draft.territories],
    }
    for what, names in kinds.items():
        for number, name in enumerate(names, 1):
            if not name:
                report.problem(f"{what} {number}: the name is missing")
            elif problem := problem_of(name):
                report.problem(f"{what} {shortened(name)}: {problem}")


def _finish_continents(draft: MapDraft, report: Report) -> None:
    """Leave out empty continents, and check the bonuses and colours of the other continents."""
    sizes = Counter(territory.continent for territory in draft.territories)
    for number, continent in enumerate(draft.continents):
        what = f"continent {shortened(continent.name)}"
        if not sizes[number]:
            report.decision(f"{what} has no territories: it is left out")
        elif continent.bonus < 0:
            report.left_out(f"{what} has the bonus {continent.bonus}", "the bonus is 0")
            continent.bonus = 0
        elif continent.bonus > MAX_BONUS:
            report.problem(f"{what} has the bonus {continent.bonus}: at most {MAX_BONUS} is allowed")
        if continent.colour is not None and not COLOUR.fullmatch(continent.colour):
            given = f"the colour {shortened(continent.colour)} is not of the form '#8fa3c7'"
            report.decision(f"{what}: {given}; it becomes automatic")
            continent.colour = None
    kept = [number for number in range(len(draft.continents)) if sizes[number]]
    renumbered = {number: new for new, number in enumerate(kept)} | {-1: -1}
    if draft.continents and not kept:
        report.problem("no continent has a territory: at least 1 continent needs territories")
    draft.continents = [draft.continents[number] for number in kept]
    for territory in draft.territories:
        territory.continent = renumbered[territory.continent]
    for mission in draft.missions:
        mission.continents = [renumbered.get(number, -1) for number in mission.continents]
    if outside := [t.name for t in draft.territories if t.continent < 0]:
        report.decision(f"outside all continents: {_listed(outside)}")


def _finish_borders(draft: MapDraft, report: Report) -> None:
    """Report one-way borders, and check that borders connect all territories.

    With `mirror`, one-way borders become two-way. Borders of a territory with itself are left out.
    """
    names = [territory.name for territory in draft.territories]
    for source, target in [border for border in draft.borders if border[0] == border[1]]:
        report.decision(f"territory {shortened(names[source])} borders itself: this border is left out")
        del draft.borders[source, target]
    one_way = [border for border in draft.borders if border[::-1] not in draft.borders]
    for source, target in one_way:
        way = f"one-way border {shortened(names[source])} > {shortened(names[target])}"
        if report.mirror:
            report.decision(f"{way}: it becomes two-way")
            draft.borders[target, source] = None
        else:
            report.decision(f"{way}: it stays one-way (--mirror: it becomes two-way)")
    if len(draft.borders) > MAX_BORDERS:
        problem = f"{len(draft.borders)} borders (a two-way border counts as two)"
        report.problem(f"{problem}: a map has at most {MAX_BORDERS}")
    hint = "Use --mirror to make one-way borders two-way." if one_way and not report.mirror else ""
    if names:
        _check_reach(names, draft, hint, report)


def _check_reach(names: list[str], draft: MapDraft, hint: str, report: Report) -> None:
    """Report territories that no chain of borders from the first territory reaches.

    Also report territories from which no chain of borders reaches the first territory.
    """
    first = shortened(names[0])
    not_reached, not_reaching = (
        _listed([names[t] for t in apart]) for apart in unreachable(len(names), draft.borders)
    )
    if not_reached and not_reached == not_reaching:
        report.problem(f"no chain of borders joins {first} to {not_reached}", hint=hint)
        return
    if not_reached:
        report.problem(f"no chain of borders leads from {first} to {not_reached}", hint=hint)
    if not_reaching:
        report.problem(f"no chain of borders leads to {first} from {not_reaching}", hint=hint)


def _finish_missions(draft: MapDraft, report: Report) -> None:
    """Leave out missions that the map does not allow, and missions beyond the maximum number."""
    allowed = [mission for mission in draft.missions if _is_allowed(mission, draft)]
    if len(allowed) < len(draft.missions):
        report.decision(f"missions that do not fit this map: {len(draft.missions) - len(allowed)} left out")
    most = MAX_MISSIONS - MAX_COLOURS
    if len(allowed) > most:
        report.decision(f"{len(allowed)} missions: the first {most} are kept")
    draft.missions = allowed[:most]


def _is_allowed(mission: DraftMission, draft: MapDraft) -> bool:
    """Return True if the map reader allows a mission."""
    values, territories = mission.values, len(draft.territories)
    counts = [values.get(key, 1) for key in ("territories", "fallback_territories")]
    if -1 in mission.continents or not all(0 < count <= territories for count in counts):
        return False
    if values.get("any_third"):
        has_outside = any(territory.continent < 0 for territory in draft.territories)
        if has_outside or len(mission.continents) >= len(draft.continents):
            return False
    return 0 < values.get("min_troops", 1) <= MOST_MISSION_TROOPS


def _finish_cards(draft: MapDraft, report: Report) -> None:
    """Give each territory a card if the file has no cards. The three symbols are assigned in turn."""
    without = [territory.name for territory in draft.territories if territory.symbol is None]
    if len(without) < len(draft.territories):
        if without:
            report.decision(f"no card for {_listed(without)}: games with headquarters cannot be played")
        return
    report.decision("the file has no cards: each territory gets a card, with the three symbols in turn")
    for number, territory in enumerate(draft.territories):
        territory.symbol = SYMBOLS[number % len(SYMBOLS)]


def _finish_centres(draft: MapDraft, report: Report) -> None:
    """Scale the centres to a drawing. If the centres cannot be used, leave all centres out.

    For a map with a picture, report a problem instead.
    """
    missing = [t.name for t in draft.territories if t.centre is None]
    if len(missing) == len(draft.territories):
        problem = "the file has no coordinates"
    elif missing:
        problem = f"no coordinates for {_listed(missing)}"
    else:
        problem = _scale(draft)
    if problem and draft.picture is not None:
        report.problem(f"{problem}: a picture needs a different point, in pixels, for every territory")
    elif problem:
        report.decision(f"{problem}: the drawing is automatic")
        for territory in draft.territories:
            territory.centre = None


def _scale(draft: MapDraft) -> str:
    """Scale the centres to whole pixels. Return "", or the reason why the centres cannot be used."""
    points = [territory.centre for territory in draft.territories if territory.centre is not None]
    width = min(WIDEST, max(NARROWEST, round(WIDTH * (len(points) / CLASSIC_TERRITORIES) ** 0.5)))
    if draft.picture is not None:
        problem = _scale_to_picture(draft, draft.picture, width)
    else:
        problem = _scale_to_points(draft, points, width)
    places = {territory.centre for territory in draft.territories}
    return problem or (
        "" if len(places) == len(points) else "coordinates of several territories are the same"
    )


def _scale_to_picture(draft: MapDraft, picture: MapPicture, width: int) -> str:
    """Scale the picture and the centres to a drawing whose width is at most `width`.

    Returns "", or the reason why the centres cannot be used.
    """
    outside = [t.name for t in draft.territories if t.centre is not None and not _is_on(picture, t.centre)]
    if outside:
        size = f"{picture.width} x {picture.height} pixels"
        return f"coordinates outside the picture of {size}: {_listed(outside)}"
    scale = min(width / picture.width, MAX_PIXELS / picture.height)
    _place_centres(draft, (0, 0), scale, 0)
    draft.size = max(1, round(scale * picture.width)), max(1, round(scale * picture.height))
    return ""


def _is_on(picture: MapPicture, point: tuple[float, float]) -> bool:
    return 0 <= point[0] <= picture.width and 0 <= point[1] <= picture.height


def _scale_to_points(draft: MapDraft, points: list[tuple[float, float]], width: int) -> str:
    """Scale the centres to a drawing whose longer side is `width`, with a margin around the centres.

    Returns "", or the reason why the centres cannot be used.
    """
    low_x, low_y = (min(point[axis] for point in points) for axis in (0, 1))
    extent = max(max(x - low_x for x, _ in points), max(y - low_y for _, y in points))
    if extent > MOST_PIXELS_APART:
        return f"coordinates are more than {MOST_PIXELS_APART} pixels apart"
    _place_centres(draft, (low_x, low_y), (width - 2 * MARGIN) / extent if extent else 0.0, MARGIN)
    places = [territory.centre for territory in draft.territories if territory.centre is not None]
    draft.size = round(max(x for x, _ in places)) + MARGIN, round(max(y for _, y in places)) + MARGIN
    return ""


def _place_centres(draft: MapDraft, low: tuple[float, float], scale: float, margin: int) -> None:
    """Scale the centres relative to the point `low`, and move the centres by `margin` pixels."""
    for territory in draft.territories:
        if territory.centre is not None:
            x, y = (margin + round(scale * (territory.centre[axis] - low[axis])) for axis in (0, 1))
            territory.centre = x, y
