"""The notebooks of examples/ run from top to bottom and show their games, also after saving."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST = 350_000  # characters of a notebook with its outputs
SHORTER = {"STEPS = 200_000": "STEPS = 1"}


@pytest.mark.long
@pytest.mark.parametrize(("name", "shown"), [("first_game", "Alaska"), ("train_and_watch", "policy")])
def test_a_notebook_runs_and_shows_its_game(
    name: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    for cell in notebook.cells:
        for text, less in SHORTER.items():
            cell.source = cell.source.replace(text, less)
    monkeypatch.setenv(
        "PYTHONPATH", ":".join(str(EXAMPLES.parent / folder) for folder in ("", "agents", "training"))
    )
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert len(nbformat.writes(notebook)) < MOST
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shows = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    (page,) = [html for html in shows if html.startswith("<iframe srcdoc=")]  # others are progress bars
    assert shown in page + str(outputs)
