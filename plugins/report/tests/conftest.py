import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jrh_report.plugin
import pytest
from attrs import evolve
from jrh import Interval, Measure, RecordTable, RunReport, Scale, Status, Task
from jrh.values import Attrition, ComponentUsed, CostLine, FaultLine, TaskSummary, spending_of
from jrh_report.html.printing import PROGRAMS
from jrh_testing import build, flags_by_name, load_sections, sample_records

JUDGES = ("baseline", "gpt-4o-mini", "yes-man")
TESTS = ("reference", "format", "stochastic")
STATUSES = {"gpt-4o-mini": ("timeout", "unparsable", "unparsable")}


def a_measure(name: str = "as-expected", **fields: Any) -> Measure:
    given = {"judge": "baseline", "task": "essays", "test": "format", "estimate": 0.934, "n_trials": 60, "n_items": 60}
    return Measure(name=name, **(given | fields))


def _measures() -> Iterator[Measure]:
    for place, judge in enumerate(JUDGES):
        flags = ("simulated",) if judge == "yes-man" else ()
        missing = {"timeout": 1, "unparsable": 2} if judge == "gpt-4o-mini" else {}
        for test in TESTS:
            for name, estimate in _estimates(test, 0.03 * place):
                low, high = max(0.0, estimate - 0.0512), min(1.0, estimate + 0.0304)
                for cell in [{}, *([{"variant": "crlf"}] if test == "format" else [])]:
                    yield a_measure(
                        name,
                        judge=judge,
                        test=test,
                        cell=cell,
                        estimate=estimate,
                        interval=Interval(low=low, high=high, method="wilson"),
                        n_trials=120 - sum(missing.values()),
                        missing=missing,
                        bounds=(max(0.0, estimate - 0.02), estimate),
                        flags=flags,
                    )
        yield a_measure(
            "self-kappa",
            judge=judge,
            estimate=None if flags else -0.0007 + place,
            unit="coefficient",
            flags=("degenerate", *flags) if flags else ("few-items",),
            note="one label only" if flags else "",
        )


def _estimates(test: str, shift: float) -> Iterator[tuple[str, float]]:
    yield "as-expected", 0.71 - shift
    if test != "reference":
        yield "agreement", 0.9667 - shift
        yield "flip-rate", 0.0333 + shift
    if test != "format":
        yield "rerun-disagreement", 0.0125 + shift


@pytest.fixture
def report() -> RunReport:
    """Return the report of a run over essays with three judges, one of them simulated."""
    levels = Scale.of_levels(1, 6)
    rows = [(judge, status) for judge in JUDGES for status in (*STATUSES.get(judge, ()), *["ok"] * 20)]
    return RunReport(
        flags=flags_by_name(),
        suite="essays",
        run_id="9f1c2ab34d5e6f70",
        version="0.1.0",
        seed=7,
        level=0.95,
        tasks=(TaskSummary(task=Task(name="essays", scale=levels), items=60, labelled=60, gold={"1": 9, "6": 51}),),
        judges=JUDGES,
        simulated=frozenset({"yes-man"}),
        tests=TESTS,
        measures=tuple(_measures()),
        attrition=(
            Attrition(
                task="essays",
                test="format",
                items=60,
                drafted=180,
                kept=176,
                rejected={"words-unchanged: a word changed": 4},
                skipped={"no paragraph break": 3},
            ),
        ),
        costs=(costs := (
            CostLine(
                judge="gpt-4o-mini", task="essays", test="reference", trials=120, cost=0.0312, unknown=0,
                prompt_tokens=120_300, completion_tokens=3000, tokens_unknown=0,
            ),
            CostLine(
                judge="gpt-4o-mini", task="essays", test="format", trials=180, cost=0.01, unknown=60,
                prompt_tokens=100_000, completion_tokens=2000, tokens_unknown=60,
            ),
            CostLine(
                judge="yes-man", task="essays", test="format", trials=180, cost=0.0, unknown=180,
                prompt_tokens=0, completion_tokens=0, tokens_unknown=180,
            ),
        )),
        spending=tuple(map(spending_of, costs)),
        faults=(
            FaultLine(model="mini", kind="rate_limit", attempts=12, final=0),
            FaultLine(model="mini", kind="timeout", attempts=4, final=1),
        ),
        components=(
            ComponentUsed(
                role="judge", name="gpt-4o-mini", component="jrh-judges/llm", version="0.1.0",
                options={"model": "mini", "parser": "json", "seed": 3},
            ),
            ComponentUsed(
                role="judge", name="yes-man", component="jrh-simulated/noisy", version="0.2.0",
                options={"accuracy": 0.6}, simulated=True,
            ),
        ),
        planned=960,
        missing_records=0,
        notes=("The prices of model 'mini' are not known.",),
        records=RecordTable.from_columns({"judge": [row[0] for row in rows], "status": [row[1] for row in rows]}),
    )  # fmt: skip


