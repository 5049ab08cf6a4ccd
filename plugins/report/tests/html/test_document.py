import base64
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from attrs import evolve
from jrh import Case, Interval, Measure, RecordTable, Reply, RunReport, Status
from jrh_testing import sample_report

LIMIT = 5_000_000
PROGRAM = (
    "import sys, jrh_report.plugin; from jrh_testing import build, load_sections, sample_report;"
    "page = build(jrh_report.plugin, 'html').render(load_sections(sample_report()));"
    "sys.stdout.buffer.write(page.encode())"
)


def digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(render: Callable[..., str]) -> None:
    text = render("html", sample_report())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    rules = dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": digest(script),
        "style-src": digest(style),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }


def test_nothing_in_the_page_comes_from_elsewhere(render: Callable[..., str]) -> None:
    text = render("html", sample_report())
    assert set(re.findall(r'\b(?:src|href|action|data|poster)="([^"#]*)', text)) <= {
        "",
        "records.csv",
        "records.parquet",
    }
    assert not re.search(r"https?:|@import|url\((?!#)|data:|javascript:", text)
    assert not re.search(r"<[^>]*\s(?:on\w+|style)=", text)


@pytest.mark.slow
def test_the_same_report_gives_the_same_bytes_in_every_process(render: Callable[..., str]) -> None:
    environment = os.environ | {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LANG": "C"}
    elsewhere = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True).stdout
    assert elsewhere.decode() == render("html", sample_report())


def a_large_run(judges: int, tests: int, items: int) -> RunReport:
    """Make a run of judges x (tests + reference) x items records, a fifth of them moved."""
    report = sample_report()
    task, labels = report.tasks[0].task.name, report.tasks[0].task.scale.labels
    names = ["reference", *(f"test {n}" for n in range(tests))]
    judge, test, item = (
        axis.ravel() for axis in np.meshgrid(np.arange(judges), np.arange(tests + 1), np.arange(items), indexing="ij")
    )
    moved = (test > 0) & ((judge * 7 + test * 3 + item) % 5 == 0)
    ids = [f"{j}-{t}-{i}" for j, t, i in zip(judge, test, item, strict=True)]
    size = len(ids)
    columns = {
        "trial_id": ids,
        "case_id": [f"{t}-{i}" for t, i in zip(test, item, strict=True)],
        "item_id": [f"item {i}" for i in item],
        "task": [task] * size,
        "test": [names[t] for t in test],
        "variant": [""] * size,
        "stratum": [f"stratum {i % 9}" for i in item],
        "judge": [f"judge {j}" for j in judge],
        "gold": [labels[0]] * size,
        "expectation": [None if t == 0 else "same" for t in test],
        "expected": [None] * size,
        "status": ["ok"] * size,
        "presented": [labels[int(m)] for m in moved],
        "canonical": [labels[int(m)] for m in moved],
        "rationale": ["because " * 50] * size,
        "repeat": [0.0] * size,
    }
    measures = [
        Measure(
            name=name, judge=f"judge {j}", task=task, test=test, estimate=0.8, n_items=items, n_trials=items,
            interval=Interval(low=0.7, high=0.9),
        )
        for name in ("as-expected", "agreement", "excess-disagreement", "accuracy-change", "missing")
        for j in range(judges)
        for test in names
    ]  # fmt: skip
    return evolve(
        report,
        judges=tuple(f"judge {j}" for j in range(judges)),
        tests=tuple(names),
        measures=tuple(measures),
        records=RecordTable.from_columns(columns),
    )


class Library:
    """Knows of every case a hundred fields of long, hostile text, and a long reply to every trial."""

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        return {each: self._case(each) for each in case_ids}

    def _case(self, case_id: str) -> Case:
        fields = {f"field {n}": f"{case_id} " + "\"<漢 '" * 5000 for n in range(100)}
        return Case(id=case_id, task="t", test="t", item_id="i", fields=fields, label_map={})

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        return {each: Reply(status=Status.OK, text='"<漢' * 5000) for each in trial_ids}


@pytest.mark.slow
def test_long_texts_of_many_examples_keep_the_page_small(render: Callable[..., str]) -> None:
    report = evolve(a_large_run(5, 9, 20), evidence=Library())
    started = time.process_time()
    text = render("html", report, examples=100)
    assert time.process_time() - started < 20
    assert len(text.encode()) < LIMIT
    assert 10 < text.count('<details class="flip"') < 240
    assert "more parts of the question are not shown" in text


@pytest.mark.parametrize(("judges", "tests", "items"), [(2, 4, 10_000), (20, 19, 250)])
def test_a_hundred_thousand_records_are_a_small_page_soon(
    render: Callable[..., str], judges: int, tests: int, items: int
) -> None:
    report = a_large_run(judges, tests, items)
    assert len(report.records) == 100_000
    started = time.process_time()
    text = render("html", report)
    assert time.process_time() - started < 10
    assert len(text.encode()) < LIMIT
    shown = text.count('<details class="flip"')
    assert 0 < shown <= 240
    assert "100,000</span> records" in text
