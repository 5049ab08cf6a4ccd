import io
import re
from collections.abc import Mapping

import pytest
from attrs import evolve
from jrh import RecordTable, RunReport, Scale, Task
from jrh.values import Column, Importance, MeasureRef, Row, Section, TablePart, TaskSummary
from jrh_testing import empty_report
from rich.cells import cell_len


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(render, report, width: int) -> None:
    lines = render("terminal", report, width=width, full=True).splitlines()

    assert max(len(line) for line in lines) <= width
    assert not [line for line in lines if line != line.rstrip()]


_LONG_NAMES = {
    "baseline": "gpt-4o-mini-2024-07-18-temperature-0-with-a-very-long-name-of-its-own",
    "gpt-4o-mini": "\u88c1\u5224\u30e2\u30c7\u30eb" * 8,
}


def _with_answer(report: RunReport, names: Mapping[str, str]) -> RunReport:
    """Return the report with judges of these names, and the answer table of its measures."""
    renamed = [names.get(judge, judge) for judge in report.judges]
    known = evolve(
        report,
        judges=tuple(renamed),
        measures=tuple(
            evolve(measure, judge=names.get(measure.judge, measure.judge), flags=(*measure.flags, "few-events"))
            for measure in report.measures
        ),
    )
    places = [
        next(
            at
            for at, measure in enumerate(known.measures)
            if measure.judge == judge and measure.interval and not measure.cell
        )
        for judge in renamed
    ]
    numbers = TablePart(
        caption="Judges, best first",
        heads=("Judge", ""),
        columns=tuple(Column(heading=name) for name in ("agreement", "worst test", "as expected there", "$ per 1,000")),
        rows=tuple(
            Row(
                heads=(judge, "=1"),
                cells=(MeasureRef(measure=at), "label-flip", MeasureRef(measure=at), "$0.0647 + 537 calls"),
            )
            for judge, at in zip(renamed, places, strict=True)
        ),
    )
    step = "label more items: 80% power for an effect of 0.2 takes 140 to 260 labelled items in all"
    uses = TablePart(
        caption="Uses",
        heads=("Judge",),
        columns=(Column(heading="not for"), Column(heading="next step")),
        rows=tuple(Row(heads=(judge,), cells=("format, paraphrase", step)) for judge in renamed),
    )
    section = Section(name="answer", title="Answer", importance=Importance.FIRST, parts=(uses, numbers))
    return evolve(known, sections=(section,))


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("names", [{}, _LONG_NAMES], ids=["short", "long"])
def test_answer_tables_keep_every_number_at_every_width(render, report, width: int, names) -> None:
    shown = render("terminal", _with_answer(report, names), width=width)
    words = shown.split()

    assert max(map(cell_len, shown.splitlines())) <= width
    for text in ("0.71", "0.66,", "0.74]", "0.68", "0.65", "few-events", "$0.0647", "537", "140", "260"):
        assert any(text in word for word in words), text
    assert words.count("260") == words.count("537") == len(report.judges)
    for name in names.values():
        # Long names wrap, and lose no letter.
        assert name[-8:] in "".join(words)


def test_intervals_and_sizes_stand_below_the_estimates(render, report) -> None:
    lines = render("terminal", report, width=120, full=True).splitlines()
    at = next(number for number, line in enumerate(lines) if re.match(r"  baseline +format", line))

    assert re.split(r" {2,}", lines[at].strip()) == ["baseline", "format", "0.71", "0.03", "0.01", "0.00"]
    assert re.split(r" {2,}", lines[at + 1].strip()) == [
        "[0.66, 0.74]", "[0.00, 0.06]", "[0.00, 0.04]", "n=60",
    ]  # fmt: skip


def test_missing_verdicts_stand_beside_every_rate(render, report) -> None:
    text = render("terminal", report, width=160, full=True)
    block = text[
        re.search("gpt-4o-mini +reference", text).start() : re.search("yes-man .simulated. +reference", text).start()
    ]

    assert block.count("n=60,") == block.count("3 verdicts missing") == 2 + 3 + 3
    assert block.count("(reference)") == 1  # the noise floor of the test that asks once


def test_simulated_judges_are_marked_wherever_they_appear(render, report) -> None:
    for width in (60, 80, 120):
        text = " ".join(render("terminal", report, width=width, full=True).split())

        assert text.count("yes-man") == text.count("yes-man (simulated)") >= 4


def test_pipes_and_no_color_get_no_colour_codes(render, report, monkeypatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in render("terminal", report, full=True)

    monkeypatch.setattr("sys.stdout", _Terminal())
    assert "\x1b[" in render("terminal", report, full=True)

    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render("terminal", report, full=True)
    assert "\x1b[" in render("terminal", report, color="always", full=True)


def test_colour_changes_no_character_of_the_text(render, report) -> None:
    coloured = render("terminal", report, width=100, color="always", full=True)
    plain = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()]

    assert plain == render("terminal", report, width=100, color="never", full=True).splitlines()


