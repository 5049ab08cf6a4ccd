"""What the importer accepts and refuses."""

import pytest
from click.testing import CliRunner
from jrh import JrhError
from jrh.testing import Project
from jrh_import.command import command


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
        return Done(CliRunner().invoke(command, [str(part) for part in arguments[1:]], standalone_mode=False))


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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("i1,j,MAYBE,YES\n", "log.csv:2: the label 'MAYBE' is not on the scale YES, NO"),
        ("i1,j,YES,YEP\n", "log.csv:2: the gold label 'YEP' is not on the scale YES, NO"),
        ("i1,j,YES,YES\ni1,j,NO,YES\n", "log.csv:3: the verdict of 'j' on item 'i1' (reference, repeat 0) stands at"),
        ("i1,j,YES,YES\ni1,k,NO,NO\n", "log.csv:3: item 'i1' has the gold label 'NO' here and 'YES' at"),
        (",j,YES,YES\n", "log.csv:2: the item, the judge and the test need a name each"),
        ("i1,j,YES\n", "log.csv:2: 3 cells, and the header has 4"),
        ("", "holds no row"),
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
    assert "unknown target jugde" in done.stderr


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
