"""The tools of the site: offline links, and the reference as plain Markdown. `make docs` checks the site itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"


@pytest.fixture(scope="module")
def tools() -> dict[str, ModuleType]:
    from importlib import import_module

    sys.path.insert(0, str(TOOLS))
    try:
        return {name: import_module(name) for name in ("check_links", "plain_reference", "reference")}
    finally:
        sys.path.remove(str(TOOLS))


def test_what_leads_nowhere_is_found_in_both_forms(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    html = '<h2 id="there">x</h2><a href="other.html#there">a</a><a href="other.html#gone">b</a><a href="#there">c</a>'
    outside = '<a href="https://example.org/x">d</a><a href="mailto:a@example.org">e</a><img src="no.png">'
    (tmp_path / "index.html").write_text(html + outside, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">x</p>', encoding="utf-8")
    page = "[a](other.md) [b](gone.md#x) `[c](code.md)` <x>\n\n```text\n[d](fenced.md)\n```\n![e](https://example.org/y.png)\n"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "other.md").write_text("# x", encoding="utf-8")
    (tmp_path / "llms.txt").write_text("- [page](page.md)\n- [lost](lost.md)\n", encoding="utf-8")
    found = set(tools["check_links"].broken(tmp_path))
    assert found == {
        ("index.html", "other.html#gone"),
        ("index.html", "no.png"),
        ("page.md", "gone.md#x"),
        ("llms.txt", "lost.md"),
    }
    assert tools["check_links"].main([str(tmp_path)]) == 1
    assert tools["check_links"].main([str(tmp_path / "nothing")]) == 2


def test_the_reference_as_markdown_has_signatures_fields_and_docstrings_and_no_directive(
    tools: dict[str, ModuleType],
) -> None:
    public = tools["reference"].public_names() | tools["reference"].companions()
    for package, names in public.items():
        text = tools["plain_reference"].package_page(package, "What it is for.", names)
        assert "{eval-rst}" not in text
        assert " object at 0x" not in text
        headings = re.findall(r"^## `(\w+)`$", text, re.MULTILINE)
        assert sorted(headings) == sorted(names)
        empty = re.findall(r"^## `(\w+)`\n+(?=## |\Z)", text, re.MULTILINE)
        assert empty == [], f"{package}: no text for {empty}"
    draft = tools["plain_reference"].package_page("jrh", "x", {"Draft": "jrh.values.cases"})
    assert "### `Draft.variant`" in draft
    estimate = tools["plain_reference"].package_page("jrh_stats", "x", {"auc": "jrh_stats.discrimination"})
    assert "**Args**" in estimate
    assert "ArrayLike" in estimate
    assert "_Supports" not in estimate