def test_the_width_follows_the_terminal_and_is_100_or_columns_elsewhere(render, report, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert render("terminal", report, full=True) == render("terminal", report, width=100, full=True)

    monkeypatch.setenv("COLUMNS", "70")
    assert render("terminal", report, full=True) == render("terminal", report, width=70, full=True)

    monkeypatch.setattr("sys.stdout", _Terminal())
    assert render("terminal", report, color="never", full=True) == render(
        "terminal", report, width=70, color="never", full=True
    )


def test_hostile_names_do_not_reach_the_terminal(render, report) -> None:
    evil = "\x1b[2Jevil\x07\u202e [red]x[/red] :smile: " + "y" * 5000
    hostile = evolve(
        report,
        suite=evil,
        judges=(evil,),
        notes=(evil,),
        simulated=frozenset({evil}),
        measures=tuple(evolve(measure, judge=evil) for measure in report.measures if measure.judge == "baseline"),
        faults=(evolve(report.faults[0], model=evil),),
        records=RecordTable.from_columns({"judge": [evil], "status": ["timeout"]}),
    )
    text = render("terminal", hostile, width=100, full=True)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "evil [red]x[/red] :smile:" in text
    assert len(text) < 8000


def test_an_empty_run_says_so(render) -> None:
    text = render("terminal", empty_report(), full=True)

    assert "No trials were planned" in text
    assert "None" not in text


def test_an_interrupted_run_says_how_much_is_there(render, report) -> None:
    assert "All 960 planned trials have a record." in render("terminal", report, full=True)
    text = render("terminal", evolve(report, missing_records=60), full=True)
    assert "INCOMPLETE: 900 of 960 planned trials have a record; run the suite again to continue." in text
    growing = evolve(report, still_planning=True)
    told = "INCOMPLETE: 960 of 960 planned trials have a record, and not all cases are made; run the suite again"
    assert told in render("terminal", growing, full=True)
    assert "All 960 planned" not in render("terminal", growing)


def test_a_run_without_any_verdict_reports_the_statuses_and_no_number(render, report) -> None:
    nothing = evolve(
        report,
        judges=("baseline",),
        simulated=frozenset(),
        measures=tuple(
            evolve(
                measure,
                estimate=None,
                interval=None,
                n_trials=0,
                n_items=0,
                missing={"timeout": 120},
                flags=("all-missing",),
            )
            for measure in report.measures
            if measure.judge == "baseline"
        ),
        records=RecordTable.from_columns({"judge": ["baseline"] * 120, "status": ["timeout"] * 120}),
    )
    text = render("terminal", nothing, width=100, full=True)

    assert "not estimable" in text
    assert re.search(r"n=0,[^n]* 120 verdicts missing", text)
    assert "all-missing" in text
    assert not re.search(r"\d\.\d\d", text[text.index("Task essays") : text.index("Missing verdicts")])


def test_a_task_without_measures_says_so(render, report) -> None:
    lone = TaskSummary(task=Task(name="lone", scale=Scale.of_pairs()), items=3, labelled=0, gold={})
    text = render("terminal", evolve(report, tasks=(lone,)), full=True)

    assert "preference A, B; 3 items, none with gold" in text
    assert "No measures for this task." in text


def test_one_judge_has_no_total_line(render, report) -> None:
    one = evolve(report, spending=report.spending[:2])

    assert "total" in render("terminal", report, full=True)
    assert "total" not in render("terminal", one, full=True)


def test_costs_add_up_per_judge_and_never_hide_what_is_unknown(render, report) -> None:
    text = render("terminal", report, width=120, full=True)
    lines = [re.split(r" {2,}", line.strip()) for line in text[text.index("\nCost\n") :].splitlines()]

    assert [
        "gpt-4o-mini",
        "judge",
        "300",
        "$0.0412 + 60 calls of unknown price",
        "at least 220,300",
        "at least 5,000",
    ] in lines
    assert ["yes-man (simulated)", "judge", "180", "unknown", "unknown", "unknown"] in lines


def test_cautions_are_told_once_per_flag_with_their_places(render, report) -> None:
    text = " ".join(render("terminal", report, width=120, full=True).split())

    assert "few-items (self-kappa): few items; the interval is wide" in text
    assert "is approximate. Seen for baseline in format; gpt-4o-mini" in text
    assert (
        "degenerate (self-kappa): not estimable from identical values. Seen for yes-man (simulated) in format" in text
    )


def test_jss_stands_in_the_main_table_where_templates_were_varied(render, report, measure) -> None:
    assert "JSS" not in render("terminal", report, width=200, full=True)
    jss = measure("jss", test="format", estimate=0.8312, interval=None)
    per_item = measure("jss", test="format", cell={"item": "e1"}, estimate=0.25)
    lines = render(
        "terminal", evolve(report, measures=(*report.measures, jss, per_item)), width=200, full=True
    ).splitlines()

    heading = next(line for line in lines if "flip rate" in line and "noise floor" in line and "Judge" in line)
    assert heading.split()[-2:] == ["JSS", "self-kappa"]
    row = next(line for line in lines if re.match(r"  baseline +format", line))
    assert row[heading.index("JSS") :].startswith("0.83 ")
    assert "JSS: judge sensitivity score, the share of template pairs" in " ".join(" ".join(lines).split())


def test_what_the_run_was_made_of_is_in_the_other_reports(render, report) -> None:
    assert re.search("In the other reports: .*Made of", render("terminal", report, full=True, width=200))
