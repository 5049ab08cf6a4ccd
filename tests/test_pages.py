"""The generated pages of the site have what they are made of; `make docs` builds it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from jrh.cli import COMMANDS
from jrh.cli.plugin_commands import plugin_commands

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "pages.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def test_every_key_of_a_suite_is_explained(pages: ModuleType) -> None:
    schema = json.loads((ROOT / "schemas" / "suite.schema.json").read_text(encoding="utf-8"))
    page = pages.suite_page(schema)
    for key, value in schema["properties"].items():
        (row,) = [line for line in page.split("\n## ")[1].split("\n") if line.startswith(f"| `{key}` |")]
        assert value.get("description", "") == "" or len(row.split(" | ")[-1]) > 3


def test_every_command_is_shown_with_its_options(pages: ModuleType) -> None:
    page = pages.commands_page()
    for name in {*COMMANDS, *plugin_commands()} - {"plugins"}:
        assert f"\n## jrh {name}\n" in page
    for name in ("list", "show", "doctor", "new"):
        assert f"\n## jrh plugins {name}\n" in page
    assert "--single-file" in page


def test_links_to_what_is_no_page_are_text(pages: ModuleType) -> None:
    kept = "[b](suites.md#keys) [c](https://example.org) ![d](images/report.png)\n```\n[e](x)\n```"
    text = f"[a](../LICENSE) {kept}"
    assert pages.linked(text, ROOT / "docs", {"docs/suites.md"}) == f"a {kept}"
