"""Hostile texts in every field: nothing runs, nothing leaves, everything can be read (point 2)."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jrh.text import visible_text
from jrh_report.html.reporter import HtmlReporter
from jrh_report.options import HtmlOptions
from jrh_testing import PAYLOADS, Project, flags_by_name, load_sections
from support.browsing import Visit, visit
from support.pages import read_page
from support.poison import Poisoned
from support.suites import simulated_suite, write_suite

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PARTS = 24  # the tables of a page grow with the square of its texts
UNFOLD = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
TAGS = """html head meta title style body a header h1 ul li nav main section h2 p div article h3 span details summary
code button strong table caption thead tr th tbody td figure figcaption svg desc g path defs clippath rect text use
label select option input pre dl dt dd h4 del ins footer script abbr"""
PROVOKE = """async () => {
  // Of nodes alike one is enough for what listens by class; that no node has a handler of its own is looked up of all.
  const kinds = new Map();
  for (const node of document.querySelectorAll("*")) {
    kinds.set(`${node.tagName} ${node.getAttribute("class")} ${node.parentNode.tagName}`, node);
  }
  for (const node of kinds.values()) {
    for (const name of ["mouseover", "click", "focus", "error", "load", "toggle", "pointerenter", "animationstart"]) {
      if (node.tagName !== "A") { node.dispatchEvent(new Event(name)); }
    }
  }
  window.dispatchEvent(new Event("hashchange"));
  await new Promise((resolve) => setTimeout(resolve, 300));
}"""


def harmless(seen: Visit) -> None:
    seen.evaluate(UNFOLD)
    seen.evaluate(PROVOKE)
    seen.assert_quiet()
    assert seen.evaluate("typeof window.pwned") == "undefined"
    tags = set(seen.evaluate("[...document.querySelectorAll('*')].map((each) => each.tagName.toLowerCase())"))
    assert tags <= set(TAGS.split())
    titles = "[...document.querySelectorAll('abbr')].map((each) => [each.textContent, each.title])"
    flags = flags_by_name()
    assert all(flags[flag].meaning == title for flag, title in seen.evaluate(titles)), "a title is not ours"
    assert seen.evaluate("document.querySelectorAll('[title]:not(abbr)').length") == 0
    handlers = """[...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames())
      .filter((name) => name.startsWith('on') || name === 'style')"""
    assert seen.evaluate(handlers) == []
    links = set(
        seen.evaluate("[...document.querySelectorAll('[href], [src]')].map((each) => each.getAttribute('href'))")
    )
    assert all(link.startswith("#") for link in links)
    assert seen.evaluate("document.querySelectorAll('script').length") == 1


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 200


@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_of_a_run_becomes_code(browser: Browser, tmp_path: Path, part: int) -> None:
    payloads = PAYLOADS[part::PARTS]
    page = tmp_path / "report.html"
    page.write_text(
        HtmlReporter(HtmlOptions()).render(load_sections(Poisoned(texts=payloads).report())), encoding="utf-8"
    )
    with visit(browser, page) as seen:
        assert seen.evaluate("document.querySelectorAll('.flip pre').length") > 2 * len(payloads)
        for there in (
            "#section-stated-probabilities svg",
            "#section-stated-probabilities table",
            "#section-variance table",
            "#section-interactions table",
            "#section-panel table",
        ):
            assert seen.evaluate(f"document.querySelectorAll({there!r}).length") > 0, there
        harmless(seen)
        shown = bare(seen.evaluate("document.documentElement.textContent"))
        lacking = [text for text in payloads if bare(visible_text(text)) not in shown]
        assert lacking == [], "a text is not shown as it is"
        assert seen.evaluate("document.documentElement.scrollWidth") <= 1440


def bare(text: str) -> str:
    return "".join(text.split())


def test_a_page_of_hostile_texts_has_the_structure_of_one_of_harmless_texts() -> None:
    def structure(texts: list[str]) -> list[tuple[str, list[str]]]:
        text = HtmlReporter(HtmlOptions()).render(Poisoned(texts=texts).report())
        return [(node.tag, sorted(node.attributes)) for node in read_page(text).all() if node.tag not in ("del", "ins")]

    hostile = list(PAYLOADS[::16])
    harmless = [f"{letter} word" for letter in string.ascii_letters[: len(hostile)]]
    assert structure(hostile) == structure(harmless)


def test_a_real_run_of_hostile_items_is_shown_unharmed(browser: Browser, tmp_path: Path) -> None:
    project = Project(tmp_path)
    name = "<img src=x onerror=window.pwned=1>.jsonl"
    rows = [
        {
            "id": f"{n} {text}",
            "request": text,
            "response": f"{text} {n}",
            "label": ("YES", "NO")[n % 2],
            "stratum": text,
        }
        for n, text in enumerate(text for text in PAYLOADS if text.isprintable())
    ]
    project.write(name, "\n".join(map(json.dumps, rows)) + "\n")
    judge = {"name": "<img src=x onerror=window.pwned=1>", "judge": "simulated", "accuracy": 0.6, "rerun_noise": 0.4}
    suite = simulated_suite(
        reports=["html"],
        data={"source": "jsonl", "path": name, "columns": {"stratum": "stratum"}},
        judges=[judge],
        tests=[{"stochastic": {"repeats": 2}}],
    )
    done = project.run("run", write_suite(project, suite), "--run-dir", "run")
    assert done.exit_code == 0, done.output
    with visit(browser, tmp_path / "run" / "report.html") as seen:
        assert seen.evaluate("document.querySelectorAll('.flip').length") > 5
        harmless(seen)
