"""The notebooks of the documentation give the outputs they are shown with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.scripts import load_script

pytest.importorskip("nbclient", reason="executes notebooks")
pytest.importorskip("ipykernel", reason="executes notebooks")
ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def tool() -> Any:
    return load_script(ROOT / "tools" / "notebooks.py")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the client's own event loop
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_the_outputs_it_is_shown_with(
    tool: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = json.loads(path.read_text(encoding="utf-8"))
    done = tool.executed(kept)
    assert [cell.get("outputs") for cell in done["cells"]] == [cell.get("outputs") for cell in kept["cells"]]
    assert tool.page_of(path).read_text(encoding="utf-8") == tool.page(kept, path.name)
    shown = [kind for cell in kept["cells"] for each in cell.get("outputs", ()) for kind in each.get("data", ())]
    assert "text/html" in shown
