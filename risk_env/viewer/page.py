"""Pages of the viewer: single HTML documents with style, modules and data.

The modules (MODULES) are files in `static/`. A page imports the module NAME as `risk/NAME`. An import map
gives the address of NAME: a `data:` URL in a single file, or the address of the file on a server.
"""

import base64
import gzip
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

from risk_env.viewer.map_data import sign_symbols

HEIGHT = 780  # height of a replay in a notebook, in pixels
MODULES = (
    *("board", "charts", "dice", "dom", "goals", "history", "list", "panels", "replay"),
    *("review", "text_board", "words", "zoom"),
)


def replay_page(title: str, facts: dict[str, Any]) -> str:
    """Return the page of a replay.

    `facts` may contain any text, because the page contains `facts` in base64, compressed with gzip.
    """
    packed = base64.b64encode(
        gzip.compress(json.dumps(facts, separators=(",", ":")).encode(), mtime=0)
    ).decode()
    imports = json.dumps({"imports": {f"risk/{name}": _data_url(name) for name in MODULES}})
    style, start = static("viewer.css"), 'import "risk/replay";'
    scripts = " ".join(f"'{digest(script)}'" for script in (imports, start))
    policy = f"default-src 'none'; img-src data:; script-src {scripts} data:; style-src '{digest(style)}'"
    parts = {
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "title": html.escape(title),
        "style": f"<style>{style}</style>",
        "symbols": sign_symbols(),
        "tools": "",
        "question": "",
        "words": "",
        "scripts": f'<script type="importmap">{imports}</script>\n'
        f'<script type="text/plain" id="data">{packed}</script>\n'
        f'<script type="module">{start}</script>',
    }
    return fill(static("replay.html"), parts)


def fill(template: str, parts: dict[str, str]) -> str:
    """Return a template with each comment `<!--NAME-->` replaced by `parts[NAME]`."""
    for name, part in parts.items():
        template = template.replace(f"<!--{name}-->", part)
    return template


@cache
def static(name: str, package: str = "risk_env.viewer") -> str:
    """Return the text of the file `name` in the folder `static/` of a package."""
    return files(package).joinpath("static", name).read_text(encoding="utf-8")


def _data_url(module: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(static(f"{module}.js").encode()).decode()


def digest(script: str) -> str:
    """Return the hash with which a content security policy allows this inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
