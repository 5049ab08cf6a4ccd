import json
import re

from attrs import evolve
from jrh import RecordTable
from jrh_testing import empty_report

_MAIN = 2
"""The heat map's table, behind the two of the answer."""


def _tables(text: str) -> list[list[list[str]]]:
    """Return the cells of every table; a pipe that is escaped parts nothing."""
    tables, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            current.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif current:
            tables.append(current)
            current = []
    return tables


def test_every_number_equals_that_of_the_json_report(render, report) -> None:
    found = json.loads(render("json", report))["measures"]
    rows = {}
    markdown = render("markdown", report).partition("## Every measure")[2]
    for block in re.findall(r"<details><summary>(.*?)</summary>(.*?)</details>", markdown, flags=re.DOTALL):
        for row in _tables(block[1])[0][2:]:
            rows[block[0], row[0].removesuffix(" (simulated)"), row[1], row[2]] = row[3:]
    assert len(rows) == len(found)
    for measure in found:
        cell = ", ".join(f"{key}={value}" for key, value in measure["cell"].items())
        row = rows[measure["name"], measure["judge"], measure["test"], cell]
        if measure["estimate"] is None:
            assert row[0] == "not estimable (degenerate)"
            continue
        assert float(row[0].strip("<>")) == round(measure["estimate"], 3) + 0.0
        assert int(row[3].split()[0]) == measure["n_items"]
        if measure["interval"]:
            low, high = (float(end.strip("<>")) for end in row[1].replace("\\", "").strip("[]").split(", "))
            assert abs(low - measure["interval"]["low"]) <= 0.001
            assert abs(high - measure["interval"]["high"]) <= 0.001


def test_every_row_has_as_many_cells_as_its_heading_whatever_the_text(render, report) -> None:
    evil = "a|b\n| c | `d` <script>alert(1)</script> \\| [x](javascript:y) \x1b[31m"
    hostile = evolve(
        report,
        suite=evil,
        judges=(evil,),
        simulated=frozenset(),
        notes=(evil, "# not a heading"),
        measures=tuple(
            evolve(measure, judge=evil, cell={"variant": evil}, note=evil)
            for measure in report.measures
            if measure.judge == "baseline"
        ),
        attrition=(evolve(report.attrition[0], rejected={evil: 1}),),
        components=(evolve(report.components[0], options={evil: evil}),),
        records=RecordTable.from_columns({"judge": [evil], "status": ["refused"]}),
    )
    text = render("markdown", hostile)

    for table in _tables(text):
        assert {len(row) for row in table} == {len(table[0])}
    assert "<script" not in text
    assert "\x1b" not in text
    assert "](" not in text.replace("\\](", "")
    assert "\n- \\# not a heading" in text


def test_the_main_table_has_judges_tests_intervals_and_missing_counts(render, report) -> None:
    main = _tables(render("markdown", report))[_MAIN]

    assert main[0] == ["Judge", "Test", "as expected", "flip rate", "noise floor", "self-kappa"]
    assert main[6] == [
        "gpt-4o-mini",
        "format",
        r"0.680 \[0.629, 0.710\] n=60, 3 verdicts missing",
        r"0.063 \[0.012, 0.094\] n=60, 3 verdicts missing",
        r"0.042 \[0.000, 0.073\] n=60, 3 verdicts missing (reference)",
        "0.999 n=60 few-items",
    ]
    assert [row[0] for row in main[2:]] == ["baseline"] * 3 + ["gpt-4o-mini"] * 3 + ["yes-man (simulated)"] * 3


def test_missing_verdicts_faults_and_rejected_cases_are_tabulated(render, report) -> None:
    text = render("markdown", report)
    tables = {tuple(table[0]): table[2:] for table in _tables(text)}

    assert tables["judge", "trials", "unparsable", "timeout"][1] == ["gpt-4o-mini", "23", "2", "1"]
    assert tables["model", "kind", "failed attempts", "retried", "final"] == [
        ["mini", r"rate\_limit", "12", "12", "0"],
        ["mini", "timeout", "4", "3", "1"],
    ]
    lost = "rejected: words-unchanged: a word changed (4); skipped: no paragraph break (3)"
    assert tables["task", "test", "items", "drafted", "kept", "rejected and skipped"] == [
        ["essays", "format", "60", "180", "176", lost]
    ]


def test_what_the_run_was_made_of_is_told_with_versions_options_and_seeds(render, report) -> None:
    text = render("markdown", report)

    assert '| judge | gpt-4o-mini | jrh-judges/llm | 0.1.0 | model="mini", parser="json", seed=3 |' in text
    assert "| judge | yes-man (simulated) | jrh-simulated/noisy | 0.2.0 | accuracy=0.6 |" in text
    assert "seed 7, jrh 0.1.0" in text


def test_details_can_be_left_out(render, report) -> None:
    assert "## Every measure" in render("markdown", report)
    assert "## Every measure" not in render("markdown", report, details=False)


def test_measures_outside_the_tasks_are_not_lost(render, report, measure) -> None:
    text = render("markdown", evolve(report, measures=(measure("answered", task="", test="", estimate=0.25),)))

    assert "## Every measure of no task" in text
    assert "| baseline |  |  | 0.250 |" in text


def test_an_empty_run_is_a_short_document(render) -> None:
    text = render("markdown", empty_report())

    assert "No trials were planned" in text
    assert "|" not in text


def test_accuracy_is_against_the_gold_label_where_a_test_keeps_it(render, report) -> None:
    measures = [each for each in report.measures if each.name == "as-expected" and not each.cell]
    against_gold = tuple(evolve(each, name="gold-accuracy", estimate=0.25, interval=None) for each in measures[:1])

    main = _tables(render("markdown", evolve(report, measures=(*report.measures, *against_gold))))[_MAIN]

    assert main[2][2].startswith("0.250")
    assert main[3][2].startswith("0.7")


def test_agreement_with_oneself_does_not_pass_for_accuracy(render, report) -> None:
    def expecting(expectation: str) -> RecordTable:
        columns = {"task": "essays", "judge": "baseline", "status": "ok"}
        cases = {"test": ["reference", "format"], "expectation": ["equals", expectation]}
        return RecordTable.from_columns({name: [text] * 2 for name, text in columns.items()} | cases)

    texts = [render("markdown", evolve(report, records=expecting(each))) for each in ("same", "changes")]
    own, other = (_tables(text)[_MAIN] for text in texts)

    assert [row[2][:5] for row in own[2:4]] == ["0.710", ""]
    assert [row[2][:5] for row in other[2:4]] == ["0.710", "0.710"]
