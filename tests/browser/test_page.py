"""The page in a real browser: quiet, usable, readable (point 1)."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jrh_testing import Project
from support.browsing import DESKTOP, PHONE, refused, visit, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

UNFOLD = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
FOLDED = "document.querySelectorAll('details:not([open])').length"
LENSES = ("0", "1", "2")


@pytest.fixture
def page_file(run_dir: Path) -> Path:
    return run_dir / "report.html"


def test_nothing_is_said_asked_or_refused(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        seen.evaluate(UNFOLD)
        seen.page.wait_for_timeout(200)
        seen.assert_quiet()
        assert seen.page.title().startswith("Reliability report: ")


def test_the_policy_stops_what_the_page_did_not_bring(browser: Browser, page_file: Path) -> None:
    """The tests above prove something only if the policy is in force."""
    with visit(browser, page_file) as seen:
        seen.evaluate(
            """() => {
              const script = document.createElement("script");
              const style = document.createElement("div");
              style.setAttribute("style", "color: red");
              const image = document.createElement("img");
              image.src = "http://127.0.0.1:9/x.png";
              document.body.append(style, image);
              try { script.textContent = "window.pwned = 1"; document.body.append(script); } catch { /* refused */ }
            }"""
        )
        refused(seen, "img-src", "style-src-attr", "require-trusted-types-for")
        assert seen.evaluate("window.pwned") is None


def test_the_switch_changes_heat_maps_and_plots_together(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        for lens in LENSES:
            button = seen.page.locator(f"#section-judges-by-tests button[data-look='{lens}']")
            button.focus()
            seen.page.keyboard.press("Enter")
            assert button.get_attribute("aria-pressed") == "true"
            pressed = seen.page.locator("#section-judges-by-tests button[data-look][aria-pressed='true']")
            assert {each.get_attribute("data-look") for each in pressed.all()} == {lens}
            shown = seen.evaluate(
                "[...document.querySelectorAll('#section-judges-by-tests :is(table.heat, [data-lens] figure)')]"
                ".filter((each) => each.checkVisibility()).map((each) => each.closest('[data-lens]').dataset.lens)"
            )
            assert len(shown) > 1
            assert set(shown) == {lens}
        seen.assert_quiet()


def test_filters_and_search_leave_the_examples_that_fit(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        flips = "[...document.querySelectorAll('.flip')]"
        every = seen.evaluate(f"{flips}.length")
        assert every > 5
        assert seen.page.locator("#count").inner_text() == f"{every} of {every} examples match"
        for name in ("judge", "test", "stratum", "task"):
            value = seen.evaluate(f"{flips}.at(-1).dataset.{name}")
            fitting = seen.evaluate(f"{flips}.filter((each) => each.dataset.{name} === '{value}').length")
            seen.page.select_option(f"select[data-filter={name}]", value)
            shown = f"{flips}.filter((each) => each.checkVisibility())"
            assert seen.evaluate(f"{shown}.length") == fitting
            assert seen.evaluate(f"{shown}.every((each) => each.dataset.{name} === '{value}')")
            assert seen.page.locator("#count").inner_text() == f"{fitting} of {every} examples match"
            seen.page.click("#clear")
            assert seen.evaluate(f"{shown}.length") == every
        item = seen.evaluate(f"{flips}[0].querySelector('.where').textContent.split('item ')[1]")
        seen.page.fill("#search", item.upper())
        assert 0 < seen.evaluate(f"{shown}.length") < every
        assert seen.evaluate(f"{shown}.every((each) => each.textContent.includes({item!r}))")
        seen.page.fill("#search", "xyzzy plugh")
        assert seen.page.locator("#count").inner_text() == f"0 of {every} examples match"
        seen.assert_quiet()


def test_examples_unfold_and_show_both_texts_with_the_changes_marked(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        seen.page.click("#unfold")
        marked = seen.page.locator(".flip:has(del), .flip:has(ins)")
        assert marked.count() > 3
        texts = marked.first.locator(".sides").first.locator("pre")
        assert texts.count() == 2
        kept = [
            texts.nth(place).evaluate(
                "(node) => [...node.childNodes].filter((each) => each.nodeType === 3).map((each) => each.data).join('')"
            )
            for place in range(2)
        ]
        assert kept[0].split() == kept[1].split()
        look = marked.first.locator("ins, del").first.evaluate("(node) => getComputedStyle(node).textDecorationLine")
        assert look in {"underline", "line-through"}, "colour is the only mark"


def test_everything_is_reached_with_the_keyboard(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        seen.page.keyboard.press("Tab")
        assert seen.evaluate("document.activeElement.className") == "skip"
        assert seen.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
        reached = set()
        for _ in range(60):
            seen.page.keyboard.press("Tab")
            reached.add(
                seen.evaluate("document.activeElement.tagName + ':' + (document.activeElement.dataset.look || '')")
            )
            outline = seen.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
        assert {"A:", "BUTTON:0", "DIV:", "SUMMARY:"} <= reached


FURTHER = ("section-variance", "section-interactions", "section-panel", "section-stated-probabilities")


@pytest.mark.parametrize("key", FURTHER)
def test_the_further_sections_are_reached_from_the_contents_with_the_keyboard(
    browser: Browser, demo: Path, key: str
) -> None:
    with visit(browser, demo / "report.html", reduced_motion="reduce") as seen:
        seen.page.locator(f"nav a[href='#{key}']").focus()
        seen.page.keyboard.press("Enter")
        # The link unfolds its section a moment after the address has changed.
        unfolded = f"[...document.querySelectorAll('#{key} details.fold')].every((each) => each.open)"
        wait_until(seen.page, f"location.hash === '#{key}' && {unfolded}")
        top = seen.evaluate(f"document.querySelector('#{key}').getBoundingClientRect().top")
        assert 0 <= top < DESKTOP[1]
        seen.page.keyboard.press("Tab")
        if seen.evaluate("document.activeElement.tagName") == "SUMMARY":  # the link has unfolded the table
            seen.page.keyboard.press("Tab")
        assert seen.evaluate("document.activeElement.getAttribute('role')") == "region"
        assert seen.evaluate(f"document.querySelector('#{key}').contains(document.activeElement)")
        flags = seen.page.locator(f"#{key} > details summary").last
        flags.focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator(f"#{key} > details dt").first.is_visible()
        seen.assert_quiet()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_curves_and_tables_of_the_further_sections_are_there_without_scripts(
    browser: Browser, demo: Path, size: tuple[int, int]
) -> None:
    with visit(browser, demo / "report.html", size, java_script_enabled=False) as seen:
        for key in FURTHER:
            tables = seen.page.locator(f"#{key} table:visible")
            assert tables.count() > 2
            for caption in tables.locator("caption").all():
                box = caption.bounding_box()
                assert box is not None
                assert box["x"] + box["width"] <= size[0], "what a table is about does not end off the screen"
        curves = seen.page.locator("#section-stated-probabilities svg:visible")
        assert curves.count() == 4
        box = seen.page.locator("#section-stated-probabilities figure:visible").first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= size[0], "a wide curve scrolls in its figure"


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_page_is_as_wide_as_the_window(browser: Browser, page_file: Path, size: tuple[int, int]) -> None:
    with visit(browser, page_file, size) as seen:
        for script in ("0", UNFOLD):
            seen.evaluate(script)
            assert seen.evaluate("document.documentElement.scrollWidth") <= size[0]


LONG_NAME = "noisy-judge-" + "temperature" * 4 + "-2024-07-1"
OUTSIDE_THEIR_CELLS = """[...document.querySelectorAll('tbody th, thead th')].filter((cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  const box = cell.getBoundingClientRect();
  return [...text.getClientRects()].some((part) => part.left < box.left - 1 || part.right > box.right + 1);
}).map((cell) => cell.textContent)"""
BROKEN_INTO_LETTERS = """[...document.querySelectorAll('#answer .head')]
  .filter((name) => name.textContent.length > 10 && name.getBoundingClientRect().width < 80)"""


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run whose judges have names of 66 characters, with and without places to break."""
    project = Project(tmp_path_factory.mktemp("long"))
    judges = [{"name": name, "judge": "simulated", "accuracy": 0.8} for name in (LONG_NAME, "j" * 66)]
    task = {"instruction": "Which answer is better?", "scale": {"pairwise": True}}
    data = {"source": "examples", "dataset": "preference", "sample": {"n": 14, "seed": 7}}
    suite = {"name": "long", "tasks": [{"name": "preference", "data": data, "task": task}], "tests": ["option-order"]}
    project.write("suite.yaml", json.dumps({**suite, "judges": judges, "resamples": 100}))
    done = project.run("run", "suite.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    return project.path / "run" / "report.html"


@pytest.mark.parametrize("size", [PHONE, (1280, 800)], ids=["phone", "laptop"])
def test_a_long_judge_name_stays_in_its_cell(browser: Browser, long_names: Path, size: tuple[int, int]) -> None:
    assert len(LONG_NAME) == 66
    with visit(browser, long_names, size) as seen:
        seen.evaluate(UNFOLD)
        assert LONG_NAME in seen.page.locator("#answer tbody").first.inner_text()
        assert seen.evaluate(OUTSIDE_THEIR_CELLS) == []
        assert seen.evaluate(f"{BROKEN_INTO_LETTERS}.length") == 0


def test_the_answer_fits_one_screen(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        bottom = seen.evaluate("document.querySelector('#answer').getBoundingClientRect().bottom")
        assert bottom <= DESKTOP[1]


def test_a_screen_reader_finds_names_and_order(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file) as seen:
        seen.evaluate(UNFOLD)
        levels = seen.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((each) => Number(each.tagName[1]))")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        nameless = """[...document.querySelectorAll('button,select,input,summary,a')]
          .filter((each) => !(each.labels?.[0]?.textContent || each.textContent).trim()).length"""
        assert seen.evaluate(nameless) == 0
        for rule in (
            "table:not(:has(caption))",
            "thead th:not([scope=col])",
            "tbody th:not([scope=row])",
            "svg:not([role=img])",
            "[role=region]:not([aria-label])",
            "img:not([alt])",
            "[style]",
        ):
            assert seen.evaluate(f"document.querySelectorAll({rule!r}).length") == 0, rule
        named = (
            "[...document.querySelectorAll('svg')].filter((each) => !each.querySelector('title')?.textContent).length"
        )
        assert seen.evaluate(named) == 0
        repeated = """(() => { const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
          return ids.length - new Set(ids).size; })()"""
        assert seen.evaluate(repeated) == 0
        dangling = """[...document.querySelectorAll('[aria-labelledby]')]
          .flatMap((each) => each.getAttribute('aria-labelledby').split(' '))
          .filter((id) => !document.getElementById(id)).length"""
        assert seen.evaluate(dangling) == 0
        assert seen.evaluate("document.documentElement.lang") == "en"


CONTRAST = """() => {
  const light = (channel) => channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((each) => light(each / 255))
    .reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) { return colour; }
    }
    return parse(getComputedStyle(document.documentElement).backgroundColor);
  };
  const poor = [];
  const texts = "p,li,td span,th,a,button,label,summary,h1,h2,h3,h4,dd,dt,ins,del,pre,caption,text";
  for (const node of document.querySelectorAll(texts)) {
    if (!node.checkVisibility() || !node.textContent.trim()) { continue; }
    const style = getComputedStyle(node);
    const ink = node.tagName === "text" ? parse(style.fill) : parse(style.color);
    const behind = ground(node);
    const [high, low] = [luminance(ink), luminance(behind)].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) { poor.push(`${node.tagName}.${node.className} ${ink} on ${behind}`); }
  }
  return [...new Set(poor)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser: Browser, page_file: Path, scheme: str) -> None:
    """WCAG 2.2, success criterion 1.4.3: at least 4.5 to 1."""
    with visit(browser, page_file, color_scheme=scheme) as seen:
        brightness = seen.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
        assert (brightness > 200) == (scheme == "light")
        seen.evaluate(UNFOLD)
        for lens in LENSES:
            seen.page.click(f"#section-judges-by-tests button[data-look='{lens}']")
            assert seen.evaluate(CONTRAST) == []


