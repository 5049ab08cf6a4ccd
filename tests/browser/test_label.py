"""Label in a real browser: by keyboard alone, by two people, with the server killed in the middle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jrh import Item, Scale, Task, read_items
from jrh_review.labelling import LabelDesk, label_desk
from jrh_review.pages.label import Labelling
from jrh_review.person_labels import LabelAction, PersonLabel
from support.browsing import follow, wait_until
from support.workbench import PROVOKE, TEXTS, TOGETHER, blemishes, look, served, tabbed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ITEMS = 20
SCREENS = ITEMS + 2
SUITE = """
name: labels
data: {source: jsonl, path: items.jsonl}
task: {instruction: Is it right?, rubric: "YES: right", scale: {labels: ["YES", "NO"]}}
judges: [{judge: simulated}]
"""


@contextmanager
def program(suite: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `jrh label` for two people as a user does, and kill it as the system does."""
    command = [sys.executable, "-m", "jrh", "label", str(suite), "--name", "Ann", "--name", "Ben"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def entered(page: Page, address: str, name: str) -> None:
    page.goto(address)
    page.get_by_label("Name").select_option(name)
    follow(page.get_by_role("button", name="Label"))


def shown(page: Page, place: int) -> str:
    """Return the text of the item in a place, once it is in sight."""
    page.wait_for_selector(f"#label[data-shown='{place}']")
    return page.locator("#parts section", has_text="response").locator("pre").inner_text()


def press(page: Page, first: int, last: int) -> None:
    """Label screens by their keys: even items are right."""
    for place in range(first, last):
        even = int(shown(page, place).split()[-1]) % 2 == 0
        page.keyboard.press("1" if even else "2")


def done(page: Page, number: int) -> None:
    page.wait_for_selector(f"#progress:text(', {number} done')")
    page.wait_for_selector("#saved:text-is('saved')")


def test_two_people_label_twenty_items_by_keyboard_and_a_killed_server_loses_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    lines = (f'{{"id": "item-{n}", "request": "q", "response": "answer {n}"}}\n' for n in range(ITEMS))
    (tmp_path / "items.jsonl").write_text("".join(lines))
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    said: list[str] = []
    windows = [browser.new_context().new_page() for _ in range(3)]
    ann, ben, again = windows
    for page in windows:
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: said.append(str(error)))
    with program(suite) as (process, address):
        entered(ann, address, "Ann")
        press(ann, 0, 8)
        shown(ann, 8)
        ann.keyboard.press("s")
        shown(ann, 9)
        ann.keyboard.press("?")
        assert ann.locator("#help").is_visible()
        ann.keyboard.press("u")  # takes the skip back and shows the item
        shown(ann, 8)
        done(ann, 8)
        ann.keyboard.press("k")
        shown(ann, 7)
        assert ann.locator("#choices [aria-pressed=true]").count() == 1
        ann.keyboard.press("j")
        shown(ann, 8)
        assert "min left" in ann.locator("#left").inner_text()
        assert process.stderr is not None
        next_one = next(line for line in process.stderr if "another browser" in line).split()[-1]
        entered(ben, next_one, "Ben")
        press(ben, 0, SCREENS)
        done(ben, SCREENS)
        assert ben.locator("#left").inner_text() == "all done"
        process.kill()
        process.wait()
        ann.keyboard.press("1")  # nobody saves this one
        ann.wait_for_selector("#trouble:has-text('Not saved')")
        shown(ann, 8)
    with program(suite) as (_, address):
        entered(again, address, "Ann")
        shown(again, 8)
        assert again.locator("#progress").inner_text() == f"item 9 of {SCREENS}, 8 done"
        press(again, 8, SCREENS)
        done(again, SCREENS)
    for page in windows:
        page.context.close()
    assert said == []
    _check(suite)


def _check(suite: Path) -> None:
    with label_desk(suite.with_name("suite.labels.jsonl")) as desk:
        desk.read(read_items(suite))
        labels = desk.labels()
    assert len(labels) == 2 * SCREENS
    assert {each.labeller for each in labels} == {"Ann", "Ben"}
    assert sum(each.again for each in labels) == 4
    assert all(_right(each) for each in labels)


def _right(label: PersonLabel) -> bool:
    even = int(label.item_id.partition("-")[2]) % 2 == 0
    return label.action is LabelAction.LABEL and label.label == ("YES" if even else "NO")


@pytest.fixture
def hostile_desk(tmp_path: Path) -> Iterator[LabelDesk]:
    """Return items whose texts, names and task are payloads; every payload is in some item."""
    parts = [TEXTS[start : start + TOGETHER] for start in range(0, len(TEXTS), TOGETHER)]
    items = [Item(id=f"{n}", fields={"request": TEXTS[n], "response": "\n".join(each)}) for n, each in enumerate(parts)]
    task = Task(name=TEXTS[0], instruction=TEXTS[1], rubric="\n".join(TEXTS[:40]), scale=Scale.of_labels(*TEXTS[2:5]))
    with label_desk(tmp_path / "labels.jsonl") as desk:
        desk.read([(task, items)])
        yield desk


def test_no_text_of_an_item_becomes_code_and_axe_finds_nothing(browser: Browser, hostile_desk: LabelDesk) -> None:
    here = Labelling(suite=TEXTS[5], desk=hostile_desk, names=("Ann", "Ben"))
    with served(work=here) as bench, look(browser, bench) as seen:
        page = seen.page
        assert (tabbed(seen), blemishes(seen)) == ([], [])
        page.get_by_label("Name").select_option("Ann")
        follow(page.get_by_role("button", name="Label"))
        number = len(here.screens("Ann"))
        for place in range(number):
            shown(page, place)
            seen.evaluate(PROVOKE)
            page.keyboard.press("1")
        page.wait_for_selector("#saved:text-is('saved')")
        page.keyboard.press("?")
        assert (tabbed(seen), blemishes(seen)) == ([], [])
        page.keyboard.press("Escape")
        assert page.locator("#help").is_hidden()
        page.locator("#choices button").first.press("Enter")  # of the last item: its buttons are drawn anew
        wait_until(page, "document.activeElement.id === 'title'")
        page.wait_for_selector("#saved:text-is('saved')")
        seen.assert_quiet()
    assert {each.label for each in hostile_desk.labels()} == {TEXTS[2]}
