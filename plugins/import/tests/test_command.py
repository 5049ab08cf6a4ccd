"""What the importer accepts and refuses."""

import json
import re
import textwrap

import pytest
from click.testing import CliRunner
from jrh import JrhError
from jrh_import.commands import import_table
from jrh_testing import Project


class Done:
    """What the command did, with its errors as the program shows them."""

    def __init__(self, result):
        expected = isinstance(result.exception, JrhError)
        assert expected or result.exception is None or isinstance(result.exception, SystemExit), result.exception
        self.exit_code = result.exception.exit_code if expected else int(result.return_value or 0)
        self.stderr = str(result.exception) if expected else result.output
        self.output = self.stderr


class InProcess(Project):
    """A project in which `jrh import` is called in this process, which is much faster; the rest runs as a program."""

    def run(self, *arguments, **more):
        if arguments[0] != "import":
            return super().run(*arguments, **more)
        return Done(CliRunner().invoke(import_table, [str(part) for part in arguments[1:]], standalone_mode=False))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return InProcess(tmp_path)


YAML = """\
name: log
path: {path}
task: {{scale: {{labels: ["YES", "NO"]}}}}
columns: {{item: item, judge: judge, label: label, gold: gold}}
{more}
"""
HEADER = "item,judge,label,gold\n"


def imported(project, rows, more="", path="log.csv", header=HEADER):
    project.write(path, header + rows)
    project.write("log.yaml", YAML.format(path=path, more=more))
    return project.run("import", "log.yaml", "--run-dir", "out")


TABLE = "id,model,verdict,human\ni1,mini,YES,YES\ni2,mini,NO,YES\n"


def test_the_table_itself_is_refused_with_the_smallest_file_that_describes_it_and_that_file_works(project):
    project.write("verdicts.csv", TABLE)
    done = project.run("import", "verdicts.csv")
    assert done.exit_code == 2
    assert done.stderr.startswith("'verdicts.csv' is a table. `jrh import` takes a YAML file that says where the table")
    assert "A minimal one, 'verdicts.yaml' in the same directory:" in done.stderr
    smallest = re.search(r"\n\n(  name: .*?)\n\n", done.stderr, re.DOTALL)
    project.write("verdicts.yaml", textwrap.dedent(smallest[1]))
    done = project.run("import", "verdicts.yaml")
    assert done.exit_code == 0
    said = done.output.splitlines()
    assert said[:4] == [
        "Imported 2 verdicts of 1 judge on 2 items into runs/verdicts.",
        "",
        "Not measurable from this log:",
        "- No repeats: rerun noise cannot be measured. Ask twice and number the calls in a column `repeat`.",
    ]
    assert said[-1] == "Next: jrh report runs/verdicts"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("verdicts.parquet", b"PAR1\xff\xfe", "'verdicts.parquet' is a table."),
        ("log.JSONL", b'{"item": 1}\n', "'log.JSONL' is a table."),
        ("verdicts.txt", TABLE.encode(), "verdicts.txt:1:1: expected a mapping, got the text"),
        ("verdicts.yaml", TABLE.encode(), "verdicts.yaml:1:1: expected a mapping, got the text"),
        ("empty.yaml", b"", "empty.yaml: expected a mapping, got nothing"),
        ("latin", b"caf\xe9", "latin:1: this is not UTF-8 text"),
        ("list.json", b"[]", "list.json:1:1: expected a mapping, got a list"),
    ],
)
def test_what_describes_no_table_is_told_what_is_expected(project, name, content, message):
    project.write(name, content)
    done = project.run("import", name)
    assert done.exit_code == 2
    assert done.stderr.startswith(message)
    assert "`jrh import` takes a YAML file that says where the table is" in done.stderr
    assert not (project.path / "runs").exists()


