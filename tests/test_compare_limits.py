"""`jrh compare`: cost beside correct verdicts, likely causes, and what cannot be compared."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from typing import Any

import jrh
import jrh_interchange
import pytest
from jrh_testing import PAYLOADS, ChatServer, LabelAnswers, Project
from support.comparing import SMALL, compare, found, row
from support.looking import rewrite_records, until
from support.suites import LABELS, llm_suite, openai_http, simulated_suite, write_items, write_suite
from support.verdicts import import_judges, right_with

pytestmark = pytest.mark.inside


def test_cost_stands_against_accuracy_with_the_frontier_and_unknown_prices_are_no_zero(project: Project) -> None:
    prices = {"cheap": 0.001, "dear": 0.01, "wasteful": 0.02, "unpriced": None}
    accuracies = {"cheap": 0.7, "dear": 0.99, "wasteful": 0.7, "unpriced": 1.0}
    for name, price in prices.items():
        import_judges(project.path / name, {"mini": right_with(accuracies[name], seed=name)}, items=60, cost=price)
    curve = {point["side"]["run"]: point for point in found(project, *prices)["curve"]}
    assert {name: point["frontier"] for name, point in curve.items()} == {
        "cheap": True,
        "dear": True,
        "wasteful": False,
        "unpriced": None,
    }
    assert curve["dear"]["per_thousand"] == pytest.approx(10.0)
    assert (curve["unpriced"]["per_thousand"], curve["unpriced"]["unknown"]) == (None, 60)
    printed = compare(project, *prices).stdout
    assert re.search(r"^unpriced +1\.000 .* unknown +unknown +60 +price unknown", printed, re.MULTILINE)


def test_a_judge_that_is_steady_and_wrong_is_not_accurate_beside_its_cost(project: Project) -> None:
    answers = {"right": right_with(1.0), "wrong": right_with(0.0)}
    tests = {"reference": 1, "format": 1}
    import_judges(project.path / "run", answers, tests=tests, cost=0.001, expectation="same", expected=None)
    document = found(project, "run")
    assert [row(document, "agreement", "format")[side] for side in ("first", "second")] == [1.0, 1.0]
    assert [point["correct"] for point in document["curve"]] == [1.0, 0.0]
    import_judges(project.path / "unlabelled", answers, tests=tests, cost=0.001, expectation="same", gold=None)
    assert [point["correct"] for point in found(project, "unlabelled")["curve"]] == [1.0, 1.0]


def test_a_change_of_model_template_or_version_is_named_as_the_likely_cause(project: Project) -> None:
    write_items(project, 12)
    changes: dict[str, dict[str, Any]] = {
        "a": {},
        "b": {"model": "loopback-2", "temperature": 0.7},
        "c": {},
        "d": {},
    }
    with ChatServer(LabelAnswers(labels=LABELS)) as server:
        for name, settings in changes.items():
            suite = llm_suite(openai_http(server.url, free=True, **settings), **SMALL)
            if name == "c":
                suite["task"]["instruction"] = "Is the answer wrong?"
            if name == "d":
                suite["judges"][0]["template"] = "{{ task.instruction }} {{ response }} {{ answer_format }}"
            write_suite(project, suite)
            assert project.run("run", "suite.yaml", "--run-dir", name).exit_code == 0
    of_model, of_task, of_template = (
        {(cause["kind"], cause["what"]): (cause["before"], cause["after"]) for cause in pair["causes"]}
        for pair in found(project, "a", "b", "c", "d")["pairs"]
    )
    template = ("null", "{{ task.instruction }} {{ response }} {{ answer_format }}")
    assert of_template == {("judge", "mini: template"): template}
    assert of_model["model", "mini: model"] == ("loopback-1", "loopback-2")
    assert of_task == {("task", "trial: instruction"): ("Is the answer right?", "Is the answer wrong?")}
    with closing(sqlite3.connect(project.path / "b" / "run.sqlite")) as connection:
        summary = connection.execute("SELECT value FROM meta WHERE key = 'summary'").fetchone()[0]
        newer = summary.replace(
            '"component":"jrh-judges/llm","version":"0.1.0"', '"component":"jrh-judges/llm","version":"0.2.0"'
        )
        assert newer != summary
        connection.execute("UPDATE meta SET value = ? WHERE key = 'summary'", (newer,))
        connection.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        connection.commit()
    causes = found(project, "a", "b")["pairs"][0]["causes"]
    assert causes[0] == {"kind": "judge", "what": "mini: version", "before": "0.1.0", "after": "0.2.0"}
    printed = compare(project, "a", "b").stdout
    assert "- model mini: model: loopback-1 -> loopback-2" in printed


def test_verdicts_that_differ_without_any_recorded_change_are_called_that(project: Project) -> None:
    write_items(project, 30)
    judge = {"name": "sim", "judge": "simulated", "accuracy": 0.6}
    write_suite(project, simulated_suite(judges=[judge], **SMALL))
    assert project.run("run", "suite.yaml", "--run-dir", "a").exit_code == 0
    shutil.copytree(project.path / "a", project.path / "b")
    rewrite_records(project, "b", "UPDATE records SET canonical = 'YES', presented = 'YES'")
    printed = compare(project, "a", "b").stdout
    assert "No recorded difference: rerun noise, or a model that its provider changed" in printed


# -- bad input -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_compared_ends_with_2_and_says_what_to_do(project: Project) -> None:
    import_judges(project.path / "a", {"mini": right_with(0.9), "large": right_with(0.9)}, items=4)
    import_judges(project.path / "b", {"other": right_with(0.9), "third": right_with(0.9)}, items=4)
    import_judges(project.path / "newer", {"mini": right_with(0.9)}, items=4)
    with closing(sqlite3.connect(project.path / "newer" / "run.sqlite")) as connection:
        connection.execute("PRAGMA user_version=99")
    project.write("suite.yaml", "name: x\n")
    project.write("broken/run.sqlite", b"no database" * 500)
    (project.path / "bare").mkdir()
    for arguments, told in (
        (("a", "a"), "the same run is given twice; name two judges of it, such as RUN:mini RUN:large"),
        (("a:mini", "a:mini"), "judge 'mini' of 'a' is given twice"),
        (("a:mni", "b"), "'a' has no judge 'mni'\nDid you mean 'mini'? Available: mini, large."),
        (("a", "--judge", "lrge"), "no run has a judge 'lrge'\nDid you mean 'large'?"),
        (("a:mini",), "there is only one judge, 'mini' of 'a': nothing to compare it with"),
        (("a", "b"), "'a' and 'b' have no judge in common: mini, large; other, third"),
        (("a", "nowhere"), "'nowhere' is neither a run directory nor RUN:JUDGE"),
        (("a", "suite.yaml"), "'suite.yaml' is a file; `jrh compare` takes directories of runs"),
        (("a", "bare"), "'bare' is not a run directory: it holds no run.sqlite"),
        (("a", "newer"), "was written by a newer jrh (schema 99"),
        (("a", "broken"), "cannot use"),
        (("a", "--test", "format"), "no run has a test 'format'; available: reference"),
        (("a", "--margin", "0"), "Invalid value for '--margin'"),
        ((), "Missing argument"),
    ):
        done = compare(project, *arguments, code=2)
        assert done.stdout == "", arguments
        assert told in done.stderr, done.stderr


def test_a_run_that_is_not_finished_is_compared_as_far_as_it_goes_and_that_is_said(project: Project) -> None:
    write_items(project, 10)
    for name, latency in (("whole", 0.0), ("part", 0.1)):
        with ChatServer(LabelAnswers(labels=LABELS), latency=latency) as server:
            write_suite(project, llm_suite(openai_http(server.url, free=True, concurrency=1), **SMALL))
            with project.start("run", "suite.yaml", "--run-dir", name, "--no-cache") as running:
                if name == "part":
                    until(lambda: server.count >= 4, "some requests")
                    running.interrupt()
                running.wait()
    document = found(project, "whole", "part")
    assert 0 < row(document, "as-expected")["cases"] < 10
    assert document["unfinished"][0] == "'part' is not finished: interrupted"
    assert re.fullmatch(r"'part': \d of 10 trials were not run", document["unfinished"][1])
    for form in ("table", "markdown"):
        first = compare(project, "whole", "part", "--format", form).stdout.splitlines()[0]
        assert "'part' is not finished: interrupted" in first


def test_a_run_that_holds_nothing_yet_ends_with_2(project: Project) -> None:
    import_judges(project.path / "a", {"mini": right_with(0.9)}, items=4)
    (project.path / "empty").mkdir()
    with closing(sqlite3.connect(project.path / "empty" / "run.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    assert "'empty' holds no run yet" in compare(project, "a", "empty", code=2).stderr


# -- names that attack -----------------------------------------------------------------------------------------------


def test_names_that_attack_do_nothing_in_any_format(project: Project) -> None:
    payloads = [payload for payload in PAYLOADS if payload.strip() and payload.isprintable()]
    labels = tuple(dict.fromkeys(payload.strip() for payload in payloads))[:2]
    names = payloads[:: len(payloads) // 3]
    scale = jrh.Scale(kind=jrh.ScaleKind.LABELS, labels=labels)
    task = jrh.Task(name=payloads[5], instruction=payloads[6], scale=scale)
    for run in ("a", "b"):
        records = [
            jrh_interchange.imported_record(
                task=task,
                item_id=payload,
                judge=judge,
                test=test,
                variant="" if test == "reference" else payloads[7],
                gold=labels[0],
                label=labels[run == "b" and place % 2],
                cost=0.001,
            )
            for judge in names
            for test in ("reference", payloads[8])
            for place, payload in enumerate(payloads)
        ]
        jrh_interchange.import_records(project.path / run, payloads[9], [task], records)
    arguments = ("a", "b", "--flips", "1000")
    text = compare(project, *arguments).stdout
    markdown = compare(project, *arguments, "--format", "markdown").stdout
    for shown in (text, markdown):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    alive = re.compile(r"(?<!\\)[`*_\[\]~$]|[<>]|@\w|://|\bwww\.")
    assert not [line for line in markdown.splitlines() if alive.search(line.replace("\\\\", ""))]
    document = found(project, *arguments)
    assert {pair["first"]["judge"] for pair in document["pairs"]} == set(names)
    assert set(payloads[1::2]) == {flip["item"] for flip in document["pairs"][0]["flips"]}
