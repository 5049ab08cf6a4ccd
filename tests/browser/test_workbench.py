"""The workbench in a real browser: from a cell to its cases and back, quiet, readable, and deaf to hostile texts."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from jrh.text import visible_text
from support.browsing import Visit, follow, refused
from support.stored import Made
from support.workbench import PROVOKE, TEXTS, TOGETHER, Bench, blemishes, hostile, look, tabbed, workbench

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def plain(kind: str, number: int) -> str:
    said = ': "Response  5." is "not said anywhere"' if kind == "rationale" else ""
    return f"{kind} {number}{said}"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("workbench")
    Made(items=12, text=plain).write(folder / "first")
    Made(items=60, text=plain).write(folder / "second")
    with workbench(folder) as found:
        yield found


PAGES = {
    "start": "/",
    "run": "/run/first",
    "cases": "/run/second/cases?right=no&sort=right",
    "nothing": "/run/first/cases?search=xyzzy",
    "case": "/run/first/case/case-2-5",
    "item": "/run/first/item?task=task+0&item=item+5",
    "choose": "/compare",
    "compare": "/compare?a=first&b=second",
    "missing": "/run/first/case/none",
}


def test_from_a_cell_to_its_cases_to_a_case_to_its_item_and_back_by_address(browser: Browser, bench: Bench) -> None:
    with look(browser, bench) as seen:
        page = seen.page
        assert "once" not in page.url
        follow(page.get_by_role("link", name="first", exact=True))
        cell = page.locator("table.heat tbody tr:nth-child(2) td:nth-child(4) a")
        assert "0.60" in cell.inner_text()
        follow(cell)
        assert page.locator("#total").inner_text().startswith("12 rows")
        assert set(page.locator("#list tbody td:nth-child(2)").all_inner_texts()) == {"judge 1"}
        assert set(page.locator("#list tbody td:nth-child(3)").all_inner_texts()) == {"test 2"}
        expected = [float(text) for text in page.locator("#list tbody td:nth-child(7)").all_inner_texts()]
        assert expected == sorted(expected), "those that make the cell bad come first"
        listed = page.url
        follow(page.locator("#list tbody th a").first)
        assert page.locator("ins").all_inner_texts() != []
        follow(page.get_by_role("link", name="under all conditions"))
        assert page.locator("table.list tbody tr").count() == 4
        page.go_back()
        follow(page.get_by_role("link", name="Cases"))
        assert page.url == listed, "the whole view is in the address"
        seen.assert_quiet()


def test_a_filter_a_search_and_the_next_page_are_in_the_address(browser: Browser, bench: Bench) -> None:
    with look(browser, bench) as seen:
        page = seen.page
        page.goto(f"{bench.base}/run/second/cases")
        page.get_by_label("Judge").select_option("judge 0")
        page.get_by_label("Right").select_option("no")
        follow(page.get_by_role("button", name="Filter"))
        assert "judge=judge+0&right=no" in page.url
        assert "search" not in page.url
        assert {float(text) <= 0.5 for text in page.locator("#list tbody td:nth-child(6)").all_inner_texts()} == {True}
        page.goto(f"{bench.base}/run/second/cases?sort=item")
        first = page.locator("#list tbody tr").all_inner_texts()
        follow(page.get_by_role("link", name="Next 100"))
        assert set(page.locator("#list tbody tr").all_inner_texts()) - set(first)
        again = page.url
        rows = page.locator("#list tbody tr").all_inner_texts()
        page.goto(f"{bench.base}/")
        page.goto(again)
        assert page.locator("#list tbody tr").all_inner_texts() == rows
        page.get_by_label("Text or item id").fill("response 17")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert set(page.locator("#list tbody th").all_inner_texts()) == {"item 17"}
        seen.assert_quiet()


def test_axe_finds_nothing_on_any_page_and_the_keyboard_gets_everywhere_and_out(browser: Browser, bench: Bench) -> None:
    """At both sizes, light and dark."""
    with look(browser, bench) as seen:
        for name, path in PAGES.items():
            seen.page.goto(f"{bench.base}{path}")
            # Rows of a kind are alike, and a hundred of them took most of the time of this test.
            seen.evaluate("document.querySelectorAll('#list tbody tr:nth-child(n+5)').forEach((each) => each.remove())")
            assert tabbed(seen) == [], name
            seen.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert blemishes(seen) == [], name
        seen.page.context.clear_cookies()
        seen.page.goto(f"{bench.base}/")
        assert "401" in seen.page.title()
        assert blemishes(seen) == [], "without a session"
        assert seen.asked == []


def test_a_quote_of_a_judge_leads_to_its_place_in_the_text(browser: Browser, bench: Bench) -> None:
    with look(browser, bench) as seen:
        seen.page.goto(f"{bench.base}{PAGES['case']}")
        before = seen.page.locator("#verdicts").inner_text()
        assert set(seen.page.locator("button.quote").all_text_contents()) == {"Response  5."}
        seen.page.locator("button.quote:visible").first.click()
        assert seen.evaluate("getSelection().toString()") == "response 5"
        assert seen.evaluate("document.activeElement.tagName") == "PRE"
        assert seen.evaluate("getSelection().getRangeAt(0).startContainer.parentElement.closest('.sides') !== null")
        assert seen.page.locator("#verdicts").inner_text() == before
        seen.assert_quiet()


def test_every_table_is_copied_as_csv_with_the_numbers_of_a_heat_map_in_columns(browser: Browser, bench: Bench) -> None:
    def copied(path: str) -> list[list[str]]:
        seen.page.goto(f"{bench.base}{path}")
        seen.page.get_by_role("button", name="Copy as CSV").click()
        seen.page.get_by_role("button", name="Copied").wait_for()
        return list(csv.reader(seen.evaluate("navigator.clipboard.readText()").splitlines()))

    with look(browser, bench, permissions=["clipboard-read", "clipboard-write"]) as seen:
        rows = copied(PAGES["run"])
        assert rows[0] == ["Judge", "Test", "Estimate", "Interval", "Notes"]
        assert rows[1] == [
            "judge 0",
            "reference",
            "0.60",
            "[0.20, 0.80]",
            "12 items; 2 verdicts missing; refused 2; 0.10 to 0.90",
        ]
        assert len(rows) == 1 + 2 * 4
        rows = copied(PAGES["compare"])
        assert rows[0][:4] == ["Judge", "Test", "Run", "Estimate"]
        assert [row[2] for row in rows[1:3]] == ["first", "second"]
        assert copied(PAGES["item"])[1][:2] == ["reference", ""]
        assert copied(PAGES["case"])[1][0] == "judge 0"
        assert len(copied(PAGES["cases"])) > 10
        seen.assert_quiet()


def test_without_scripts_everything_is_there(browser: Browser, bench: Bench) -> None:
    with look(browser, bench, java_script_enabled=False) as seen:
        seen.page.goto(f"{bench.base}{PAGES['cases']}")
        seen.page.get_by_label("Moved").select_option("yes")
        follow(seen.page.get_by_role("button", name="Filter"))
        assert "moved=yes" in seen.page.url
        assert seen.page.locator("button:visible").all_inner_texts() == ["Filter"]


def test_the_policy_is_in_force(browser: Browser, bench: Bench) -> None:
    """The hostile texts prove something only if it is."""
    with look(browser, bench) as seen:
        seen.evaluate(
            """() => {
              const style = document.createElement("div");
              style.setAttribute("style", "color: red");
              const image = document.createElement("img");
              image.src = "http://127.0.0.1:9/x.png";
              document.body.append(style, image);
              const script = document.createElement("script");
              try { script.textContent = "window.pwned = 1"; document.body.append(script); } catch { /* refused */ }
            }"""
        )
        refused(seen, "img-src", "style-src-attr", "require-trusted-types-for")
        assert seen.evaluate("window.pwned") is None


def test_no_text_of_a_run_becomes_code_on_any_page(browser: Browser, tmp_path: Path) -> None:
    items = len(TEXTS) // TOGETHER + 1
    name = "<img src=x onerror=window.pwned=1>&amp;%2e%2e"
    Made(items=items, tests=1, judges=1, repeats=1, text=hostile).write(tmp_path / name)
    with workbench(tmp_path) as bench, look(browser, bench) as seen:
        page = seen.page
        shown = [_harmless(seen)]
        follow(page.locator("article h2 a"))
        shown.append(_harmless(seen))
        follow(page.get_by_role("link", name="All cases"))
        shown.append(_harmless(seen))
        cases = page.evaluate("[...document.querySelectorAll('#list tbody th a')].map((each) => each.href)")
        assert len(cases) == 2 * items
        for address in cases[items:]:  # the perturbed ones, which show both texts
            page.goto(address)
            shown.append(_harmless(seen))
        for query in ("search", "rationale", "task", "judge", "variant", "sort", "after"):
            page.goto(f"{cases[0].partition('/case/')[0]}/cases?{urlencode({query: TEXTS[0]})}")
            _harmless(seen)
        page.goto(cases[0])
        follow(page.get_by_role("link", name="under all conditions"))
        shown.append(_harmless(seen))
        for query in ({}, {"a": TEXTS[0], "b": name}, {"a": name, "b": name, "task": TEXTS[0], "lens": TEXTS[0]}):
            page.goto(f"{bench.base}/compare?{urlencode(query)}")
            assert visible_text(name) in _harmless(seen)
        every = "".join("".join(shown).split())
        assert [text for text in TEXTS if "".join(visible_text(text).split()) not in every] == []


def _harmless(seen: Visit) -> str:
    """Provoke a page, fail where anything ran or left, and return its text."""
    seen.evaluate(PROVOKE)
    seen.assert_quiet()
    assert seen.evaluate("typeof window.pwned") == "undefined"
    scripts = seen.evaluate("[...document.querySelectorAll('script')].map((each) => each.getAttribute('src'))")
    assert scripts in (["/static/page.js"], ["/static/page.js", "/static/quotes.js"])
    assert (
        seen.evaluate(
            """[...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames())
              .filter((name) => name.startsWith('on') || ['style', 'srcset', 'srcdoc'].includes(name))"""
        )
        == []
    )
    links = seen.evaluate(
        """[...document.querySelectorAll('[href], [src], [action]')].map((each) =>
          each.getAttribute('href') ?? each.getAttribute('src') ?? each.getAttribute('action'))"""
    )
    assert all(link == "#main" or (link.startswith("/") and not link.startswith("//")) for link in links)
    text: str = seen.evaluate("document.documentElement.textContent")
    return text