@pytest.mark.parametrize(("name", "message"), [("nowhere.csv", "cannot be read"), ("more.yaml", "nmae: unknown key")])
def test_a_file_that_is_not_there_or_has_a_slip_gets_no_lecture(project, name, message):
    project.write("more.yaml", "nmae: x\n")
    done = project.run("import", name)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "jrh import" not in done.stderr


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("i1,j,MAYBE,YES\n", "log.csv:2: the label 'MAYBE' is not on the scale YES, NO"),
        ("i1,j,YES,YEP\n", "log.csv:2: the gold label 'YEP' is not on the scale YES, NO"),
        ("i1,j,YES,YES\ni1,j,NO,YES\n", "log.csv:3: the verdict of 'j' on item 'i1' (reference, repeat 0) duplicates"),
        ("i1,j,YES,YES\ni1,k,NO,NO\n", "log.csv:3: item 'i1' has the gold label 'NO' here and 'YES' at"),
        (",j,YES,YES\n", "log.csv:2: item, judge and test must not be empty"),
        ("i1,j,YES\n", "log.csv:2: too few cells: 3, but the header has 4"),
        ("", "the file has a header but no rows"),
    ],
)
def test_bad_rows_are_told_with_their_line_and_nothing_is_written(project, rows, message):
    done = imported(project, rows)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (project.path / "out").exists()


def test_all_bad_rows_are_told_at_once_and_bounded(project):
    done = imported(project, "".join(f"i{n},j,MAYBE,YES\n" for n in range(50)))
    assert done.stderr.count("is not on the scale") == 20
    assert "and 30 more problems" in done.stderr


def test_off_scale_labels_may_be_a_status_and_repeats_may_be_counted(project):
    done = imported(project, "i1,j,MAYBE,YES\ni1,j,no,YES\ni1,j,,YES\n", "off_scale: status\ncount_repeats: true")
    assert done.exit_code == 0, done.output
    records = project.records("out")
    assert records.text("status") == ["off_scale", "ok", "unparsable"]
    assert records.number("repeat").tolist() == [0, 1, 2]
    assert records.text("canonical") == [None, "NO", None]


def test_texts_may_stand_for_labels(project):
    done = imported(project, "i1,j,1,0\n", 'labels: {"1": "YES", "0": "NO"}')
    assert done.exit_code == 0, done.output
    assert project.records("out").text("canonical") == ["YES"]
    assert project.records("out").text("gold") == ["NO"]


def test_a_column_that_is_not_there_is_told_with_the_nearest_one(project):
    done = imported(project, "i1,j,YES,YES\n", header="item,judge,labl,gold\n")
    assert done.exit_code == 2
    assert "there is no column 'label' (columns.label); did you mean 'labl'?" in done.stderr


def test_mistakes_of_the_import_file_have_their_line(project):
    done = imported(project, "i1,j,YES,YES\n", "valeus: {}")
    assert done.exit_code == 2
    assert "log.yaml:5" in done.stderr
    assert "unknown key" in done.stderr
    done = imported(project, "i1,j,YES,YES\n", "values: {jugde: x}")
    assert "unknown target jugde; did you mean 'judge'?" in done.stderr
    done = imported(project, "i1,j,YES,YES\n", "values: {human: x}")
    assert "values: unknown target human; did you mean 'gold'?" in done.stderr
    assert done.stderr.count("values: ") == 1


def test_the_label_one_point_zero_is_not_the_label_one(project):
    project.write("log.jsonl", '{"item": "a", "judge": "j", "label": 1.0}\n')
    project.write(
        "log.yaml",
        "name: log\npath: log.jsonl\ntask: {scale: {ordinal: [1, 3]}}\n"
        "columns: {item: item, judge: judge, label: label}\n",
    )
    done = project.run("import", "log.yaml")
    assert done.exit_code == 2
    assert "log.jsonl:1: the label '1.0' is not on the scale 1, 2, 3" in done.stderr


TASKS = """\
name: log
path: log.csv
tasks:
  facts: {{scale: {{labels: ["YES", "NO"]}}}}
  texts: {{scale: {{ordinal: [1, 3]}}}}
columns: {{task: task, item: item, judge: judge, label: label, simulated: simulated}}
{more}
"""


def imported_tasks(project, rows, more=""):
    project.write("log.csv", "task,item,judge,label,simulated\n" + rows)
    project.write("log.yaml", TASKS.format(more=more))
    return project.run("import", "log.yaml", "--run-dir", "out")


def test_every_task_has_its_scale_and_every_judge_its_mark(project):
    rows = "texts,i1,mini,3,no\nfacts,i1,mini,yes,False\nfacts,i1,die,NO,TRUE\ntexts,i1,die,,1\nfacts,i2,rest,NO,\n"
    done = imported_tasks(project, rows)
    assert done.exit_code == 0, done.output
    assert "Imported 5 verdicts of 3 judges on 3 items" in done.output
    records = project.records("out")
    assert records.text("task") == ["texts", "facts", "facts", "texts", "facts"]
    assert records.text("canonical") == ["3", "YES", "NO", None, "NO"]
    assert records.number("simulated").tolist() == [0, 0, 1, 1, 0]


