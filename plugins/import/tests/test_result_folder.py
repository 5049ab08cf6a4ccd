"""A result folder of the Judge Reliability Harness is imported as it is.

The tables are made up; their columns are those of that program.
"""

import csv
from xml.sax.saxutils import escape
from zipfile import ZipFile

import pytest
from jrh import JrhError
from jrh_import.result_folder import read_folder
from jrh_import.tables import Format, read_table

COLUMNS = (
    *("test_name", "original_request", "original_response", "original_idx", "original_expected", "generation_response"),
    *("perturbed_idx", "validation_score", "prompted_bucket", "rubric_id", "autograder_score", "autograder_reasoning"),
)


def row(test, item, gold, expected, score, *, place=0, bucket="", rubric="", why="so"):
    values = (test, "?", f"text {item}", item, gold, "new", f"{item}_{place}", expected, bucket, rubric, score, why)
    return dict(zip(COLUMNS, values, strict=True))


def write_csv(path, rows, columns=COLUMNS):
    # As pandas writes a table: the first column is the unnamed index.
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *columns])
        writer.writerows([number, *(each[name] for name in columns)] for number, each in enumerate(rows))


def write_xlsx(path, rows, columns=COLUMNS):
    """Write the smallest workbook: numbers as numbers, truth values as truth values, texts inline."""

    def cell(value):
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'

    table = [list(columns), *([each[name] for name in columns] for each in rows)]
    sheet = "".join(f"<row>{''.join(cell(value) for value in line)}</row>" for line in table)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with ZipFile(path, "w") as packed:
        packed.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        )
        packed.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        packed.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>",
        )
        packed.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        whole = f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>'
        packed.writestr("xl/worksheets/sheet1.xml", whole)


FLIPS = [
    row("label_flip", "a", "1", "0", "0"),
    row("label_flip", "b", "0", "True", "False", why=""),
    row("label_flip", "c", "1", "0", ""),
]


def told(record):
    return (record.test, record.judge, record.item_id, record.gold, record.expected, record.canonical, record.variant)


def test_scores_expected_labels_and_gold_are_read_as_that_harness_compares_them(tmp_path):
    write_csv(tmp_path / "label_flip_results_openai_gpt-4o-mini.csv", FLIPS)
    found = read_folder(tmp_path, None)
    (task,) = found.tasks
    assert (task.name, task.scale.labels) == ("judged", ("1", "0"))
    judge = "openai_gpt-4o-mini"
    assert [told(record) for record in found.records] == [
        ("label_flip", judge, "a", "1", "0", "0", ""),
        ("label_flip", judge, "b", "0", "1", "0", ""),
        ("label_flip", judge, "c", "1", "0", None, ""),
    ]
    assert [record.status.value for record in found.records] == ["ok", "ok", "unparsable"]
    assert {record.expectation for record in found.records} == {"equals"}
    assert found.origins[0].endswith("gpt-4o-mini.csv:2")
    # The pass rate that harness prints for these rows: equal scores of the rows that have one.
    assert sum(record.canonical == record.expected for record in found.records) == 1


def test_a_workbook_is_read_as_the_csv_file_is(tmp_path):
    folders = {}
    for kind, write in (("csv", write_csv), ("xlsx", write_xlsx)):
        folder = tmp_path / kind
        folder.mkdir()
        rows = [row("synthetic_ordinal", f"e{n}", 3, float(n), n, bucket=str(n)) for n in range(1, 7)]
        write(folder / f"synthetic_ordinal_results_mini_openai_gpt.{kind}", rows)
        folders[kind] = read_folder(folder, None)
    assert folders["xlsx"].tasks == folders["csv"].tasks
    assert folders["xlsx"].tasks[0].scale.labels == ("1", "2", "3", "4", "5", "6")
    assert folders["xlsx"].records == folders["csv"].records
    assert [record.variant for record in folders["csv"].records] == [f"level-{n}" for n in range(1, 7)]


def test_seeds_and_repeats_of_unchanged_questions_stay_apart(tmp_path):
    columns = ("original_idx", "request", "response", "expected", "autograder_score", "seed", "retry_idx")
    rows = [
        dict(zip(columns, ("a", "?", "x", "4", str(4 + (seed == 9)), str(seed), str(again)), strict=True))
        for seed in (7, 9)
        for again in range(2)
    ]
    write_csv(tmp_path / "stochastic_stability_results_m.csv", rows, columns)
    found = read_folder(tmp_path, "1-6")
    assert [(each.test, each.seed, each.variant, each.repeat) for each in found.records] == [
        ("stochastic_stability", str(seed), f"seed={seed}", again) for seed in (7, 9) for again in range(2)
    ]
    assert len({each.trial_id for each in found.records}) == 4
    assert [each.canonical == each.expected for each in found.records] == [True, True, False, False]


def test_entries_of_a_rubric_are_tasks_of_their_own(tmp_path):
    rows = [row("agent_perturbation", "r1", "1", "0", "0", rubric=rubric, place=rubric) for rubric in ("safe", "kind")]
    write_csv(tmp_path / "agent_perturbation_results_m.csv", rows)
    found = read_folder(tmp_path, None)
    assert [task.name for task in found.tasks] == ["safe", "kind"]
    assert {record.task for record in found.records} == {"safe", "kind"}


def test_what_is_no_result_is_an_error_that_says_what_is(tmp_path):
    with pytest.raises(JrhError, match=r"TEST_results_JUDGE\.csv or \.xlsx"):
        read_folder(tmp_path, None)
    write_csv(tmp_path / "x_results_m.csv", [{"a": 1}], ("a",))
    with pytest.raises(JrhError, match="no column 'original_idx'"):
        read_folder(tmp_path, None)
    write_csv(tmp_path / "x_results_m.csv", FLIPS)
    with pytest.raises(JrhError, match=r"x_results_m\.csv:2: '0' is not on the scale 2, 3"):
        read_folder(tmp_path, "2-3")


def test_a_file_that_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(JrhError, match="not a readable Excel workbook"):
        read_table(path, Format.XLSX, ",")


def test_the_command_imports_a_folder(tmp_path, monkeypatch, capsys):
    from jrh.cli import invoke

    folder = tmp_path / "persuade_20251103"
    folder.mkdir()
    write_csv(folder / "label_flip_results_m.csv", FLIPS)
    monkeypatch.chdir(tmp_path)
    assert invoke(["import", str(folder), "--run-dir", "found"]) == 0
    assert "was written by judge-reliability-harness: read with --from" in capsys.readouterr().out
    assert invoke(["import", str(folder), "--from", "judge-reliability-harness", "--run-dir", "run"]) == 0
    assert "Imported 3 verdicts of 1 judge on 3 items into run." in capsys.readouterr().out
