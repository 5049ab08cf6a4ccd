"""The pages of measures and of errors are what the code declares."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from jrh.errors import FaultKind, StopReason

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def catalogue() -> ModuleType:
    spec = importlib.util.spec_from_file_location("catalogue", ROOT / "tools" / "catalogue.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_current(catalogue: ModuleType) -> None:
    stale = [path.name for path, text in catalogue.pages().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make reference`"


def test_every_expected_error_and_every_kind_of_failure_has_a_heading_with_its_remedy(catalogue: ModuleType) -> None:
    page = catalogue.errors_page()
    ours = set(catalogue.error_classes())
    assert {"SuiteError", "DamagedStoreError"} <= ours
    kinds = {f"fault: {each.value}" for each in FaultKind} | {f"stop: {each.value}" for each in StopReason}
    parts = {part.partition("`\n\n")[0]: part.partition("`\n\n")[2] for part in page.split("\n### `")}
    texts = {name: parts.get(name, "").partition("\n##")[0].replace("\n", " ") for name in ours | kinds}
    assert {name for name, text in texts.items() if ". " not in text} == set()


def test_what_is_no_longer_current_is_an_error(
    catalogue: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "measures.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr(catalogue, "pages", lambda: {tmp_path / "measures.md": "new"})
    assert catalogue.main(["--check"]) == 1
    assert "measures.md" in capsys.readouterr().err
    assert catalogue.main([]) == 0
    assert (tmp_path / "measures.md").read_text(encoding="utf-8") == "new"