def test_judges_whose_cell_is_empty_are_what_the_file_says_of_all(project):
    done = imported_tasks(project, "facts,i1,mini,YES,no\nfacts,i1,die,YES,\n", "simulated: true")
    assert done.exit_code == 0, done.output
    assert project.records("out").number("simulated").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("fcts,i1,j,YES,no\n", "log.csv:2: task 'fcts' is not in `tasks`; did you mean 'facts'?"),
        (",i1,j,YES,no\n", "log.csv:2: task '' is not in `tasks`. Available: facts, texts"),
        ("texts,i1,j,YES,no\n", "log.csv:2: the label 'YES' is not on the scale 1, 2, 3"),
        ("facts,i1,j,YES,maybe\n", "log.csv:2: simulated: 'maybe' is neither yes nor no; write true or false"),
        (
            "facts,i1,j,YES,no\nfacts,i2,j,YES,yes\n",
            "log.csv:3: the judge 'j' is simulated here and real at",
        ),
    ],
)
def test_rows_of_no_task_or_of_a_doubtful_judge_are_told(project, rows, message):
    done = imported_tasks(project, rows)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (project.path / "out").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("tasks: {other: {scale: {labels: [a, b]}}}", "describe one task as `task`, or several by name as `tasks`"),
        ("values: {task: log}", "describe the tasks by name in `tasks` instead of `task`"),
        ("resamples: 3", "resamples"),
        ("level: 1.5", "level"),
        ("seed: 0.5", "seed"),
        ("values: {variant: true}", "the value of variant could be text or a number; write it in quotes"),
        ("layout: records", "there is no column 'family' (columns.family)"),
    ],
)
def test_import_files_that_contradict_themselves_are_refused(project, more, message):
    done = imported(project, "i1,j,YES,YES\n", more)
    assert done.exit_code == 2
    assert message in done.stderr


def test_an_import_file_that_describes_no_task_is_refused(project):
    project.write("log.csv", HEADER + "i1,j,YES,YES\n")
    project.write("log.yaml", "name: log\npath: log.csv\ncolumns: {item: item, judge: judge, label: label}\n")
    done = project.run("import", "log.yaml")
    assert done.exit_code == 2
    assert "describe one task as `task`, or several by name as `tasks`" in done.stderr


def test_cases_keep_their_id_and_one_id_is_one_question(project):
    header = "item,judge,label,gold,case,repeat\n"
    more = "values: {{test: edits}}\ncolumns: {{{}}}"
    columns = "item: item, judge: judge, label: label, case: case, repeat: repeat"
    text = YAML.replace("columns: {{item: item, judge: judge, label: label, gold: gold}}\n", "")
    project.write("log.yaml", text.format(path="log.csv", more=more.format(columns)))
    project.write("log.csv", header + "i1,j,YES,,c1,0\ni1,j,NO,,c2,0\ni1,j,NO,,c1,1\n")
    done = project.run("import", "log.yaml", "--run-dir", "out")
    assert done.exit_code == 0, done.output
    assert project.records("out").text("case_id") == ["c1", "c2", "c1"]

    project.write("log.csv", header + "i1,j,YES,,c1,0\ni2,j,NO,,c1,0\n")
    done = project.run("import", "log.yaml", "--run-dir", "out")
    assert done.exit_code == 2
    assert "log.csv:3: the case 'c1' is another question at" in done.stderr


