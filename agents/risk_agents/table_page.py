"""Static pages with sortable tables: the leaderboard, and the report of a tournament.

A page is one HTML document that needs no network. A content security policy allows only the script of the
page. Parameters that are not described as HTML are plain text, and are escaped.
"""

from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from risk_env.text.escape import for_html
from risk_env.viewer.page import digest

STATIC = Path(__file__).parent / "static"
Heading = Sequence[tuple[str, str]]  # title and kind (text or number) of each column


def page(title: str, content: str) -> str:
    """Return an HTML page. `content` is HTML, and `title` is plain text."""
    script, style = ((STATIC / f"tables.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src '{digest(script)}'; base-uri 'none'"
    )
    template = Template((STATIC / "tables.html").read_text(encoding="utf-8"))
    return template.substitute(
        policy=policy, title=for_html(title), style=style, script=script, content=content
    )


def table(caption: str, heading: Heading, rows: Sequence[Sequence[str]]) -> str:
    """Return a sortable table. Each row contains cells from `text_cell`, `number_cell` and `linked_cell`."""
    head = "".join(
        f'<th scope="col" data-kind="{kind}"><button type="button">{for_html(title)}</button></th>'
        if title
        else "<td></td>"
        for title, kind in heading
    )
    body = "\n".join("<tr>" + "".join(row) + "</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{for_html(caption)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def text_cell(words: Any) -> str:
    """Return a cell with text."""
    return f'<td class="text">{for_html(words)}</td>'


def number_cell(value: float | None, shown: str = "") -> str:
    """Return a cell with the HTML `shown`, sorted by `value`, or an empty cell if `value` is None."""
    return '<td data-value=""></td>' if value is None else f'<td data-value="{value:.6g}">{shown}</td>'


def linked_cell(address: str, words: Any) -> str:
    """Return a cell with a link to a relative address. The cell is sorted by `words`."""
    return f'<td class="text"><a href="{for_html(address)}">{for_html(words)}</a></td>'


def fact_list(facts: Sequence[tuple[str, str]]) -> str:
    """Return the entries of an HTML description list. The names are plain text, and the facts are HTML."""
    return "".join(f"<dt>{for_html(name)}</dt><dd>{words or '–'}</dd>" for name, words in facts)