def test_paper_has_the_answer_of_every_task_and_below_it_what_the_screen_shows(browser: Browser, demo: Path) -> None:
    shown = "[...document.querySelectorAll({!r})].filter((each) => each.checkVisibility()).length"
    with visit(browser, demo / "report.html") as seen:
        heats, folded = seen.evaluate(shown.format("table.heat")), seen.evaluate(FOLDED)
        assert heats == 1
        assert folded > 0
        pages = seen.page.pdf(prefer_css_page_size=True)
        assert 5 < len(re.findall(rb"/Type\s*/Page\b(?!s)", pages)) <= 15
        seen.page.emulate_media(media="print")
        assert seen.evaluate(shown.format("button, select, input, nav")) == 0
        assert seen.evaluate(shown.format("#answer [data-of]")) == 4
        assert seen.evaluate(shown.format(".paper")) == 1
        assert (seen.evaluate(shown.format("table.heat")), seen.evaluate(FOLDED)) == (heats, folded)
        seen.page.emulate_media(media="screen")
        assert seen.evaluate(shown.format(".paper")) == 0


def test_without_scripts_everything_is_there_and_no_control_is_dead(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file, java_script_enabled=False) as seen:
        assert seen.page.locator("table.heat:visible").count() == seen.page.locator("table.heat").count() > 2
        assert seen.page.locator(".flip:visible").count() > 5
        assert seen.page.locator("button:visible, select:visible, input:visible").count() == 0