@pytest.fixture
def measure() -> Callable[..., Measure]:
    """Return a function that makes a measure."""
    return a_measure


@pytest.fixture
def chromium() -> None:
    """Skip the test where Chromium is missing, unless it is required."""
    if not any(map(shutil.which, PROGRAMS)):
        assert not os.environ.get("JRH_BROWSER_REQUIRED"), "no browser"
        pytest.skip("no Chromium")


@pytest.fixture
def render(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Return a function: reporter, report, options -> the document."""

    def run(reporter: str, report: RunReport, **options: Any) -> str:
        if reporter == "pdf":
            request.getfixturevalue("chromium")
        known = report if report.sections else load_sections(report)
        return whole(build(jrh_report.plugin, reporter, options=options).render(known))

    return run


def whole(rendered: Any) -> Any:
    """Return what a reporter made, chunks put together."""
    return rendered if isinstance(rendered, str | bytes | Mapping) else b"".join(rendered)


@pytest.fixture
def shown() -> Callable[[Any], Any]:
    """Return a function: document -> what it shows, in a form that can be compared."""

    def content(document: Any) -> Any:
        return pages(document) if isinstance(document, bytes) and document.startswith(b"%PDF") else document

    return content


def pages(document: bytes) -> list[tuple[tuple[float, float], str, bytes]]:
    """Return size, text and picture of each page of a PDF."""
    import pypdfium2

    with pypdfium2.PdfDocument(document) as pdf:
        return [(page.get_size(), page.get_textpage().get_text_range(), bytes(page.render().buffer)) for page in pdf]


@pytest.fixture
def hostile(report: RunReport) -> Callable[[str], RunReport]:
    """Return a function: text -> a report that has the text wherever a run can bring text in."""

    def made(text: str) -> RunReport:
        test, judge, label = f"{text} ", text, text.strip() or "x"
        task = Task(name=text, instruction=text, rubric=text, scale=Scale.of_labels(label, f"{label}."))
        fields = {"judge": judge, "task": text, "test": test, "note": text, "missing": {text: 1}}
        names = ("as-expected", "rerun-disagreement", "jss", text)
        record = evolve(
            sample_records(task, items=1)[0],
            **dict.fromkeys(
                ("item_id", "task", "variant", "template", "stratum", "group", "judge", "gold", "presented"), text
            ),
            **dict.fromkeys(("canonical", "detail", "rationale", "language", "option_order", "family"), text),
            status=Status.REFUSED,
        )
        return evolve(
            report,
            suite=text,
            run_id=text,
            version=text,
            tasks=(TaskSummary(task=task, items=1, labelled=1, gold={label: 1}),),
            judges=(judge,),
            simulated=frozenset({judge}),
            served={judge: (text.replace(" ", "/"), text)},
            tests=("reference", test),
            notes=(text, f"see {text}"),
            measures=tuple(
                a_measure(name, **(fields | {"test": where, "cell": cell, "flags": (text,)}))
                for name in names
                for where in ("reference", test)
                for cell in ({}, {"variant": text}, {"part": text})
            ),
            attrition=(evolve(report.attrition[0], task=text, test=test, rejected={text: 1}, skipped={text: 2}),),
            costs=(
                costs := (
                    evolve(report.costs[0], judge=judge, task=text, test="reference"),
                    evolve(report.costs[0], judge=judge, task=text, test=test),
                )
            ),
            spending=tuple(map(spending_of, costs)),
            faults=(evolve(report.faults[0], model=text, kind=text),),
            components=(
                evolve(report.components[0], role=text, name=text, component=text, version=text, options={text: text}),
            ),
            records=RecordTable.from_records([record]),
        )

    return made
