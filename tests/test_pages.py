"""The generated pages of the site have what they are made of; `make docs` builds it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from jrh.cli import COMMANDS
from jrh.cli.plugin_commands import plugin_commands
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        return load_script(ROOT / "tools" / "pages.py")


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


def test_the_site_has_at_most_60_pages_and_none_is_lost(pages: ModuleType, tmp_path: Path) -> None:
    files = [path.relative_to(ROOT).as_posix() for place in pages.PLACES for path in sorted(ROOT.glob(place))]
    index = (ROOT / pages.INDEX).read_text(encoding="utf-8")
    site = pages.Site(files, pages.TOGETHER | pages.plugin_pages(index))
    written = list(site.write(tmp_path / "source"))
    assert len(written) <= 60
    site.forward(tmp_path)
    for name in files:
        html = tmp_path / f"{name.removesuffix('.md')}.html"
        assert (name in written) != html.is_file() or site.page_of.get(name) == name, name
        if html.is_file():
            (target,) = re.findall(r"url=([^\"#]+)", html.read_text(encoding="utf-8"))
            page = (html.parent / target).resolve().relative_to(tmp_path.resolve()).with_suffix(".md").as_posix()
            assert page in (*written, "index.md"), name
    tree = "\n".join(pages.trees(index, site, written, ["reference/jrh.md"]))
    for page in (*written, "reference/jrh.md"):
        assert tree.count(f"\n{page.removesuffix('.md')}\n") == 1, page


def test_files_of_one_page_keep_their_headings_apart(pages: ModuleType) -> None:
    site = pages.Site(["a/README.md", "b/README.md", "c.md"], {"all.md": ("All", ["*/README.md"])})
    links = "[b](../b/README.md#x-y) [c](../c.md#z) [self](#x-y) [no](../d.md)"
    text = f"# A\n\n{links}\n\n## X `y`\n\n```yaml\n# no title\n```\n"
    rewritten = pages.labelled(site.rewrite(text, "a/README.md", "all.md"), "a/README.md")
    assert rewritten == (
        "(a-readme)=\n## A\n\n[b](#b-readme-x-y) [c](c.md#z) [self](#a-readme-x-y) no\n\n"
        "(a-readme-x-y)=\n### X `y`\n\n```yaml\n# no title\n```\n"
    )
    assert site.rewrite("[a](a/README.md)", "c.md", "c.md") == "[a](#a-readme)"


def test_the_front_page_fits_a_screen_and_shows_what_the_demo_prints(pages: ModuleType) -> None:
    front = (ROOT / pages.INDEX).read_text(encoding="utf-8").partition("\n## ")[0]
    assert len(front.splitlines()) <= 45
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in front.splitlines() if line.endswith("$0 |")
    ]
    printed = (ROOT / "tests" / "golden" / "demo" / "terminal.txt").read_text(encoding="utf-8").splitlines()
    assert [row[0].split()[0] for row in rows] == ["steady", "flawed", "baseline"]
    for name, *cells in rows:
        place = next(at for at, line in enumerate(printed) if re.match(rf"{name.split()[0]} +factual", line))
        # Where the terminal is narrow, intervals are below their estimates.
        words = " ".join(printed[place : place + 2]).split()
        lacking = Counter(" ".join(cells).split()) - Counter(words)
        assert not lacking, (name, lacking)


def test_llms_txt_has_every_page_once_with_the_line_of_the_index(pages: ModuleType) -> None:
    paths = [path.relative_to(ROOT).as_posix() for place in pages.PLACES for path in sorted(ROOT.glob(place))]
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    text = pages.llms(index, [*paths, "reference/jrh.md"])
    entries = re.findall(r"^- \[(.+?)\]\(([^)]+)\)(?:: (.+))?$", text, re.MULTILINE)
    assert sorted(target for _, target, _ in entries) == sorted([*paths, "reference/jrh.md"])
    assert ("The gate", "docs/gate.md", "rules and exit codes for continuous integration") in entries
    assert ("jrh-order", "plugins/order/README.md", "option order, identical options, position bias") in entries
    assert re.findall(r"^## .*$", text, re.MULTILINE) == [*re.findall(r"^## .*$", index, re.MULTILINE), "## Optional"]


def test_llms_txt_joins_an_entry_of_two_lines_and_names_no_page_that_is_not_there(pages: ModuleType) -> None:
    index = "# D\n\n## Use\n\n- [A](a.md): one,\n  [two](b.md#x)\n- [Gone](c.md): no page\n"
    text = pages.llms(index, ["README.md", "docs/a.md", "docs/b.md", "more.md"])
    assert text.endswith(
        "## Use\n\n- [A](docs/a.md): one, two\n- [two](docs/b.md)\n\n## Optional\n\n- [more.md](more.md)\n"
    )