def test_the_page_has_eleven_screens_before_details_are_opened(browser: Browser, demo: Path) -> None:
    with visit(browser, demo / "report.html") as seen:
        for tab in range(4):
            seen.page.locator(f"button[data-task-tab='{tab}']").click()
            assert seen.evaluate("document.documentElement.scrollHeight") <= 11 * DESKTOP[1]
        assert seen.page.locator("table.heat:visible").count() == 1
        assert seen.page.locator(".answer:visible").count() > 2


def test_links_and_cells_unfold_what_they_lead_to(browser: Browser, demo: Path) -> None:
    open_folds = "[...document.querySelectorAll('details.fold[open]')].map((each) => each.closest('section').id)"
    with visit(browser, demo / "report.html", reduced_motion="reduce") as seen:
        assert seen.evaluate(open_folds) == []
        seen.page.click("nav a[href='#section-false-verdicts']")
        seen.page.wait_for_selector("#section-false-verdicts table", state="visible")
        assert set(seen.evaluate(open_folds)) == {"section-false-verdicts"}
        buttons = seen.page.locator("td[data-cases] button.cases:visible")
        for place in range(buttons.count()):
            buttons.nth(place).click()
            focused = seen.evaluate("document.activeElement.closest('.flip')?.checkVisibility()")
            assert focused is True
        assert seen.evaluate("[...document.querySelectorAll('#more-flips .flip[open]')].length") > 0
        seen.assert_quiet()
        seen.page.goto("about:blank")
        seen.page.goto(f"{(demo / 'report.html').resolve().as_uri()}#audit")
        assert set(seen.evaluate(open_folds)) == {"audit"}
        assert 0 <= seen.evaluate("document.querySelector('#audit').getBoundingClientRect().top") < DESKTOP[1]


