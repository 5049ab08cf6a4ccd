"""Decisions of people count: a rejected case is out of every measure, an edited one is asked in its place."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from jrh.running import execute
from jrh_review.decisions import Decision, ReviewAction
from jrh_review.desk import ReviewDesk, review_desk
from jrh_testing import ChatServer, Project
from support.looking import query, report, report_bytes
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside

ITEMS = 4
TEST = "format"
SUITE = {"tests": [{"test": TEST, "variants": ["trailing"]}]}


def a_suite(project: Project, server: ChatServer, **changes: object) -> None:
    write_items(project, ITEMS)
    write_suite(project, llm_suite(openai_http(server.url), **{**SUITE, **changes}))


def run(project: Project, *more: str, code: int = 0, run_dir: str = "run") -> str:
    outcome = project.run("run", "suite.yaml", "--run-dir", run_dir, "--no-cache", "--no-preflight", *more)
    assert outcome.exit_code == code, outcome.output
    return outcome.output


def decide(project: Project, choose: Callable[[str, int], Decision], run_dir: str = "run") -> list[str]:
    """Decide about the cases of the queue in their order; return their ids."""
    with review_desk(project.path / run_dir) as desk:
        queue = desk.make_queue(None)
        for place, case in enumerate(queue):
            desk.decide(choose(case.case_id, place), version(desk, case.case_id))
    return [case.case_id for case in queue]


def version(desk: ReviewDesk, case: str, reviewer: str = "Ann") -> int:
    return desk.review(case).version(reviewer)


@pytest.mark.parametrize("meanwhile", [False, True])
def test_decisions_count_in_a_plan_that_was_never_finished(
    project: Project, monkeypatch: pytest.MonkeyPatch, meanwhile: bool
) -> None:
    """After a kill the plan grows again, which is made of the cases as they were written."""
    with ChatServer("YES") as server:
        a_suite(project, server)
        run(project)
        chosen = decide(project, lambda case, place: reject(case) if place == 0 else accept(case))
        change(project, "UPDATE stages SET digest = 'growing' WHERE name = 'trials'")
        if meanwhile:
            monkeypatch.setattr(execute, "overlaps", lambda ready: True)
        run(project)
    planned = [case for (case,) in query(project, "run", "SELECT case_id FROM trials")]
    assert chosen[0] not in planned
    assert set(chosen[1:]) < set(planned)


def change(project: Project, sql: str) -> None:
    with closing(sqlite3.connect(project.path / "run" / "run.sqlite")) as connection:
        connection.execute(sql)
        connection.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        connection.commit()


def accept(case: str, _: int = 0) -> Decision:
    return Decision(case_id=case, reviewer="Ann", made="", action=ReviewAction.ACCEPT)


def reject(case: str) -> Decision:
    return Decision(case_id=case, reviewer="Ann", made="", action=ReviewAction.REJECT, reason="not the same question")


def edit(case: str, text: str = "", expected: str = "") -> Decision:
    after = {"response": text} if text else {}
    return Decision(
        case_id=case, reviewer="Ann", made="", action=ReviewAction.EDIT, after=after, expected_after=expected
    )


def mixed(case: str, place: int) -> Decision:
    """Reject the first case, edit the text of the second and the expected verdict of the third, accept the last."""
    return [reject(case), edit(case, text="A text of Ann."), edit(case, expected="changes"), accept(case)][place]


def judged(project: Project, run_dir: str = "run") -> list[tuple[str, str, str]]:
    """Return case, test and expectation of the records that count."""
    return query(
        project,
        run_dir,
        "SELECT r.case_id, r.test, r.expectation FROM trials t JOIN records r ON r.trial_id = t.id ORDER BY t.position",
    )


def test_a_rejected_case_is_out_and_an_edited_one_is_asked_in_its_place(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server)
        run(project)
        before, asked = judged(project), server.count
        assert asked == 2 * ITEMS
        made = decide(project, mixed)
        run(project)
        after = judged(project)
        again = server.count - asked
        texts = [str(each) for each in server.requests]
    assert again == 1, "the edited text; the other questions are those of before"
    assert sum("A text of Ann." in text for text in texts) == 1
    assert after[:ITEMS] == before[:ITEMS], "the reference"
    rows = after[ITEMS:]
    assert len(rows) == ITEMS - 1
    assert made[0] not in [case for case, _, _ in after]
    assert rows[0][0] not in made
    assert rows[1][0] not in made
    assert [kind for _, _, kind in rows] == ["same", "changes", "same"]
    assert rows[2][0] == made[3]
    found = report(project, "run")
    assert found["planned"] == 2 * ITEMS - 1
    assert found["stages"]["review"]["tests"][0]["counts"] == {"accept": 1, "edit": 2, "reject": 1}
    (effect,) = found["stages"]["review"]["effects"]
    assert (effect["counted"]["n"], effect["made"]["n"]) == (ITEMS - 1, ITEMS)
    assert (effect["counted"]["estimate"], effect["made"]["estimate"]) == (pytest.approx(2 / 3), 1.0)
    said = project.read("run/report.md")
    assert "1 of 4" in said
    assert "2 of 4" in said


def without_review(project: Project, run_dir: str) -> tuple[str, str]:
    """Return the two files of a report, byte for byte but for the review section."""
    found = {name: data.decode() for name, data in report_bytes(project, run_dir).items()}
    markdown = re.sub(r"^## Review\n.*?(?=^## |^<details>)", "", found["report.md"], flags=re.DOTALL | re.MULTILINE)
    as_json = json.loads(found["report.json"])
    as_json["sections"] = [each for each in as_json["sections"] if each["name"] != "review"]
    return markdown, json.dumps(as_json | {"stages": {}})


def test_taking_decisions_back_gives_the_report_of_before(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server)
        run(project)
        before = without_review(project, "run")
        decide(project, mixed)
        run(project)
        assert without_review(project, "run") != before
        decide(project, lambda case, _: Decision(case_id=case, reviewer="Ann", made="", action=ReviewAction.UNDO))
        run(project)
    assert without_review(project, "run") == before
    assert server.count == 2 * ITEMS + 1


def test_all_outputs_count_the_same_cases(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, gate={"rules": [f"as-expected[{TEST}] >= 0.1"]}, reports=["terminal", "json", "csv"])
        run(project)
        decide(project, mixed)
        run(project)
        plan = project.run("plan", "suite.yaml", "--run-dir", "run").stdout
        gate = project.run("gate", "run").output
    found = next(
        each for each in report(project, "run")["measures"] if each["name"] == "as-expected" and each["test"] == TEST
    )
    assert found["n_trials"] == ITEMS - 1
    assert len(project.read("run/records.csv").splitlines()) == 2 * ITEMS - 1 + 1
    row = next(line for line in plan.splitlines() if f" {TEST} " in line)
    assert [cell.strip() for cell in row.strip("│").split("│")][4:6] == ["3", "3"]
    assert "n = 3" in gate or "3 items" in gate, gate


def test_a_run_that_may_not_wait_ends_with_3_and_goes_on_after_the_decisions(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, review={"tests": [TEST], "names": ["Ann O'Hara"]})
        said = run(project, "--no-wait", code=3, run_dir="a run")
        assert "decide with `jrh review 'a run' --reviewer 'Ann O'\"'\"'Hara'`" in " ".join(said.split())
        a_suite(project, server, review={"tests": [TEST]})
        said = run(project, "--no-wait", code=3)
        assert "decide with `jrh review run --reviewer 'reviewer 1'`" in " ".join(said.split())
        assert f"{ITEMS} cases waiting for a decision before any judge is asked" in said
        assert "to continue: jrh run suite.yaml" in said
        assert server.count == 0, "no judge was asked"
        decide(project, mixed)
        run(project, "--no-wait")
        assert server.count == ITEMS + 3
    assert len(judged(project)) == 2 * ITEMS - 1


@pytest.mark.parametrize(("policy", "cases"), [("decided", 1), ("optional", ITEMS)])
def test_a_policy_says_what_becomes_of_cases_without_a_decision(project: Project, policy: str, cases: int) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, review={"policy": policy})
        run(project)
        assert len(judged(project)) == ITEMS + (0 if policy == "decided" else ITEMS)
        with review_desk(project.path / "run") as desk:
            desk.decide(accept(desk.queue()[0].case_id), 0)
        run(project)
    assert len(judged(project)) == ITEMS + cases


def test_two_reviewers_both_decide_before_a_case_counts(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, review={"reviewers": 2})
        run(project, "--no-wait", code=3)
        decide(project, accept)
        assert f"{ITEMS} cases waiting for a decision" in run(project, "--no-wait", code=3)
        with review_desk(project.path / "run") as desk:
            for place, queued in enumerate(desk.queue()):
                case = queued.case_id
                ben = reject(case) if place == 0 else accept(case)
                desk.decide(evolved(ben, "Ben"), 0)
        assert "1 case waiting for a decision" in run(project, "--no-wait", code=3), "the conflict"
        with review_desk(project.path / "run") as desk:
            case = desk.queue()[0].case_id
            desk.decide(evolved(reject(case), "Ann", settles=True), version(desk, case))
        run(project, "--no-wait")
    assert len(judged(project)) == 2 * ITEMS - 1


def evolved(decision: Decision, reviewer: str, *, settles: bool = False) -> Decision:
    from attrs import evolve

    return evolve(decision, reviewer=reviewer, settles=settles)


def test_a_suite_whose_cases_are_all_accepted_has_the_report_of_one_without_review(
    project: Project, tmp_path: Path
) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server)
        run(project, run_dir="plain")
        a_suite(project, server, review={"tests": [TEST]})
        run(project, "--no-wait", code=3)
        decide(project, accept)
        run(project)
    assert without_review(project, "run") == without_review(project, "plain")
    assert report(project, "plain")["stages"] == {}
    (test,) = report(project, "run")["stages"]["review"]["tests"]
    assert test["counts"] == {"accept": ITEMS, "edit": 0, "reject": 0}


def test_the_failure_rate_among_valid_cases_rests_on_the_decisions_and_on_the_cases_as_made(project: Project) -> None:
    """Rejected cases are out of all other measures; without them here, every reviewed case would be valid."""
    with ChatServer("YES") as server:
        a_suite(project, server, metrics=["as-expected", "perturbation-validity"])
        run(project)
        decide(project, mixed)
        run(project)
    found = {each["name"]: each for each in report(project, "run")["measures"] if each["test"] == TEST}
    assert found["as-expected"]["n_trials"] == ITEMS - 1
    assert (found["invalid-cases"]["estimate"], found["invalid-cases"]["n_trials"]) == (0.75, ITEMS)
    assert found["failure-rate"]["estimate"] == 0.0


def test_the_plan_says_that_people_decide_first(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, review={"reviewers": 2})
        said = " ".join(project.run("plan", "suite.yaml", "--run-dir", "run").stdout.split())
    assert f"Review: 2 people decide about each of {ITEMS} cases before any judge is asked." in said
    assert server.count == 0


def test_the_page_has_the_section(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, reports=["html", "json"])
        run(project)
        decide(project, mixed)
        run(project)
    page = project.read("run/report.html")
    assert "Decisions of people" in page
    assert "As-expected with and without the decisions" in page


def test_decisions_outside_of_the_queue_are_said_and_tests_that_are_gone_are_not(project: Project) -> None:
    with ChatServer("YES") as server:
        a_suite(project, server, review={})
        run(project, "--no-wait", code=3)
        decide(project, mixed)
        a_suite(project, server, review={"sample": 1})
        run(project)
        found = report(project, "run")
        said = " ".join(project.run("report", "run", "--full").output.split())
        a_suite(project, server, tests=[{"test": TEST, "name": "other", "variants": ["spaces"]}])
        run(project)
        later = report(project, "run")
    assert found["planned"] == 2 * ITEMS - 1, "all decisions count, whatever the queue is now"
    (listed,) = found["stages"]["review"]["tests"]
    inside = listed["counts"]["edit"] + listed["counts"]["reject"]
    assert (listed["queued"], inside + found["stages"]["review"]["outside"]) == (1, 3)
    assert f"{found['stages']['review']['outside']} cases outside the queue are also rejected or edited" in said
    assert [each["test"] for each in found["stages"]["review"]["effects"]] == [TEST]
    assert later["stages"] == {}
    assert later["planned"] == 2 * ITEMS


@pytest.mark.parametrize("name", ["", "A\x1b[2J", "x" * 81])
def test_a_name_of_the_suite_is_one_that_the_command_line_takes(project: Project, name: str) -> None:
    write_items(project, 1)
    write_suite(project, llm_suite(openai_http("http://127.0.0.1:9"), review={"names": [name]}))
    assert "a name has 1 to 80 visible characters" in run(project, code=2)


def test_a_suite_may_ask_for_the_cases_first_that_judges_get_wrong(project: Project) -> None:
    """The first run has no verdicts to order by: it asks the judge, its end makes the queue, and the next run waits."""
    with ChatServer("YES") as server:
        a_suite(project, server, review={"first": "disagreement", "sample": 3})
        assert "'disagreement' needs verdicts" in run(project)
        asked = server.count
        assert asked == 2 * ITEMS
        with review_desk(project.path / "run") as desk:
            queue = desk.queue()
            golds = [desk.case(case.case_id)[0].gold for case in queue]
        assert "3 cases waiting for a decision" in run(project, "--no-wait", code=3)
        made = decide(project, mixed)
        run(project)
        with review_desk(project.path / "run") as desk:
            assert desk.queue() == queue, "decisions change what counts and not who is asked about what"
        assert server.count == asked + 1
    assert made == [case.case_id for case in queue]
    assert sum(case.probability for case in queue) >= 2
    assert len({case.probability for case in queue}) > 1
    assert "YES" in golds
    assert golds == sorted(golds), "the judge always says YES: where NO is right it is wrong"
    assert report(project, "run")["planned"] == 2 * ITEMS - 1
