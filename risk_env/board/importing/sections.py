"""Reader for texts that consist of sections: a header such as `[countries]`, and the lines below it."""

from typing import NamedTuple

from risk_env.messages import shortened


class SectionLine(NamedTuple):
    """A line of a section, and the number of the line."""

    place: str  # such as "line 3"
    text: str


COMMENT = ";"
Sections = dict[str, list[SectionLine]]


def read_sections(text: str, file: str = "") -> Sections:
    """Return the lines of each section, by the section's name in lower case.

    `file` is the file name in the `place` of each line, as in "x.map, line 3" (default: no name). Empty lines
    and lines that begin with COMMENT are left out. Lines before the first header are in the section "".
    """
    sections: Sections = {"": []}
    section = sections[""]
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(COMMENT):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = sections.setdefault(line[1:-1].strip().casefold(), [])
        else:
            section.append(SectionLine(f"{file}, line {number}" if file else f"line {number}", line))
    return sections


def needed(sections: Sections, name: str) -> list[SectionLine]:
    """Return the lines of a section. Raises ValueError if the file does not have the section."""
    if name not in sections:
        present = ", ".join(shortened(f"[{name}]") for name in list(sections)[:10] if name)
        raise ValueError(f"the section [{name}] is missing; the file has {present or 'no sections'}")
    return sections[name]
