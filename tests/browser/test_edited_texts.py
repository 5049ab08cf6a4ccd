"""A transcript and a prompt template that a person edits: what the next run asks, and the verdicts it reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import TYPE_CHECKING, Any

import pytest
from jrh_review.desk import review_desk
from jrh_testing import ChatServer, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import query
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite
from support.workbench import blemishes, look, tabbed, workbench

from .test_review import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROLES = ("user", "assistant", "tool")
LAST = "transcript, message 4 (assistant)"
MINE = "typed <img src=x onerror=alert(1)> by Ann"
SHORT = "{{ request }}\n{{ response }}\nYES or NO?"
LONG = "Is this right?\n{{ request }}\n{{ response }}\nAnswer YES or NO."


def answer(body: dict[str, Any]) -> str:
    """Answer as a judge that sees what Ann typed."""
    return "NO" if MINE in str(body["messages"]) else "YES"


def messages(number: int) -> list[dict[str, Any]]:
    call = {"id": "c", "name": "get_order", "arguments": {"order": number}}
    return [
        {"role": "user", "content": f"Where is order {number}?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "shipped", "tool_call_id": "c", "name": "get_order"},
        {"role": "assistant", "content": f"I looked.\n\nIt was shipped: {number}. You're welcome, and don't worry."},
    ]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, ChatServer]]:
    """Run a suite over transcripts and over answers, whose prompt template is paraphrased."""
    project = Project(tmp_path_factory.mktemp("edited"), env={KEY_VARIABLE: KEY})
    write_items(project, 2)
    agents = [{"id": f"run-{n}", "request": "", "transcript": messages(n), "label": LABELS[0]} for n in range(2)]
    project.write("agents.jsonl", "\n".join(map(json.dumps, agents)))
    scale = {"labels": list(LABELS)}
    templates = {"long": {"text": LONG, "tasks": ["answers"]}, "short": {"text": SHORT, "tasks": ["answers"]}}
    with ChatServer(answer) as server:
        made = llm_suite(
            openai_http(server.url),
            tasks=[
                {
                    "name": "agents",
                    "data": {"source": "jsonl", "path": "agents.jsonl"},
                    "task": {"mode": "transcript", "rubric": "The agent helps.", "scale": scale},
                },
                {
                    "name": "answers",
                    "data": {"source": "jsonl", "path": "items.jsonl"},
                    "task": {"instruction": "Is the answer right?", "scale": scale},
                },
            ],
            tests=["agent-style", {"templates": {"templates": templates}}],
        )
        write_suite(project, {key: value for key, value in made.items() if key not in ("data", "task")})
        run(project)
        yield project, server


def run(project: Project) -> None:
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output


def cases_of(run_dir: Path, test: str, item: str) -> list[str]:
    """Return the cases of an item, in the order of the queue."""
    with review_desk(run_dir) as desk:
        return [case.case_id for case in desk.make_queue(None) if (case.test, case.item_id) == (test, item)]


def open_case(page: Page, base: str, case: str) -> None:
    page.goto(f"{base}/review?case={case}")
    page.wait_for_selector(f"#review[data-shown='{case}']")


def write(page: Page, text: str) -> None:
    """Replace the text of the box that has the focus."""
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def edit_a_message_while_the_server_is_killed(browser: Browser, run_dir: Path, case: str) -> None:
    """Go to the edited message by keyboard, type, lose the server, and find the text on the same address."""
    context = browser.new_context()
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    with served(run_dir) as (process, address):
        base = address.partition("/enter")[0]
        page.goto(address)
        page.wait_for_selector("#review[data-shown]")  # the entrance leads on by itself
        open_case(page, base, case)
        heads = page.locator("#parts h2").all_inner_texts()
        named = [f"transcript, message {n} ({who})" for n, who in enumerate(ROLES, 1)]
        assert heads == [*named, f"{LAST} edited"]
        assert page.locator("#parts section:last-child ins").count() > 0
        page.keyboard.press("m")
        assert page.evaluate("document.activeElement.dataset.changed") == LAST
        page.keyboard.press("e")
        page.wait_for_selector("#editing textarea")
        assert page.evaluate("document.activeElement.name") == LAST
        assert page.locator("#editing textarea").count() == 5, "four messages, and the arguments of a call"
        write(page, f"It was shipped. {MINE}")
        for signal, shown in ((SIGSTOP, ":has-text('Connection lost, retrying')"), (SIGCONT, ":empty")):
            process.send_signal(signal)  # it hangs, and goes on
            page.wait_for_selector(f"#connection{shown}", state="attached")
        process.kill()
        process.wait()
        page.wait_for_selector("#connection:has-text('Connection lost, retrying')")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#trouble:has-text('Not saved')")
    with served(run_dir) as (_, address):
        assert address.startswith(base), "the port of the last time"
        page.wait_for_selector("#connection:has-text('Open the address that jrh review printed')")
        assert MINE in page.locator(f"[name='{LAST}']").input_value()
        page.goto(address)
        page.wait_for_selector("#review[data-shown]")  # the entrance leads on by itself
        open_case(page, base, case)
        page.wait_for_selector("#editing textarea")
        assert MINE in page.locator(f"[name='{LAST}']").input_value()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#saved:text-is('saved')")
    context.close()


@contextmanager
def held(page: Page) -> Iterator[Callable[[], None]]:
    """Keep decisions from the server; provide what lets them go."""
    kept: list[Route] = []
    free: list[bool] = []
    page.route("**/review/decide", lambda route: route.continue_() if free else kept.append(route))

    def release() -> None:
        free.append(True)
        for route in kept:
            route.continue_()

    yield release
    page.unroute("**/review/decide")


def accept_while_saving(page: Page) -> None:
    """Accept two cases before the first is saved: the page says that both are being saved."""
    with held(page) as release:
        for _ in range(2):
            before = page.locator("#review").get_attribute("data-shown")
            page.keyboard.press("a")
            page.wait_for_selector(f"#review:not([data-shown='{before}'])")
        page.wait_for_selector("#saved:text-is('saving 2 decisions')")
        release()
        page.wait_for_selector("#saved:text-is('saved')")
    assert page.locator("#progress").inner_text().endswith("5 decided")


def edit_a_template(browser: Browser, run_dir: Path, case: str) -> None:
    """Break a placeholder, lose the network, meet an older tab, and save in the end."""
    with workbench(run_dir, reviewers=("Ann",)) as bench, look(browser, bench) as seen:
        page = seen.page
        open_case(page, bench.base, case)
        other = page.context.new_page()
        open_case(other, bench.base, case)
        assert page.locator("#parts h2").all_inner_texts() == ["prompt template edited"]
        page.keyboard.press("e")
        page.wait_for_selector("#editing textarea")
        write(page, f"{{{{ request }}}} {{{{ reponse }}}} {MINE}")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("[name='prompt template'][aria-invalid] + #wrong")
        assert page.locator("#wrong").inner_text() == (
            "The prompt template needs these placeholders: {{ request }}, {{ response }}; missing: {{ response }}; "
            "unknown: {{ reponse }}."
        )
        assert page.evaluate("document.activeElement.name") == "prompt template"
        assert (tabbed(seen), blemishes(seen)) == ([], []), "a refused edit"
        page.locator("[name='prompt template']").focus()
        write(page, f"{{{{ request }}}} {{{{ response }}}} {MINE}")
        other.keyboard.press("a")
        other.wait_for_selector("#saved:text-is('saved')")
        other.close()
        page.context.set_offline(True)
        page.wait_for_selector("#connection:has-text('Connection lost, retrying')")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#trouble:has-text('The server does not answer')")
        page.context.set_offline(False)
        page.wait_for_selector("#connection:empty", state="attached")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#trouble:has-text('There is a later decision about this case')")
        page.wait_for_selector("#decided:has-text('Your decision: accept')")
        with held(page) as release:
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("#saved:text-is('saving')")
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("#saved:text-is('still saving this edit')")
            assert page.locator("#editing").is_visible()
            release()
        page.wait_for_selector("#saved:text-is('saved, also in 1 other case')")
        page.wait_for_selector("#editing", state="hidden")
        assert page.locator("#progress").inner_text().endswith("3 decided")
        open_case(page, bench.base, case)
        assert MINE in page.locator("#parts ins").last.inner_text()
        assert (page.locator("img").count(), seen.dialogs) == (0, []), "what is typed is text"
        page.goto(f"{bench.base}/review")  # the first case without a decision
        page.wait_for_selector("#review[data-shown]")
        accept_while_saving(page)


def test_judges_are_asked_what_a_person_edited_and_the_report_has_their_verdicts(
    browser: Browser, project: tuple[Project, ChatServer]
) -> None:
    made, server = project
    run_dir = made.path / "run"
    message, template = cases_of(run_dir, "agent-style", "run-1")[0], cases_of(run_dir, "templates", "item-001")[1]
    edit_a_message_while_the_server_is_killed(browser, run_dir, message)
    edit_a_template(browser, run_dir, template)
    before = server.count
    run(made)
    asked = [str(body["messages"]) for body in server.requests[before:]]
    assert len(asked) == 3, "the edited cases alone"
    assert all(MINE in text for text in asked)
    assert sum("This is answer number 001" in text for text in asked) == 1, "the template is filled in"
    records = query(made, "run", "SELECT task, item_id, canonical FROM records r JOIN trials t ON t.id = r.trial_id")
    assert sorted(row for row in records if row[2] == "NO") == [
        ("agents", "run-1", "NO"),
        ("answers", "item-000", "NO"),
        ("answers", "item-001", "NO"),
    ]
    report = json.loads((run_dir / "report.json").read_text(encoding="utf-8"))
    flips = {each["test"] for each in report["measures"] if each["name"] == "flip-rate" and each["estimate"]}
    assert flips == {"agent-style", "templates"}
    decided = [row["counts"] for row in report["stages"]["review"]["tests"]]
    assert [counts["edit"] for counts in decided] == [1, 2]
