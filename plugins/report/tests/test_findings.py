"""The same findings, in the same words, in every report."""

from __future__ import annotations

import re
from collections.abc import Mapping

import jrh_measuring
import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh.values import SpendLine
from jrh_measuring import findings_of
from jrh_report.json_report import document
from jrh_testing import empty_report, sample_report

TEXT = (
    "every gold label is A (5 items). Always-A is the right answer. Concerns "
    "as-expected, gold-accuracy, gold-kappa, self-kappa, position-bias, gold-agreement-by-order."
)
MOVES = "Changes its verdict more than asking again does"
MOVED = f"{MOVES}: format +0.30 [0.10, 0.50], n = 40 items."


def with_findings(report: RunReport, *measures: Measure) -> RunReport:
    report = evolve(report, measures=(*report.measures, *measures))
    return evolve(report, findings=findings_of(report))


def audited(report: RunReport, judge: str = "") -> Measure:
    return Measure(
        name="audit",
        judge=judge,
        task=report.tasks[0].task.name,
        cell={"problem": "constant-gold"},
        estimate=1.0,
        note="every gold label is A (5 items). Always-A is the right answer.",
    )


def moved(report: RunReport, judge: str) -> tuple[Measure, Measure]:
    about = {"judge": judge, "task": report.tasks[0].task.name, "test": "format", "n_trials": 40, "n_items": 40}
    ends = Interval(low=0.1, high=0.5)
    return (
        Measure(name="excess-disagreement", estimate=0.3, interval=ends, unit="difference", **about),
        Measure(name="excess-disagreement-p", estimate=0.001, unit="p-value", **about),
    )


@pytest.fixture
def found() -> RunReport:
    """Return a run with a finding about the data and one about a simulated judge."""
    report = sample_report()
    return with_findings(report, audited(report), *moved(report, "careless"))


def flat(text: object) -> str:
    return " ".join(str(text).replace("\\", "").split())


def test_file_full_terminal_and_json_have_the_sentences(render, found) -> None:
    for shown in (render("markdown", found), render("terminal", found, width=200, full=True)):
        assert flat(shown).count(TEXT) == flat(shown).count(MOVED) == 1
        assert flat(shown).index(TEXT) < flat(shown).rindex("careless (simulated)", 0, flat(shown).index(MOVED))
    sentences = [each["sentence"] for each in document(found)["findings"]]
    assert TEXT in sentences
    assert MOVED in sentences


def test_the_terminal_in_brief_says_it_shorter(render, found) -> None:
    text = flat(render("terminal", found))
    assert "warning every gold label is A (5 items)" in text
    assert f"bad {MOVES}: format +0.30 [0.10, 0.50] n=40" in text


def test_a_finding_of_the_json_report_names_the_measures_it_rests_on(found) -> None:
    results = document(found)
    names = ("name", "judge", "task", "test", "cell")
    there = [{name: measure[name] for name in names} for measure in results["measures"]]
    rested = [{name: basis[name] for name in names} for each in results["findings"] for basis in each["basis"]]
    assert rested
    assert all(each in there for each in rested)


def test_a_report_without_findings_has_no_heading_for_them(render) -> None:
    assert "Findings" not in render("markdown", empty_report())


def _lines(text: str) -> int:
    return len(text.splitlines())


@pytest.mark.parametrize("width", [60, 80, 100])
def test_what_failed_is_shown_above_the_findings_in_three_lines_however_much_failed(render, width: int) -> None:
    failed = [f"metric 'mine{at}' could not be computed: ValueError: no {'column ' * at}" for at in range(1, 60, 12)]
    plain = ("the prices of model 'mini' are not known",) * 3
    report = evolve(sample_report(), notes=(*plain, *failed), warnings=tuple(failed))
    lines = render("terminal", with_findings(report, *moved(report, report.judges[0])), width=width).splitlines()
    first = next(at for at, line in enumerate(lines) if "metric 'mine1' could not be computed" in line)
    counted = next(at for at, line in enumerate(lines) if "more notes in the report" in line)
    assert lines[first].startswith("  warning")
    assert first + 1 <= counted <= first + 3
    assert counted < next(at for at, line in enumerate(lines) if line.startswith(report.judges[0]))
    alone = evolve(report, notes=(failed[-1],), warnings=(failed[-1],))
    text = render("terminal", with_findings(alone), width=width)
    assert "metric 'mine49' could not be computed" in text, "one that is too long is cut, not left out"


@pytest.mark.parametrize(("tasks", "most"), [(1, 50), (2, 55), (4, 55)])
@pytest.mark.parametrize("judges", [1, 3, 12])
@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_a_screen_however_much_was_found(render, tasks: int, judges: int, width: int, most: int) -> None:
    """The tables of the answer have a row for every judge, and findings take what they leave."""
    report = sample_report()
    (summary,) = report.tasks
    several = tuple(evolve(summary, task=evolve(summary.task, name=f"task{at}")) for at in range(tasks))
    names = tuple(f"judge{at}" for at in range(judges))
    measures = [
        evolve(each, task=task.task.name, test=f"test{test}")
        for judge in names
        for task in several
        for test in range(6)
        for each in (*moved(report, judge), _changed(report, judge))
    ]
    many = evolve(report, tasks=several, judges=names, measures=(), simulated=frozenset(names[1:]), notes=("note",) * 9)
    text = render("terminal", with_findings(many, *measures), width=width)
    assert _lines(text) <= most
    assert all(len(line) <= width for line in text.splitlines())
    shown: Mapping[str, bool] = {name: f"{name}" in text for name in names[:3]}
    assert all(shown.values())
    assert ("more in the report" in text) == (judges == 12 and "judge11" not in text) or "more" in text


