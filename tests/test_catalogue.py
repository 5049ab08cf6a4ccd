"""The pages of measures and of errors are what the code declares."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from jrh.errors import FaultKind, StopReason
from jrh_testing import Inside
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def catalogue() -> ModuleType:
    return load_script(ROOT / "tools" / "catalogue.py")


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


def test_every_message_has_one_address_and_leads_to_its_kind(catalogue: ModuleType) -> None:
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    rows = re.findall(r'^- <a id="([a-z0-9-]+)"></a>(.*) \(\[\w+\]\(errors\.md#(\w+)\)\)$', page, re.MULTILINE)
    anchors = [anchor for anchor, _, _ in rows]
    assert len(anchors) == len(set(anchors)) == page.count("\n- ") > 600
    assert {kind for _, _, kind in rows} <= {name.lower() for name in catalogue.error_classes()}


@pytest.mark.inside
def test_what_the_program_says_is_on_the_page(catalogue: ModuleType, tmp_path: Path) -> None:
    pattern = catalogue.messages_module().pattern
    good = {
        "name": "s",
        "data": {"source": "examples"},
        "task": {"scale": {"labels": ["YES", "NO"]}},
        "tests": ["format"],
    }
    good |= {"judges": ["simulated"]}
    wrong: tuple[dict[str, object], ...] = (
        {"datas": {}},
        {"data": {"source": "csv", "path": "gone.csv"}},
        {"data": {"source": "nowhere"}},
        {"judges": [{"judge": "simulated", "accuracy": 2}]},
        {"tests": [{"format": {"kinds": ["no-such"]}}]},
        {"models": {"m": {"provider": "no-such"}}},
    )
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    project = Inside(tmp_path)
    for number, each in enumerate(wrong):
        project.write(f"{number}.yaml", json.dumps(good | each))
    calls = [("plan", f"{number}.yaml") for number in range(len(wrong))]
    calls += [
        ("report", "nowhere"),
        ("export", ".", "--to", "x"),
        ("import", "gone.csv"),
        ("plugins", "show", "no-such"),
    ]
    texts = re.findall(r'^- <a id="[a-z0-9-]{7,}"></a>`+ ?(.*?) ?`+ \(\[', page, re.MULTILINE)
    for asked in calls:
        done = project.run(*asked)
        assert done.exit_code == 2
        text = " ".join(done.stderr.split())
        assert [each for each in texts if pattern(each).search(text)], text


def test_what_is_no_longer_current_is_an_error(
    catalogue: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "measures.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr(catalogue, "pages", lambda: {tmp_path / "measures.md": "new"})
    assert catalogue.main(["--check"]) == 1
    assert "measures.md" in capsys.readouterr().err
    assert catalogue.main([]) == 0
    assert (tmp_path / "measures.md").read_text(encoding="utf-8") == "new"