def test_one_task_is_shown_at_a_time_and_an_address_leads_to_it(browser: Browser, demo: Path) -> None:
    visible = "[...document.querySelectorAll('[data-of]')].filter((each) => each.checkVisibility())"
    shown = f"{visible}.map((each) => each.dataset.of)"
    with visit(browser, demo / "report.html") as seen:
        assert set(seen.evaluate(shown)) == {"0"}
        tab = seen.page.locator("button[data-task-tab='2']")
        tab.focus()
        seen.page.keyboard.press("Enter")
        assert set(seen.evaluate(shown)) == {"2"}
        assert seen.evaluate("location.hash") == "#task-2"
        seen.evaluate("location.hash = 'task-3'")
        seen.page.wait_for_selector("#task-3", state="visible")
        assert set(seen.evaluate(shown)) == {"3"}
        seen.page.locator("button[data-task-tab='']").click()
        assert set(seen.evaluate(shown)) == {"0", "1", "2", "3"}
        seen.assert_quiet()


def test_tables_are_sorted_and_a_cell_opens_the_cases_it_holds(browser: Browser, demo: Path) -> None:
    with visit(browser, demo / "report.html") as seen:
        table = seen.page.locator("table.heat:visible").first
        cells = table.locator("tbody tr td:nth-child(2) .e")
        table.locator("button.sort").nth(1).click()
        up = [float(text) for text in cells.all_inner_texts()]
        table.locator("button.sort").nth(1).click()
        down = [float(text) for text in cells.all_inner_texts()]
        assert len(set(up)) > 1
        assert (up, down) == (sorted(up), sorted(down, reverse=True))
        assert table.locator("thead th").nth(1).get_attribute("aria-sort") == "descending"
        button = seen.page.locator("td[data-cases] button.cases:visible").first
        counts = re.fullmatch(r"([\d,]+) of ([\d,]+) fails?, (\d+) shown", button.inner_text())
        assert counts is not None
        failed, compared, number = (int(count.replace(",", "")) for count in counts.groups())
        assert 0 < number <= failed <= compared
        wanted = button.locator("xpath=..").get_attribute("data-cases")
        button.click()
        places = "(each) => [each.dataset.judge, each.dataset.task, each.dataset.test].join(' ')"
        left = seen.evaluate(f"[...document.querySelectorAll('.flip')].filter((each) => !each.hidden).map({places})")
        assert left == [wanted] * number
        assert seen.evaluate("document.activeElement.closest('.flip') !== null")
        # The address holds the filters: it shows the same cases to somebody else.
        address = seen.page.url
        assert "#flips?judge=" in address
        seen.page.goto("about:blank")
        seen.page.goto(address)
        assert (
            seen.evaluate(f"[...document.querySelectorAll('.flip')].filter((each) => !each.hidden).map({places})")
            == left
        )
        seen.page.click("#clear")
        assert seen.page.url.endswith("#flips")
        seen.assert_quiet()