def test_what_does_not_fit_is_counted_with_its_noun(render) -> None:
    report = evolve(sample_report(), notes=tuple(f"note {at} {'of many ' * 20}" for at in range(9)))
    judge = report.judges[0]
    measures = [evolve(each, test=f"test{at}") for at in range(6) for each in moved(report, judge)]
    text = flat(render("terminal", with_findings(report, *measures), width=80))
    assert re.search(r"\b[0-9] more notes in the report", text)
    twelve = evolve(report, judges=tuple(f"judge{at}" for at in range(12)), measures=())
    many = [each for name in twelve.judges for each in moved(twelve, name)]
    text = flat(render("terminal", with_findings(twelve, *many), width=80))
    assert re.search(r"[0-9]+ more judges and 9 more notes in the report$", text)
    assert "more in the report" not in text
    facts = [evolve(audited(report, judge), note=f"fact {at}.") for at in range(30)]
    text = flat(render("terminal", with_findings(evolve(report, measures=()), *facts), width=80))
    assert re.search(r"; [0-9]+ more findings in the report", text)


def test_the_reference_is_named_where_a_tests_figure_stands_beside(render) -> None:
    report = sample_report()
    judge = report.judges[0]
    (finding,) = [each for each in with_findings(report, *moved(report, judge)).findings if each.basis[0].interval]
    (basis, *_) = finding.basis
    other = evolve(finding, tests=("reference",), basis=(evolve(basis, test="reference", value="0.10", interval=""),))
    beside = flat(render("terminal", evolve(report, findings=(finding, other))))
    assert "format +0.30 [0.10, 0.50] n=40; reference 0.10" in beside
    alone = flat(render("terminal", evolve(report, findings=(other,))))
    assert "Changes its verdict more than asking again does: 0.10 n=40" in alone


def test_a_judge_without_a_record_was_not_asked(render) -> None:
    report = evolve(sample_report(), judges=(*sample_report().judges, "late"), measures=(), missing_records=5)
    assert "late not asked jrh run again: this judge was not asked yet" in flat(render("terminal", report, width=200))
    assert "Not asked: the run stopped first." in render("html", report)


def test_a_judge_of_unknown_cost_says_what_is_unknown(render) -> None:
    report = sample_report()
    judge = report.judges[0]
    line = SpendLine(
        role="judge", name=judge, task=report.tasks[0].task.name, test="format", model="m", replies=4, cost=0.0,
        unknown=4, prompt_tokens=0, completion_tokens=0, tokens_unknown=4,
    )  # fmt: skip
    assert ", cost unknown" in flat(render("terminal", evolve(report, spending=(line,), measures=())))


def _changed(report: RunReport, judge: str) -> Measure:
    return evolve(moved(report, judge)[0], name="accuracy-change", interval=Interval(low=-0.1, high=0.6))


@pytest.mark.parametrize("reporter", ["terminal", "markdown", "html", "json"])
def test_every_output_says_which_family_is_controlled(render, reporter: str) -> None:
    report = sample_report()
    report = evolve(report, measures=(*report.measures, *moved(report, report.judges[0])))
    whole = jrh_measuring.with_findings(report)
    assert whole.family is not None
    said = {"json": '"family":'}.get(reporter, whole.family.sentence)
    text = flat(render(reporter, whole))
    assert said in text
    if reporter == "terminal":
        assert text.endswith(said), "one screen begins with the answer"
    elif reporter != "json":
        finding = next(each.statement for each in whole.findings if each.judge)
        assert text.index(finding) < text.index(said), "the answer comes before what is controlled"
    assert said not in flat(render(reporter, evolve(whole, family=None))).replace('"family":null', "")


def test_the_terminal_shows_what_is_decided_before_what_is_open(render) -> None:
    report = evolve(sample_report(), measures=())
    judge = report.judges[0]
    about = {"judge": judge, "task": report.tasks[0].task.name, "n_trials": 40, "n_items": 40}
    ends = Interval(low=-0.1, high=0.6)
    opened = [
        Measure(name=name, test=name, estimate=0.25, interval=ends, unit="difference", **about)
        for name in ("position-bias", "accuracy-change")
    ]
    good = Measure(name="jss", test="templates", estimate=0.99, interval=Interval(low=0.97, high=1.0), **about)
    text = flat(render("terminal", with_findings(report, *opened, good)))
    assert text.index("good Keeps its verdict") < text.index("inconclusive ")


def test_the_page_shows_the_sign_of_a_difference_and_the_meaning_of_a_flag(render) -> None:
    report = sample_report()
    excess, p = moved(report, report.judges[0])
    page = render("html", with_findings(report, evolve(excess, flags=("few-events",)), p))
    assert '<span class="e">+0.30</span>' in page
    assert '<abbr title="only a few items or clusters vary; actual coverage may differ' in page
