"""What `jrh init --data` guesses of a table, and that the suite it writes reads the table."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from excel_files import workbook
from jrh.errors import JrhError
from jrh_authoring.commands import init
from jrh_sources.guessing import propose_suite
from jrh_testing import loop_over

_ESSAYS = (
    "essay_id,assignment,full_text,holistic_score\n"
    "e1,Write about cars,Cars are useful because they take people to places,3\n"
    "e2,Write about cars,I have never driven a car but I would like to,1\n"
    "e3,Write about cats,Cats sleep all day and hunt by night in the garden,4\n"
)
_PAIRS = "prompt,response_1,response_2,winner\nWhich?,this one,that one,A\nWhy?,because,why not,B\nWho?,me,you,tie\n"
_QUESTIONS = "question,answer,grade\nIs it?,It is indeed so,correct\nWas it?,It was never so,wrong\nWill it?,No,wrong\n"
_OBJECTS = "\n".join(json.dumps({"uid": str(at), "my_answer": "x" * 60, "gold": at % 2 == 0}) for at in range(4))
_OWN_NAMES = _ESSAYS.replace("full_text", "zzz").replace("holistic_score", "q7") + "e4,Write about cats,Cats again,4\n"


def _guess(text: str, folder: Path, name: str = "table.csv", scale: str | None = None, **columns: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return propose_suite(path, name, columns, scale)[0]


@loop_over(
    "text, name, columns, scale",
    [
        pytest.param(
            _ESSAYS,
            "table.csv",
            '"id": "essay_id", "response": "full_text", "request": "assignment", "label": "holistic_score"',
            "ordinal: [1, 4]",
            id="essays",
        ),
        pytest.param(
            _PAIRS,
            "table.csv",
            '"response_a": "response_1", "response_b": "response_2", "request": "prompt", "label": "winner"',
            'pairwise: {tie: "tie"}',
            id="pairs",
        ),
        pytest.param(
            _QUESTIONS.replace(",", "\t"),
            "table.tsv",
            '"response": "answer", "request": "question", "label": "grade"',
            'labels: ["correct", "wrong"]',
            id="questions",
        ),
        pytest.param(
            _QUESTIONS.replace(",", ";"),
            "table.csv",
            '"response": "answer", "request": "question", "label": "grade"',
            'labels: ["correct", "wrong"]',
            id="semicolons",
        ),
        pytest.param(
            _OBJECTS,
            "table.jsonl",
            '"id": "uid", "response": "my_answer", "label": "gold"',
            'labels: ["true", "false"]',
            id="objects",
        ),
        pytest.param(_OWN_NAMES, "table.csv", '"response": "zzz", "label": "q7"', "ordinal: [1, 4]", id="by content"),
    ],
)
def test_columns_and_scale_are_guessed_from_names_and_contents(
    tmp_path: Path, text: str, name: str, columns: str, scale: str
) -> None:
    part = _guess(text, tmp_path, name)
    assert columns in part
    assert f"scale: {{{scale}}}" in part


def test_what_is_said_of_columns_is_short_and_true(tmp_path: Path) -> None:
    wide = ",".join(f"c{number}" for number in range(50))
    rows = "".join(f"{name},Answer {name}.,{label}{',x' * 50}\n" for name, label in (("null", "yes"), ("b", "no")))
    (tmp_path / "wide.csv").write_text(f"id,response,label,{wide}\n{rows}", encoding="utf-8")
    _, said = propose_suite(tmp_path / "wide.csv", "wide.csv", {}, None, {}, {})
    assert "c18, 31 more." in "\n".join(said)
    assert "id is empty in some rows: rows are numbered." in said


def test_a_cell_writes_no_character_into_the_suite_that_yaml_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import jrh

    monkeypatch.chdir(tmp_path)
    labels = ("A", "B", "\x1b[31mred")
    rows = "".join(f"i{number},Answer {number}.,{labels[number % 3]}\n" for number in range(9))
    Path("table.csv").write_text("id,response,label\n" + rows, encoding="utf-8")
    result = CliRunner().invoke(init, ["--data", "table.csv"], standalone_mode=False)
    assert (result.exit_code, "Left out: label-flip" in result.output) == (0, True), result.output
    ((_, items),) = jrh.read_items(Path("suite.yaml"))
    assert len(items) == 9


def test_what_the_user_says_wins(tmp_path: Path) -> None:
    part = _guess(_ESSAYS, tmp_path, scale="1-6", response="assignment")
    assert '"response": "assignment", "id": "essay_id", "label": "holistic_score"' in part
    assert "ordinal: [1, 6]" in part


@loop_over(
    "text, columns, message",
    [
        ("a,b\n1,2\n3,4\n", {}, "no column looks like a response; say which: --column response=NAME"),
        (_ESSAYS, {"label": "skore"}, r"no column 'skore' \(--column label=skore\)"),
        (_PAIRS.replace(",A\n", ",x\n").replace(",B\n", ",y\n"), {}, "not on the scale A, B, tie: x, y.*--label x=A"),
        ("answer\n" + "a long answer that has no label so far\n" * 3, {}, "cannot infer the scale"),
        ("", {}, "empty"),
    ],
)
def test_what_cannot_be_guessed_is_one_message_with_the_flag_that_helps(
    tmp_path: Path, text: str, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(JrhError, match=message):
        _guess(text, tmp_path, **columns)


def test_the_suite_of_an_own_table_can_be_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import jrh

    monkeypatch.chdir(tmp_path)
    Path("essays.csv").write_text(_ESSAYS, encoding="utf-8")
    result = CliRunner().invoke(init, ["--data", "essays.csv", "--scale", "1-6"], standalone_mode=False)

    assert result.exit_code == 0, result.output
    assert "3 rows with a label; scale: 1, 2, 3, 4, 5, 6." in result.output
    assert "Wrote suite.yaml.\nNext: jrh run suite.yaml" in result.output
    assert 'path: "essays.csv"' in Path("suite.yaml").read_text(encoding="utf-8")
    ((_, items),) = jrh.read_items(Path("suite.yaml"))
    assert [item.id for item in items] == ["e1", "e2", "e3"]


@loop_over(
    "arguments, message",
    [
        (["--column", "label=x"], "--column, --scale, --label and --option go with --data FILE"),
        (["--data", "x.csv", "--column", "label"], "write TARGET=COLUMN"),
        (["--data", "x.csv"], "there is no file 'x.csv'"),
        (["--data", "x.doc"], "no data source reads 'x.doc'; files end in .csv"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(init, arguments, standalone_mode=False)
    assert message in getattr(result.exception, "message", str(result.exception))
    assert not list(tmp_path.iterdir())


def test_the_sheet_that_is_read_is_named_and_the_flag_for_another_reads_it(tmp_path: Path) -> None:
    rows = [("question", "answer", "grade"), *((f"Is it {at}?", f"It is so {at}.", 1 + at % 3) for at in range(6))]
    path = tmp_path / "table.xlsx"
    path.write_bytes(workbook({"first": rows, "my essays": rows[:4], "third": rows}))
    said = propose_suite(path, "table.xlsx", {}, None)[1]
    assert "Read the sheet 'first'. Another one ('my essays', 'third')? --option 'sheet=my essays'." in said

    part, said = propose_suite(path, "table.xlsx", {}, None, settings={"sheet": "my essays"})
    assert 'sheet: "my essays"' in part
    assert said[0].startswith("Read 3 rows")

    path.write_bytes(workbook({"first": rows}))
    assert not [sentence for sentence in propose_suite(path, "table.xlsx", {}, None)[1] if "sheet" in sentence]