def test_a_finding_leads_to_its_cases_and_a_term_is_explained_when_it_is_focused(browser: Browser, demo: Path) -> None:
    with visit(browser, demo / "report.html") as seen:
        place = seen.page.locator("#found li[data-cases]:has(button.cases:visible)").first
        wanted = place.get_attribute("data-cases")
        place.locator("button.cases").click()
        assert seen.evaluate("document.activeElement.closest('.flip').dataset.judge") == (wanted or "").split()[0]
        assert "test=" in seen.page.url
        term = seen.page.locator("abbr[title]:visible").first
        term.focus()
        explained = "getComputedStyle(document.activeElement, '::after').content"
        assert seen.evaluate(explained).strip('"') == term.get_attribute("title")


def test_on_a_phone_the_answer_is_read_without_moving_it_sideways(browser: Browser, demo: Path) -> None:
    over = "[...document.querySelectorAll('#answer .scroll')].map((each) => each.scrollWidth - each.clientWidth)"
    with visit(browser, demo / "report.html", PHONE) as seen:
        assert set(seen.evaluate(over)) == {0}
        first = seen.page.locator("#answer tbody tr").first
        named = first.locator("td:visible").first.evaluate("(cell) => getComputedStyle(cell, '::before').content")
        assert re.fullmatch('"(use for|not for|undecided|next step): "', named)


def test_no_column_is_clipped_on_a_desk_or_on_paper_and_the_page_is_small(
    browser: Browser, demo: Path, essays: Path
) -> None:
    assert (demo / "report.html").stat().st_size < 3_000_000
    with visit(browser, demo / "report.html") as seen:
        wide = "[...document.querySelectorAll('table.heat')].filter((each) => each.checkVisibility())"
        over = "(each) => each.closest('.scroll').scrollWidth - each.closest('.scroll').clientWidth"
        seen.page.locator("button[data-task-tab='']").click()
        assert set(seen.evaluate(f"{wide}.map({over})")) == {0}
    with visit(browser, essays / "report.html") as seen:  # unfolded, the demo's page takes half a minute
        seen.evaluate(UNFOLD)
        seen.page.emulate_media(media="print")
        seen.page.set_viewport_size({"width": 1047, "height": 720})  # A4 landscape without its margins
        wait_until(seen.page, "innerWidth === 1047")
        ends = seen.evaluate(
            "[...document.querySelectorAll('table')].map((each) => each.getBoundingClientRect().right)"
        )
        assert len(ends) > 20
        assert max(ends) <= 1047