@pytest.mark.parametrize(
    ("rows", "accuracy", "flags"),
    [
        ("i1,j,YES,YES\n", 1.0, ["few-items"]),
        ("i1,j,,YES\ni2,j,,NO\n", None, ["all-missing"]),
        ("i1,j,YES,\ni2,j,NO,\n", None, []),
    ],
    ids=["one item of one judge", "all missing", "no gold label"],
)
@pytest.mark.slow
def test_what_a_thin_table_cannot_show_has_no_number_and_says_so(project, rows, accuracy, flags):
    assert imported(project, rows, "resamples: 100").exit_code == 0
    done = project.run("report", "out", "--format", "json,terminal", "--full")
    assert done.exit_code == 0, done.output
    assert "not estimable" in done.stdout

    found = json.loads(project.read("out/report.json"), parse_constant=pytest.fail)["measures"]
    whole = [each for each in found if each["name"] == "as-expected" and not each["cell"]]
    assert [(each["estimate"], each["interval"] is None) for each in whole] == [(accuracy, accuracy is None)] * len(
        whole
    )
    assert all(each["flags"] == flags for each in whole)
    # Nobody was asked twice, no other judge and no other condition: there is nothing that could agree.
    between = ("rerun-disagreement", "noise-floor", "krippendorff-alpha", "generalizability")
    assert not [each for each in found if each["name"] in between and each["estimate"] is not None]
    assert any(each["name"] == "rerun-disagreement" for each in found)


def test_parquet_tables_are_read(project):
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"item": ["a", "b"], "judge": ["j", "j"], "label": [2, None], "gold": [2, 3]})
    parquet.write_table(table, project.path / "log.parquet")
    project.write(
        "log.yaml",
        "name: log\npath: log.parquet\ntask: {scale: {ordinal: [1, 3]}}\n"
        "columns: {item: item, judge: judge, label: label, gold: gold}\n",
    )
    done = project.run("import", "log.yaml")
    assert done.exit_code == 0, done.output
    assert project.records("runs/log").text("canonical") == ["2", None]
    assert project.records("runs/log").text("gold") == ["2", "3"]


def test_importing_again_replaces_the_import(project):
    imported(project, "i1,j,YES,YES\ni2,j,YES,YES\n")
    done = imported(project, "i3,j,NO,YES\n")
    assert done.exit_code == 0, done.output
    assert project.records("out").text("item_id") == ["i3"]


@pytest.mark.slow
def test_a_run_is_never_overwritten_by_an_import(project):
    project.write("items.jsonl", '{"id": "a", "request": "r", "response": "x", "label": "YES"}\n')
    project.write(
        "suite.yaml",
        "name: log\ndata: {source: jsonl, path: items.jsonl}\ntask: {scale: {labels: [YES, NO]}}\n"
        "judges: [simulated]\n",
    )
    assert project.run("run", "suite.yaml", "--run-dir", "out").exit_code == 0
    done = imported(project, "i1,j,YES,YES\n")
    assert done.exit_code == 2
    assert "holds a run that was not imported" in done.stderr


def test_metrics_are_added_as_in_a_suite_and_mistakes_have_their_line(project):
    metrics = "metrics: {add: [confusion, noise-excess: {all: true}]}"
    done = imported(project, "i1,j,YES,YES\ni2,j,NO,YES\n", metrics)
    assert done.exit_code == 0, done.output
    report = project.run("report", "out", "--format", "json")
    assert report.exit_code == 0, report.output
    used = {part["name"]: part["options"] for part in json.loads(project.read("out/report.json"))["components"]}
    assert {"confusion", "gold-accuracy", "noise-excess"} <= set(used)
    assert used["noise-excess"]["all"] is True

    done = imported(project, "i1,j,YES,YES\n", "metrics: [gold-accuracy]")
    assert done.exit_code == 0, done.output
    done = imported(project, "i1,j,YES,YES\n", "metrics: {add: [confusoin]}")
    assert done.exit_code == 2
    assert "log.yaml:5:17: unknown metric 'confusoin' in metrics.add[0]" in done.stderr
    assert "Did you mean 'confusion'?" in done.stderr


def test_what_cannot_be_measured_ends_the_import_and_is_in_the_notes_of_the_report(project):
    done = imported(project, "i1,j,YES,YES\ni2,j,NO,YES\n")
    (told,) = [line for line in done.output.splitlines() if line.startswith("- One judge:")]
    assert told == "- One judge: agreement between judges cannot be measured. Log their names in a column `judge`."
    assert not [line for line in done.output.splitlines() if "gold" in line]
    project.run("report", "out", "--format", "json")
    assert told.removeprefix("- ") in json.loads(project.read("out/report.json"))["notes"]


def test_the_help_shows_no_limits_where_there_are_none() -> None:
    told = CliRunner().invoke(import_table, ["--help"]).output
    assert "--threshold" in told
    assert "None" not in told
