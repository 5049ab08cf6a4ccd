"""Review in a real browser: by keyboard alone, with the server killed in the middle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jrh_review.desk import review_desk
from support.browsing import Visit, follow
from support.stored import Made
from support.workbench import PROVOKE, blemishes, hostile, look, tabbed, workbench

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ITEMS = 10


@contextmanager
def served(run_dir: Path, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `jrh review` as a user does, and kill it as the system does."""
    command = [sys.executable, "-m", "jrh", "review", str(run_dir), "--reviewer", "Ann", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def wait_for(page: Page, case: str) -> None:
    page.wait_for_selector(f"#review[data-shown='{case}']")


def saved(page: Page) -> None:
    page.wait_for_selector("#saved:text-is('saved')")


def decided(page: Page, number: int) -> None:
    page.wait_for_selector(f"#progress:text('{number} decided')")


def turn_the_diff(page: Page) -> None:
    """Show both texts in one, also in the next case, and side by side again."""
    sides = page.locator("#parts .sides pre").all_inner_texts()
    page.keyboard.press("d")
    page.wait_for_selector("#parts > section > pre")
    pieces = "(node) => [...node.childNodes].map((each) => [each.nodeName, each.textContent])"
    whole = page.locator("#parts pre").evaluate(pieces)
    assert "".join(text for kind, text in whole if kind != "INS") == sides[0]
    assert "".join(text for kind, text in whole if kind != "DEL") == sides[1]
    page.keyboard.press("j")
    wait_for(page, "case-1-1")
    assert page.locator("#parts .sides").count() == 0
    page.keyboard.press("d")
    page.wait_for_selector("#parts .sides")
    page.keyboard.press("k")
    wait_for(page, "case-1-0")


def choose_other_keys(page: Page) -> None:
    """A key is changed, works, is refused where another action has it, and is changed back."""
    page.click("#keys summary")
    page.get_by_label("next", exact=True).fill("n")
    page.get_by_role("button", name="Use these keys").click()
    page.wait_for_selector("[data-key='j'] kbd:text-is('n')")
    page.locator("#case-title").focus()
    page.keyboard.press("j")
    page.keyboard.press("n")
    wait_for(page, "case-1-1")
    page.keyboard.press("k")
    wait_for(page, "case-1-0")
    page.get_by_label("accept", exact=True).fill("r")
    page.get_by_role("button", name="Use these keys").click()
    page.wait_for_selector('#keys-said:has-text(\'cannot be both "accept" and "reject"\')')
    assert page.locator("[data-key='a'] kbd").inner_text() == "a"
    page.get_by_role("button", name="Restore the default keys").click()
    page.wait_for_selector("[data-key='j'] kbd:text-is('j')")
    page.locator("#case-title").focus()


def review_five(page: Page) -> None:
    """Accept, reject, edit, skip, accept and undo, go on and back: no hand leaves the keyboard."""
    keys = page.keyboard
    wait_for(page, "case-1-0")
    assert page.locator("ins").all_inner_texts() != []
    turn_the_diff(page)
    keys.press("?")
    assert page.locator("#help").is_visible()
    choose_other_keys(page)
    keys.press("a")
    wait_for(page, "case-1-1")
    keys.press("r")
    keys.type("as jerky as sea, rude")  # holds every key; none does anything while one types
    keys.press("Enter")
    wait_for(page, "case-1-2")
    keys.press("e")
    page.wait_for_selector("#editing textarea")
    keys.press("Control+A")
    keys.type("ears <b>are</b> sea")
    keys.press("Tab")
    keys.type("the verdict is NO")
    keys.press("Control+Enter")
    wait_for(page, "case-1-3")
    keys.press("s")
    wait_for(page, "case-1-4")
    keys.press("a")
    wait_for(page, "case-1-5")
    keys.press("u")
    wait_for(page, "case-1-4")
    saved(page)
    decided(page, 3)
    keys.press("j")
    keys.press("k")
    wait_for(page, "case-1-4")


def check_log(run_dir: Path) -> None:
    with review_desk(run_dir) as desk:
        log = {case: [each.action.value for each in review.log] for case, review in desk.reviews().items()}
        edit = desk.review("case-1-2").outcome
        rejected = desk.review("case-1-1").outcome
    assert [log[f"case-1-{n}"] for n in range(6)] == [
        *(["accept"], ["reject"], ["edit"], ["skip"], ["accept", "undo", "accept"], ["accept"])
    ]
    assert edit is not None
    assert edit.before == {"response": "response 2 change 3"}
    assert edit.after == {"response": "ears <b>are</b> sea"}
    assert (edit.expected_before, edit.expected_after) == ("same", "=NO")
    assert rejected is not None
    assert rejected.reason == "as jerky as sea, rude"


def test_cases_are_reviewed_by_keyboard_and_a_killed_server_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    run_dir = Made(items=ITEMS, tests=1).write(tmp_path / "run")
    said: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    keys = page.keyboard
    with served(run_dir) as (process, address):
        page.goto(address)
        review_five(page)
        process.kill()
        process.wait()
        keys.press("a")  # nobody saves this one
        page.wait_for_selector("#trouble:has-text('Not saved')")
        assert page.locator("#saved").inner_text() == "not saved"
        wait_for(page, "case-1-4")
    with served(run_dir) as (_, address):
        page.goto(address)
        wait_for(page, "case-1-4")
        assert page.locator("#progress").inner_text() == f"case 5 of {ITEMS}, 3 decided"
        assert page.locator("#left").inner_text() == "6 left"
        for place in range(4, ITEMS):
            wait_for(page, f"case-1-{place}")
            keys.press("a")
        decided(page, 9)
        saved(page)
        page.wait_for_selector("#left:text-is('all done')")
        follow(page.get_by_role("link", name="Summary"))
        assert page.locator("#review-shares tbody td").nth(2).inner_text() == "9"
    context.close()
    assert said == []
    check_log(run_dir)


def test_what_is_typed_survives_a_reload_and_a_killed_server(browser: Browser, tmp_path: Path) -> None:
    run_dir = Made(items=3, tests=1).write(tmp_path / "run")
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    with served(run_dir) as (process, address):
        page.goto(address)
        wait_for(page, "case-1-0")
        # What the judge is asked is one press away, and stays open on the next case.
        scale = page.locator("#context details:has(summary:text-is('scale'))")
        scale.locator("summary").press("Enter")
        scale.locator("pre").wait_for()  # visible: only then does the page know that it is open
        page.keyboard.press("j")
        wait_for(page, "case-1-1")
        scale.locator("pre").wait_for()
        assert scale.locator("pre").inner_text() == "YES, NO"
        page.keyboard.press("k")
        wait_for(page, "case-1-0")
        page.keyboard.press("e")
        page.wait_for_selector("#editing textarea")
        page.keyboard.press("Control+A")
        page.keyboard.type("typed by hand")
        page.reload()
        page.wait_for_selector("#editing textarea")
        assert asked == ["beforeunload"]
        assert page.locator("#editing textarea").input_value() == "typed by hand"
        page.keyboard.press("Escape")  # closes the form, and keeps the draft for the next one
        page.keyboard.press("e")
        page.wait_for_selector("#editing textarea")
        process.kill()
        process.wait()
        page.wait_for_selector("#connection:has-text('Connection lost, retrying')")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#trouble:has-text('Not saved')")
        wait_for(page, "case-1-0")
        page.wait_for_selector("#editing textarea")
        assert page.locator("#editing textarea").input_value() == "typed by hand"
    context.close()


def come_in(seen: Visit, name: str) -> Page:
    """Choose who reviews in this browser."""
    seen.page.set_default_timeout(10_000)
    seen.page.get_by_label("Name").select_option(name)
    follow(seen.page.get_by_role("button", name="Review"))
    seen.page.wait_for_selector("#review[data-shown]")
    return seen.page


def test_two_reviewers_are_blind_until_both_decided_and_a_third_decision_settles(
    browser: Browser, tmp_path: Path
) -> None:
    run_dir = Made(items=2, tests=1).write(tmp_path / "run")
    with workbench(run_dir, reviewers=("Ann", "Ben")) as bench, look(browser, bench) as one:
        ann = come_in(one, "Ann")
        ann.keyboard.press("r")
        ann.keyboard.type("secret of Ann")
        ann.keyboard.press("Enter")
        saved(ann)
        with look(browser, bench) as other:
            ben = come_in(other, "Ben")
            wait_for(ben, "case-1-0")
            assert "secret of Ann" not in ben.content()
            ben.keyboard.press("a")
            saved(ben)
            ben.keyboard.press("k")
            wait_for(ben, "case-1-0")
            ben.wait_for_selector("#decided:has-text('Ann: reject · secret of Ann')")
            assert ben.locator("#progress").inner_text() == "case 1 of 2, 0 decided", "a conflict counts once"
            assert ben.locator("#left").inner_text() == "2 left"
            assert blemishes(other) == [], "a conflict"
            with look(browser, bench) as listed:
                follow(come_in(listed, "Ann").get_by_role("link", name="Summary"))
                assert listed.page.locator("section:has(#conflicts) a").count() == 1
                assert (tabbed(listed), blemishes(listed)) == ([], []), "a list of conflicts"
            ben.keyboard.press("a")
            wait_for(ben, "case-1-1")
            saved(ben)
            ben.keyboard.press("k")
            ben.wait_for_selector("#decided:has-text('Settled by Ben: accept')")
            follow(one.page.get_by_role("link", name="Summary"))
            assert one.page.locator("#review-shares tbody td").nth(2).inner_text() == "1"
            other.assert_quiet()
        one.assert_quiet()
    with review_desk(run_dir) as desk:
        review = desk.review("case-1-0")
    assert [(each.reviewer, each.action.value, each.settles) for each in review.log] == [
        ("Ann", "reject", False),
        ("Ben", "accept", False),
        ("Ben", "accept", True),
    ]


def test_axe_finds_nothing_on_the_pages_of_a_review_and_escape_closes_what_a_key_opened(
    browser: Browser, tmp_path: Path
) -> None:
    """At both sizes, light and dark; the focus is never lost with what it stood in."""
    run_dir = Made(items=2, tests=1).write(tmp_path / "run")
    focus = "document.activeElement.id || document.activeElement.dataset.key"
    with workbench(run_dir, reviewers=("Ann", "Ben")) as bench, look(browser, bench) as seen:
        assert (tabbed(seen), blemishes(seen)) == ([], []), "who"
        page = come_in(seen, "Ann")
        page.keyboard.press("?")
        page.get_by_text("Change the keys").click()
        assert (tabbed(seen), blemishes(seen)) == ([], []), "case, with help"
        page.get_by_label("accept", exact=True).focus()
        page.keyboard.press("Escape")
        assert page.locator("#help").is_hidden()
        assert seen.evaluate(focus) == "?"
        for key, form, field in (("r", "#rejecting", "#reason"), ("e", "#editing", "#editing textarea")):
            page.keyboard.press(key)
            page.wait_for_selector(field)
            assert (tabbed(seen), blemishes(seen)) == ([], []), form
            page.locator(field).focus()
            page.keyboard.press("Escape")
            assert page.locator(form).is_hidden()
            assert seen.evaluate(focus) == "case-title"
        page.goto(f"{bench.base}/review/summary")
        assert (tabbed(seen), blemishes(seen)) == ([], []), "summary"
        seen.assert_quiet()


def test_payloads_in_every_text_and_name_are_shown_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    run_dir = Made(items=14, tests=1, judges=1, repeats=1, text=hostile).write(tmp_path / "run")
    name = "<img src=x onerror=alert(1)>"
    with workbench(run_dir, reviewers=(name, "Ben")) as bench, look(browser, bench) as seen:
        page = come_in(seen, name)
        for number in range(1, 15):
            wait_for(page, f"case-1-{number - 1}")  # what is saved may be sooner than the next case
            seen.evaluate(PROVOKE)
            page.keyboard.press("e")
            page.wait_for_selector("#editing textarea")
            page.locator("#editing textarea").first.press("End")
            page.keyboard.type("<script>alert(2)</script>")
            page.keyboard.press("Control+Enter")
            decided(page, number)
            saved(page)
        saved(page)
        page.goto(f"{bench.base}/review/summary")
        seen.evaluate(PROVOKE)
        seen.assert_quiet()
