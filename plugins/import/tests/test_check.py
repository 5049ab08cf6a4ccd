"""`jrh check`: one table in, the answer out; the numbers are those of the import it writes on request."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jrh import JrhError, RecordTable
from jrh.store.run_store import Store
from jrh_import import tables
from jrh_import.commands import check, import_table
from jrh_stats import binomial_limits, cohen_kappa
from jrh_testing import Project, loop_over

DOCS = Path(__file__).parents[3] / "docs" / "check.md"
NAMES = ("--judge", "gpt", "--human", "human")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*arguments):
    """Check in this process; return what it printed, or the text of the error."""
    result = CliRunner().invoke(check, [str(each) for each in arguments], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, JrhError), result.exception
    return result.output if result.exception is None else str(result.exception)


def found(*arguments):
    return json.loads(checked(*arguments, "--format", "json"))


def measure(document, name, judge="gpt", **cell):
    (one,) = [
        each
        for each in document["measures"]
        if (each["name"], each["judge"], each["cell"]) == (name, judge, cell) and each["test"] in ("", "reference")
    ]
    return one


def table(rows, path="results.csv", header="id,gpt,human"):
    Path(path).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def binary(n=100, wrong=12):
    """Return rows of a judge that is wrong on the first `wrong` of `n` items; people say YES on every second."""
    for item in range(n):
        human = ("YES", "NO")[item % 2]
        yield f"i{item},{('NO', 'YES')[item % 2] if item < wrong else human},{human}"


def test_the_answer_is_one_sentence_with_the_numbers_worked_out_by_hand():
    text = checked(table(binary()), *NAMES, "--item", "id")
    low, high = binomial_limits(88, 100)
    rate = f"rate of agreement 0.88 [{low:.2f}, {high:.2f}] (n = 100 items; always 'YES': 0.50)"
    assert text.splitlines()[0].startswith("gpt agrees with people beyond chance (kappa): 0.76 [")
    assert text.splitlines()[0].endswith(f"]; {rate}.")
    assert "Scale: labels YES, NO (guessed from 2 distinct labels; --scale to change)" in text
    assert "No repeats: rerun noise cannot be measured." in text
    document = found("results.csv", *NAMES, "--item", "id")
    # Judge and people: 44 YES/YES, 44 NO/NO, 6 and 6 crossed: kappa = 1 - 0.12 / 0.5.
    assert cohen_kappa([0, 1] * 44 + [0] * 6 + [1] * 6, [0, 1] * 44 + [1] * 6 + [0] * 6).value == pytest.approx(0.76)
    assert measure(document, "gold-kappa")["estimate"] == pytest.approx(0.76)
    # p = 0.88: the exact interval is at most 0.10 wide from 173 items on.
    (answer,) = document["answers"]
    ends = {n: binomial_limits(0.88 * n, n) for n in (answer["items_needed"] - 1, answer["items_needed"])}
    assert [high - low <= 0.1 for low, high in ends.values()] == [False, True]


@pytest.mark.parametrize(
    ("at_least", "start", "end", "enough"),
    [
        ("0.7", "Yes: ", "; at least 0.70.", True),
        ("0.95", "No: ", "; below 0.95.", False),
        ("0.88", "Undecided: ", "; its interval includes 0.88.", None),
    ],
)
def test_what_is_enough_is_answered_by_the_interval(at_least, start, end, enough):
    text = checked(table(binary()), *NAMES, "--at-least", at_least).splitlines()[0]
    assert (text.startswith(start), text.endswith(end)) == (True, True)
    assert found("results.csv", *NAMES, "--at-least", at_least)["answers"][0]["enough"] is enough


def test_a_judge_that_always_gives_the_common_label_is_enough_by_the_rate_alone():
    rows = [f"i{item},NO,{'YES' if item < 3 else 'NO'}" for item in range(60)]
    arguments = (*NAMES, "--item", "id", "--scale", "YES,NO", "--at-least", "0.8")
    text = checked(table(rows), *arguments).splitlines()[0]
    assert text.startswith("Yes by the rate alone: gpt gives the same label to every item")
    assert text.endswith("; at least 0.80, which that label reaches by itself.")
    assert found("results.csv", *arguments)["answers"][0]["enough"] is True  # as a gate on the same rate


def test_one_label_of_people_answers_nothing():
    rows = [f"i{item},YES,YES" for item in range(60)]
    arguments = (*NAMES, "--item", "id", "--scale", "YES,NO", "--at-least", "0.8")
    text = checked(table(rows), *arguments).splitlines()[0]
    assert text.startswith("Undecided: ")
    assert text.endswith("; not decided, because people give one label only.")
    assert found("results.csv", *arguments)["answers"][0]["enough"] is None


@pytest.mark.parametrize("wrong", [0, 1, 2, 9])
def test_six_groups_do_not_show_nine_of_ten_whatever_they_say(wrong):
    """Once: 0 wrong rows of 60 "Undecided", 1 wrong "Yes", 2 wrong "Undecided"."""
    rows = [f"{row},g{number % 6}" for number, row in enumerate(binary(60, wrong))]
    arguments = (*NAMES, "--item", "id", "--group", "group", "--at-least")
    text = checked(table(rows, header="id,gpt,human,group"), *arguments, "0.9").splitlines()[0]
    assert text.startswith("Undecided: ")
    # Nor does an interval that may be too narrow show anything.
    easy = found("results.csv", *arguments, "0.3")["answers"][0]["enough"]
    assert easy is (None if wrong else True)


def test_a_judge_that_gives_one_label_is_told():
    rows = [f"i{item},YES,{'YES' if item % 10 else 'NO'}" for item in range(100)]
    text = checked(table(rows), *NAMES)
    assert text.startswith("gpt gives the same label to every item, whatever the gold label is (accuracy)")
    # Of 10 items with another label it noticed none: 0.5^10 = 0.001; of 4 that would be 0.06.
    assert "\n  bad: Gives the same label to every item, whatever the gold label is (accuracy): 0.90 [" in text
    assert "gpt gives the same label throughout." in text
    assert "\n  warning: Gives the same label" in checked(table(rows[:40]), *NAMES)


def test_both_intervals_are_shown_where_missing_verdicts_widen_one():
    rows = [f"i{n},{1 + (n + (n % 4 == 0)) % 5 if n % 15 else ''},{1 + n % 5}" for n in range(60)]
    text = checked(table(rows), *NAMES).splitlines()[0]
    whole = checked(table([row for row in rows if ",," not in row]), *NAMES).splitlines()[0]
    ends = re.search(r"\(kappa\): (\S+ \[\S+ \S+\])", whole)
    worst = re.search(r"\(kappa\): (\S+ \[\S+ \S+\]), missing at worst (\[\S+ \S+\])", text)
    assert ends
    assert worst
    assert worst[1] == ends[1]
    assert worst[2] not in whole


def test_verdicts_that_one_label_loses_are_told():
    """The report of the import has the same test: a third of the NO are lost, and no YES."""
    humans = ["YES", "NO"] * 60
    rows = [f"i{item},{'' if item % 6 == 1 else human},{human}" for item, human in enumerate(humans)]
    document = found(table(rows), *NAMES)
    assert measure(document, "missing-by-label-p")["estimate"] < 0.001
    assert "warning: Missing verdicts depend on the gold label" in checked(table(rows), *NAMES)


def test_constant_labels_of_people_and_missing_verdicts_are_told():
    rows = [f"i{item},{('YES', 'NO', '', 'refused')[item % 4]},YES" for item in range(40)]
    text = checked(table(rows), *NAMES)
    assert "All labels by people are the same; a judge that always gives that label scores 1.00." in text
    assert "20 of 40" in text
    document = found("results.csv", *NAMES)
    assert measure(document, "gold-accuracy")["missing"] == {"unparsable": 10, "refused": 10}


def test_ordinal_scales_are_guessed_and_have_weighted_coefficients():
    rows = [f"i{n},{1 + (n * 7) % 5}.0,{1 + (n * 7 + n % 3 // 2) % 5}" for n in range(60)]
    document = found(table(rows), *NAMES)
    assert document["scale"] == {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
    assert document["notes"][0] == "Scale: ordinal 1 to 5 (guessed from 5 distinct whole numbers; --scale to change)"
    judge, human = [(n * 7) % 5 for n in range(60)], [(n * 7 + n % 3 // 2) % 5 for n in range(60)]
    expected = cohen_kappa(judge, human, weighting="quadratic").value
    assert measure(document, "gold-kappa")["estimate"] == pytest.approx(expected)
    text = checked("results.csv", *NAMES)
    assert text.startswith("gpt agrees with people beyond chance (kappa): ")
    assert "quadratic kappa" in text


@loop_over(
    ("labels", "scale"),
    [
        (["1", "0"], ("labels", ["1", "0"])),
        (["Yes", "no"], ("labels", ["Yes", "no"])),
        (["a", "B", "tie"], ("pairwise", ["A", "B", "tie"])),
        (["0", "5", "10"], ("ordinal", [str(level) for level in range(11)])),
        (["A", "B", "C"], ("labels", ["A", "B", "C"])),
        (["A", "B", "F"], ("labels", ["A", "B", "F"])),
        (["good", "bad", "ugly"], ("labels", ["good", "bad", "ugly"])),
    ],
)
def test_scales_are_guessed_from_the_labels(labels, scale):
    document = found(table([f"i{n},{label},{label}" for n, label in enumerate(labels * 3)]), *NAMES)
    assert (document["scale"]["kind"], document["scale"]["labels"]) == scale
    assert measure(document, "gold-accuracy")["estimate"] == 1.0


@loop_over(
    ("written", "kind", "labels"),
    [
        ("labels: 1, 2, 3", "labels", ["1", "2", "3"]),
        ("1-4", "ordinal", ["1", "2", "3", "4"]),
        ("ordinal: 1-3", "ordinal", ["1", "2", "3"]),
        ("ordinal: 3, 2, 1", "ordinal", ["3", "2", "1"]),
    ],
)
def test_the_scale_may_be_said(written, kind, labels):
    document = found(table([f"i{n},{1 + n % 3},{1 + n % 3}" for n in range(9)]), *NAMES, "--scale", written)
    assert document["scale"] == {"kind": kind, "labels": labels}
    assert document["notes"][0].endswith("(--scale)")


def test_spellings_are_one_label_and_named():
    rows = ["1,Yes,YES", "2,YES ,YES", "3,yes,YES", "4,NO,no", "5,NO,NO", "6, no,NO"]
    document = found(table(rows), *NAMES)
    assert measure(document, "gold-accuracy")["estimate"] == 1.0
    assert document["scale"]["labels"] == ["YES", "NO"]
    notes = " ".join(document["notes"])
    assert "Also read as 'YES': 'Yes' (1), 'YES ' (1), 'yes' (1)." in notes
    assert "Also read as 'NO': 'no' (1), ' no' (1)." in notes


def test_texts_that_only_judges_use_are_disagreements_unless_they_mean_no_verdict():
    rows = ["1,YES,YES", "2,UNSURE,YES", "3,n/a,NO", "4,NO,NO"]
    document = found(table(rows), *NAMES)
    assert measure(document, "gold-accuracy")["estimate"] == pytest.approx(2 / 3)
    assert measure(document, "gold-accuracy")["missing"] == {"unparsable": 1}
    assert any("No person uses 'UNSURE' (1): it counts as a disagreement" in note for note in document["notes"])
    document = found("results.csv", *NAMES, "--missing", "unsure")
    assert measure(document, "gold-accuracy")["estimate"] == 1.0
    assert measure(document, "gold-accuracy")["missing"] == {"unparsable": 2}


def test_a_null_that_people_use_is_a_label_and_named():
    document = found(table(["1,none,none", "2,toxic,toxic", "3,toxic,none"]), *NAMES)
    assert measure(document, "gold-accuracy")["estimate"] == pytest.approx(2 / 3)
    assert document["scale"]["labels"] == ["none", "toxic"]
    assert any(note.startswith("People use 'none' (2) as a label; blank these cells if") for note in document["notes"])


def test_verdicts_off_an_ordinal_scale_are_missing_and_named():
    rows = [f"i{n},{'cannot say' if n == 3 else 1 + n % 4},{1 + n % 4}" for n in range(20)]
    document = found(table(rows), *NAMES)
    assert measure(document, "gold-accuracy")["missing"] == {"off_scale": 1}
    assert "1 verdict not on the scale, counted as missing: 'cannot say' (1)." in document["notes"]


def test_blank_labels_of_people_are_counted_and_not_scored():
    rows = [f"i{n},YES,{'' if n < 5 else ('YES', 'NO')[n % 2]}" for n in range(25)]
    text = checked(table(rows), *NAMES)
    assert "25 rows, 25 items, 5 of them without a label by people (not scored)" in text
    assert measure(found("results.csv", *NAMES), "gold-accuracy")["n_items"] == 20


def test_several_judges_have_a_line_each_and_are_compared_on_the_same_rows():
    rows = [f"i{n},{'YES' if n < 30 else 'NO'},YES,{'YES' if n < 40 else 'NO'}" for n in range(50)]
    table(rows, header="id,gpt,mini,human")
    text = checked("results.csv", "--judge", "gpt", "--judge", "mini", "--human", "human")
    assert [line.split()[0] for line in text.splitlines()[:2]] == ["gpt", "mini"]
    # Both are right on 30, gpt on the 10 last, mini on 10 more.
    (line,) = [line for line in text.splitlines() if line.startswith("  gpt - mini: ")]
    # McNemar's mid-p of 10 against 10: 1 - C(20, 10) / 2^20 / 2.
    p = f"{1 - math.comb(20, 10) / 2**21:.3f}"
    assert re.fullmatch(rf"  gpt - mini: 0\.00 \[-0\.\d\d, 0\.\d\d\], p = {p} \(50 items\)", line)


def test_rows_of_one_item_are_reruns_and_intervals_count_items():
    rows = [row for item in binary(40, wrong=8) for row in [item, item.replace(",", ",", 1)]]
    document = found(table([f"{row},{n}" for n, row in enumerate(rows)], header="id,gpt,human,call"), *NAMES)
    clustered = found("results.csv", *NAMES, "--item", "id")
    alone, together = (measure(each, "gold-accuracy") for each in (document, clustered))
    assert (alone["n_items"], together["n_items"], together["n_trials"]) == (80, 40, 80)
    assert together["interval"]["low"] < alone["interval"]["low"]
    assert measure(clustered, "rerun-disagreement")["estimate"] == 0.0
    assert "40 items with several rows: these count as reruns; intervals are clustered by item." in clustered["notes"]


def test_reruns_that_differ_need_a_number_or_a_word():
    table(["a,YES,YES,1", "a,NO,YES,2", "b,NO,NO,1"], header="id,gpt,human,call")
    said = checked("results.csv", *NAMES, "--item", "id")
    assert "1 item in several rows with different verdicts:\n  'a': results.csv:2, results.csv:3" in said
    for how in (["--repeat", "call"], ["--reruns"]):
        document = found("results.csv", *NAMES, "--item", "id", *how)
        assert measure(document, "rerun-disagreement")["estimate"] == 1.0
        assert measure(document, "gold-accuracy")["n_items"] == 2
    table(["a,YES,YES,1", "a,YES,NO,2"], header="id,gpt,human,call")
    said = checked("results.csv", *NAMES, "--item", "id", "--reruns")
    assert "results.csv:3: item 'a' has the gold label 'NO' here and 'YES' at results.csv:2; settle on one" in said
    # A label is one of the item: the rows where its cell is blank count for it too, in the check and in an import.
    table(["a,YES,YES,1", "a,NO,,2", "b,YES,,1", "b,NO,NO,2"], header="id,gpt,human,call")
    document = found("results.csv", *NAMES, "--item", "id", "--repeat", "call", "--write-import", "i.yaml")
    accuracy = measure(document, "gold-accuracy")
    assert (accuracy["n_trials"], accuracy["n_items"], accuracy["estimate"]) == (4, 2, 0.5)
    assert CliRunner().invoke(import_table, ["i.yaml"], standalone_mode=False).exception is None
    store = Store.view(Path("runs/results"))
    imported = RecordTable.from_slices(store.records.slices())
    store.close()
    assert imported.text("gold") == imported.text("expected") == ["YES", "YES", "NO", "NO"]


@loop_over(
    ("header", "arguments", "uses"),
    [
        ("id,gpt,human", [], {"id": "--item", "gpt": "--judge", "human": "--human"}),
        ("ticket_id,verdict,gold", [], {"ticket_id": "--item", "verdict": "--judge", "gold": "--human"}),
        ("qid,gpt_score,human_score", ["--item", "qid"], {"gpt_score": "--judge", "human_score": "--human"}),
        ("id,human_1,human_2", ["--judge", "human_1"], {"human_1": "--judge", "human_2": "--human"}),
        ("who,model,label", ["--group", "who"], {"who": "--group", "model": "--judge", "label": "--human"}),
    ],
)
def test_columns_that_are_not_named_are_guessed_and_said(header, arguments, uses):
    document = found(table(binary(), header=header), *arguments)
    assert {column: flag for column, _, flag in document["columns"] if column in uses} == uses
    assert measure(document, "gold-accuracy", document["answers"][0]["judge"])["estimate"] == 0.88
    text = checked("results.csv", *arguments)
    for column, taken, flag in document["columns"]:
        assert re.search(rf"^  {column} +{taken} +{flag}$", text, re.MULTILINE)


def test_reruns_and_groups_are_guessed_and_what_is_not_found_is_named():
    table([f"{row},{n % 2},topic {n % 7}" for n, row in enumerate(binary(60))], header="id,gpt,human,run,topic")
    taken = {column: use for column, use, _ in found("results.csv")["columns"]}
    assert (taken["run"], taken["topic"]) == ("number of the rerun", "what items share")
    # Both are named: nothing is guessed, and every row is an item.
    assert found("results.csv", *NAMES)["columns"] == []
    said = checked(table(["1,2", "2,3"], header="id,x"))
    assert said.startswith("no column looks like labels of people; name it with --human COLUMN\n")
    assert "  x       not used   any of these" in said
    said = checked(table(["1,a,YES", "2,b,NO"], header="id,x,human"))
    assert said.startswith("no column looks like verdicts: none shares most of its texts with the labels; name it with")
    assert "no column 'humna' (--human); did you mean 'human'?" in checked("results.csv", "--human", "humna")


def test_groups_are_clusters_in_the_answer_and_in_its_interval():
    # Six sources of ten items: right on all items of five, wrong on all of the sixth.
    rows = [f"i{n},{'NO' if n < 10 else 'YES'},YES,source {n // 10}" for n in range(60)]
    table(rows, header="id,gpt,human,source")
    alone, grouped = (found("results.csv", *NAMES, *more) for more in ((), ("--group", "source")))
    assert "(n = 60 items in 6 clusters)" in grouped["answers"][0]["sentence"]
    wide, narrow = (measure(each, "gold-accuracy")["interval"] for each in (grouped, alone))
    assert wide["low"] < narrow["low"] - 0.1
    assert grouped["answers"][0]["items_needed"] > 3 * alone["answers"][0]["items_needed"]


def test_items_that_share_a_long_text_are_named_unless_they_are_grouped():
    rows = [f"{row},the answer that was judged no. {n % 6}" for n, row in enumerate(binary(60))]
    table(rows, header="id,gpt,human,answer")
    (note,) = [note for note in found("results.csv", *NAMES, "--item", "id")["notes"] if "distinct text" in note]
    assert note.startswith("60 items, but 6 distinct texts in 'answer'. Items that share a text are not independent:")
    grouped = found("results.csv", *NAMES, "--item", "id", "--group", "answer")
    assert not [note for note in grouped["notes"] if "distinct text" in note]
    assert not any("No groups" in gap for gap in grouped["not_measurable"])
    table([f"{row},code {n % 6}" for n, row in enumerate(binary(60))], header="id,gpt,human,kind")
    assert not [note for note in found("results.csv", *NAMES)["notes"] if "distinct text" in note]


def test_exact_duplicates_are_named():
    rows = [*binary(20), "i3,YES,NO", "i4,NO,YES"]
    table(rows)
    document = found("results.csv", *NAMES)
    (note,) = [note for note in document["notes"] if "equal to an earlier row" in note]
    assert note.startswith(
        "2 rows equal to an earlier row in every cell (results.csv:22, results.csv:23). They count as"
    )
    assert document["items"] == 22


def test_equal_rows_without_identity_are_no_duplicates():
    table(["YES,YES"] * 30 + ["NO,YES"] * 10, header="gpt,human")
    document = found("results.csv", *NAMES)
    assert document["items"] == 40
    assert not [note for note in document["notes"] if "equal to an earlier row" in note]


BAD = {
    "empty file": ("", NAMES, "results.csv: the file is empty"),
    "header only": ("id,gpt,human\n", NAMES, "results.csv: the file has a header but no rows"),
    "missing column": ("id,gtp,human\n1,YES,YES\n", NAMES, "there is no column 'gpt' (--judge); did you mean 'gtp'?"),
    "other case": ("id,GPT,human\n1,YES,YES\n", NAMES, "did you mean 'GPT'?"),
    "all missing": ("x,y\n1,2\n", NAMES, "there is no column 'human' (--human)\nColumns: x, y"),
    "judge is human": (
        "id,gpt,human\n1,Y,Y\n",
        ("--judge", "gpt", "--human", "gpt"),
        "named twice, as --judge and",
    ),
    "judge twice": ("id,gpt,human\n1,Y,Y\n", (*NAMES, "--judge", "gpt"), "column 'gpt' is named twice, as --judge;"),
    "blank labels": ("gpt,human\nYES,\nNO, \n", NAMES, "column 'human' has no label in any of 2 rows"),
    "one label": ("gpt,human\nYES,YES\nYES,YES\n", NAMES, "people and judges use only the label 'yes'; name"),
    "fractions": ("gpt,human\n0.5,1\n0.7,2\n1,3\n", NAMES, "numbers that are not whole, such as 0.5; round or bin"),
    "wide": ("gpt,human\n1,1\n5,500\n9,7\n", NAMES, "the labels are numbers from 1 to 500"),
    "replies": (
        "gpt,human\n" + "".join(f"I say {n},{'YES' if n % 2 else 'NO'}\n" for n in range(30)),
        NAMES,
        "the judges give 30 texts that no person uses, such as 'I say 0': they are replies, not labels",
    ),
    "essays": (
        "gpt,human\n" + "".join(f"YES,essay {n}\n" for n in range(60)),
        NAMES,
        "column 'human' has 60 distinct labels, such as 'essay 0'",
    ),
    "scale": ("gpt,human\nYES,NO\n", (*NAMES, "--scale", "labels: YES"), "--scale: write `ordinal: 1-5`, `labels: YES"),
    "gold off scale": ("gpt,human\n1,7\n2,2\n", (*NAMES, "--scale", "1-5"), "results.csv:2: the gold label '7' is not"),
    "reruns of nothing": ("gpt,human\n1,1\n2,2\n", (*NAMES, "--reruns"), "reruns need an item: name its column"),
    "ragged": ("id,gpt,human\n1,YES\n", NAMES, "results.csv:2: too few cells: 2, but the header has 3"),
    "not UTF-8": (
        b"gpt,human\nYES,caf\xe9\n",
        NAMES,
        "is not valid utf-8; save the file as UTF-8",
    ),
    "UTF-16": ("gpt,human\nYES,YES\n".encode("utf-16"), NAMES, "the file is UTF-16: save it as UTF-8"),
}


@loop_over("case", BAD)
def test_bad_tables_are_refused_with_what_to_do(case):
    content, arguments, message = BAD[case]
    Path("results.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in checked("results.csv", *arguments)


def test_a_file_that_is_not_there_and_too_many_rows_are_refused(monkeypatch):
    assert "nowhere.csv: cannot be read: No such file" in checked("nowhere.csv", *NAMES)
    monkeypatch.setattr(tables, "MOST_ROWS", 10)
    assert "'results.csv' has more than 10 rows; take a sample" in checked(table(binary(11)), *NAMES)


def test_one_row_and_a_judge_without_verdicts_are_answered():
    text = checked(table(["1,YES,YES"]), *NAMES, "--scale", "YES,NO")
    assert text.startswith("gpt: accuracy cannot be judged: every gold label is 'YES'; rate of agreement 1.00 ")
    assert "gpt: few items; the interval is wide" in text
    text = checked(table(["1,,YES", "2,,NO"]), *NAMES)
    assert text.startswith("gpt: no answer; every verdict is missing")
    assert "2 of 2" in text


@loop_over("kind", ["tsv", "semicolon", "jsonl", "parquet", "BOM"])
def test_every_kind_of_table_gives_the_same_numbers(kind):
    import pyarrow
    from pyarrow import parquet

    rows = [row.split(",") for row in binary()]
    path = f"results.{kind}" if kind in ("tsv", "jsonl", "parquet") else "results.csv"
    separator = {"tsv": "\t", "semicolon": ";"}.get(kind, ",")
    text = "\n".join(separator.join(row) for row in [["id", "gpt", "human"], *rows])
    if "jsonl" in kind:
        text = "\n".join(json.dumps(dict(zip(("id", "gpt", "human"), row, strict=True))) for row in rows)
    if kind == "parquet":
        columns = {name: [row[place] for row in rows] for place, name in enumerate(("id", "gpt", "human"))}
        parquet.write_table(pyarrow.table(columns), path)
    else:
        Path(path).write_text(text, encoding="utf-8-sig" if kind == "BOM" else "utf-8")
    assert measure(found(path, *NAMES), "gold-accuracy")["estimate"] == 0.88


def test_nothing_in_a_table_acts_on_the_terminal():
    evil = "\x1b]0;owned\x07\x1b[2J"
    table([f"1,{evil}YES,YES", f"2,NO{evil},NO{evil}", "3,YES,NO"])
    text = checked("results.csv", *NAMES) + checked("results.csv", "--judge", f"g{evil}pt", "--human", "human")
    text += checked("results.csv", *NAMES, "--scale", "1-5")
    assert "is not on the scale 1, 2, 3, 4, 5" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def both(project, *arguments):
    """Return the measures of a check, and those of the import that it writes and its report."""
    document = found(*arguments, "--write-import", "sub/again.yaml")
    done = CliRunner().invoke(import_table, ["sub/again.yaml", "--run-dir", "run"], standalone_mode=False)
    assert done.exception is None, done.exception
    reported = project.run("report", "run", "--format", "json")
    assert reported.exit_code == 0, reported.output
    return document["measures"], json.loads(project.read("run/report.json"))["measures"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--judge", "gpt", "--judge", "mini", "--human", "human"),
        ("--judge", "mini", "--human", "human", "--item", "id", "--reruns", "--group", "author"),
        ("--judge", "gpt", "--human", "human", "--missing", "dunno"),
        (
            *("--judge", "gpt", "--judge", "mini", "--human", "human", "--scale", "1-9"),
            "--item",
            "id",
            "--repeat",
            "call",
        ),
    ],
    ids=["two judges", "reruns", "missing", "numbered"],
)
def test_the_import_it_writes_gives_the_same_numbers(folder, arguments):
    rows = [
        f"i{n // 2};{1 + (n * 5) % 4}.0;{'dunno' if n == 7 else ' ' if n == 9 else 1 + (n * 3) % 5};"
        f"{'' if n // 2 == 3 else 1 + n // 2 % 4};a{n % 3};{n % 2}"
        for n in range(60)
    ]
    table(rows, header="id;gpt;mini;human;author;call")
    (folder / "sub").mkdir()
    here, there = both(Project(folder), "results.csv", *arguments)
    key = {(m["name"], m["judge"], m["test"], str(m["cell"])): m for m in there}
    assert len(here) > 7
    for one in here:
        assert key[one["name"], one["judge"], one["test"], str(one["cell"])] == json.loads(json.dumps(one))


_COUNT_CALLS = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(count)
from jrh.cli import invoke
code = invoke(["check", "results.csv", *sys.argv[1:]])
sys.setprofile(None)
print(code, calls)
"""


@pytest.mark.slow
def test_a_thousand_rows_take_two_million_function_calls_imports_included(folder):
    """A second of a processor; calls do not depend on what else the machine does, and seconds do."""
    table(binary(1000, wrong=100))
    arguments = [*NAMES, "--item", "id"]
    done = subprocess.run(
        [sys.executable, "-c", _COUNT_CALLS, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.startswith("gpt agrees with people beyond chance (kappa): 0.80 ")
    code, calls = map(int, done.stdout.splitlines()[-1].split())
    assert code == 0
    # 2.12 million on the day of this test, and a tenth more: a check that became slower calls more.
    assert 1_000_000 < calls < 2_350_000


def test_a_check_imports_neither_pandas_nor_scipy_nor_arrow(folder):
    table(binary(100))
    code = (
        "import sys; from jrh.cli import invoke; "
        f"invoke(['check', 'results.csv', *{NAMES!r}]); "
        "print(sorted({'pandas', 'scipy', 'pyarrow', 'httpx', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_decimal_comma_is_read_as_a_decimal_point():
    rows = [f"i{n};{1 + n % 5};{1 + n % 5},0" for n in range(20)]
    document = found(table(rows, header="id;gpt;human"), *NAMES, "--write-import", "again.yaml")
    done = CliRunner().invoke(import_table, ["again.yaml", "--run-dir", "run"], standalone_mode=False)
    assert done.exception is None, done.exception
    assert measure(document, "gold-accuracy")["estimate"] == 1.0
    assert document["scale"] == {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
    table([*rows, "x;2;3,5"], header="id;gpt;human")
    assert "numbers that are not whole, such as 3,5; round or bin them first" in checked("results.csv", *NAMES)


def test_labels_that_contain_commas_are_quoted():
    text = checked(table(['1,"a, b","a, b"', "2,c,c", "3,c,d"]), *NAMES)
    assert "Scale: labels 'a, b', c, d (guessed" in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["1,0,no", "2,1,yes"], "column 'gpt' has '0', '1', column 'human' has 'no', 'yes'"),
        (["1,bad,1", "2,good,2", "3,good,3"], "column 'gpt' has 'bad', 'good', column 'human' has '1', '2', '3'"),
        (["1,maybe,no", "2,maybe,yes"], "column 'gpt' has 'maybe', column 'human' has 'no', 'yes'"),
    ],
)
def test_a_judge_and_people_without_a_label_in_common_are_refused_with_what_to_do(rows, said):
    text = checked(table(rows), *NAMES)
    assert text.startswith(f"no label in common: {said}\n")
    assert "`labels: {" in text
    assert "--scale" in text


def test_labels_without_any_in_common_are_disagreements_where_the_scale_is_said_or_each_side_has_one():
    table(["1,maybe,no", "2,maybe,yes"])
    document = found("results.csv", *NAMES, "--scale", "labels: yes, no, maybe")
    assert measure(document, "gold-accuracy")["estimate"] == 0.0
    assert measure(found(table(["1,NO,YES", "2,NO,YES"]), *NAMES), "gold-accuracy")["estimate"] == 0.0
    # Numbers are levels of one scale, however far apart.
    assert (
        measure(found(table([f"{n},{n % 3},{5 + n % 3}" for n in range(9)]), *NAMES), "gold-accuracy")["estimate"] == 0
    )


def test_the_mapping_that_the_refusal_names_is_one_that_an_import_accepts(folder):
    table([f"i{n},{n % 2},{('no', 'yes')[n % 2]}" for n in range(10)])
    (mapping,) = re.findall(r"`labels: \{(.*?)\}`", checked("results.csv", *NAMES))
    assert mapping == '"0": "no"'
    Path("map.yaml").write_text(
        "name: m\npath: results.csv\ntask: {scale: {labels: ['yes', 'no']}}\nvalues: {judge: gpt}\n"
        f"columns: {{item: id, label: gpt, gold: human}}\nlabels: {{{mapping}, '1': 'yes'}}\n"
    )
    done = CliRunner().invoke(import_table, ["map.yaml", "--run-dir", "run"], standalone_mode=False)
    assert done.exception is None, done.exception


def test_cells_of_any_size_are_read_by_a_check_and_by_an_import(folder):
    text = "x" * 200_000
    table([f"{row},{text if n == 3 else 'short'}" for n, row in enumerate(binary(10))], header="id,gpt,human,answer")
    document = found("results.csv", *NAMES, "--write-import", "again.yaml")
    assert document["items"] == 10
    done = CliRunner().invoke(import_table, ["again.yaml", "--run-dir", "run"], standalone_mode=False)
    assert done.exception is None, done.exception


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
def test_the_separator_line_of_excel_is_no_header(folder, mark):
    lines = [f"sep={mark}", *(row.replace(",", mark) for row in ["id,gpt,human", *binary(10, wrong=2)])]
    Path("results.csv").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig", newline="")
    document = found("results.csv", *NAMES, "--item", "id", "--write-import", "again.yaml")
    assert measure(document, "gold-accuracy")["estimate"] == 0.8
    done = CliRunner().invoke(import_table, ["again.yaml", "--run-dir", "run"], standalone_mode=False)
    assert done.exception is None, done.exception
    lines.append("i99")
    Path("results.csv").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    assert "results.csv:13: too few cells: 1, but the header has 3" in checked("results.csv", *NAMES)


def test_without_any_verdict_the_question_whether_it_is_enough_is_undecided():
    text = checked(table(["1,,YES", "2,,NO"]), *NAMES, "--at-least", "0.8")
    assert text.startswith("Undecided: gpt: no answer; every verdict is missing")


def test_blank_verdicts_are_called_blank():
    text = checked(table(["1,,YES", "2,NO,NO", "3,unsure,YES", "4, ,NO", "5,YES,YES"]), *NAMES, "--missing", "unsure")
    assert "3 of 5 trials returned no verdict (blank 2, unparsable 1)." in text


def test_where_people_give_one_label_only_the_answer_has_no_kappa():
    rows = [f"i{n},{'NO' if n < 5 else 'YES'},YES" for n in range(40)]
    first = checked(table(rows), *NAMES).splitlines()[0]
    assert first.endswith("(n = 40 items).")


def test_the_documented_example_prints_every_line_that_the_page_shows():
    text = DOCS.read_text(encoding="utf-8")
    (content,) = re.findall(r"```csv results\.csv\n(.*?)```", text, re.DOTALL)
    (command,) = re.findall(r"```console\n\$ jrh check (.*?)\n```", text, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    Path("results.csv").write_text(content, encoding="utf-8")
    printed = iter(checked(*command.split()).splitlines())
    # Further findings may come between; what is shown is printed, in this order.
    assert [line for line in shown.splitlines() if line not in printed] == []


def test_a_covariate_is_tested_at_equal_label_and_a_column_of_texts_counts_as_length():
    rows = []
    for item in range(120):
        human, length = ("YES", "NO")[item % 2], (7 * item) % 60
        gpt = "YES" if length > 30 and item % 3 else human
        rows.append(f"i{item},{gpt},{human},{'x' * (length + 5)},{('ada', 'bob')[item % 5 > 2]}")
    table(rows, header="id,gpt,human,answer,writer")
    asked = ("results.csv", *NAMES, "--item", "id", "--covariate", "answer", "--covariate", "writer")
    assert "Says YES more often to longer responses at equal gold" in checked(*asked)
    document = found(*asked)
    effect = measure(document, "covariate-effect", covariate="length")
    assert effect["estimate"] > 0.1
    assert measure(document, "covariate-effect", covariate="writer", level="ada")["estimate"] is not None
    checked(*asked, "--write-import", "import.yaml")
    assert '"length": "answer"' in Path("import.yaml").read_text(encoding="utf-8")
    assert "there is no column 'answr' (--covariate); did you mean 'answer'?" in checked(
        "results.csv", *NAMES, "--covariate", "answr"
    )


def refusing(n=200, right=154, wrong=13):
    """Return rows of a judge without verdict on items that it would get wrong."""
    for item in range(n):
        human, other = ("YES", "NO") if item % 2 else ("NO", "YES")
        yield f"i{item},{human if item < right else other if item < right + wrong else ''},{human}"


@pytest.mark.parametrize("at_least", ["0.8", "0.93"])
def test_nothing_is_answered_that_the_missing_verdicts_could_overturn(at_least):
    text = checked(table(refusing()), *NAMES, "--item", "id", "--at-least", at_least).splitlines()[0]
    assert "; rate of agreement 0.92 [" in text
    # 154 / 200 if the missing verdicts are wrong, 187 / 200 if they are right.
    assert "(n = 167 items; between 0.77 and 0.94 whatever the missing verdicts were; " in text
    assert text.endswith(f"; the missing verdicts could put it below or above {at_least:0<4}.")
    assert found("results.csv", *NAMES, "--at-least", at_least)["answers"][0]["enough"] is None


@pytest.mark.parametrize(("at_least", "start"), [("0.7", "Yes: "), ("0.98", "No: ")])
def test_missing_verdicts_that_could_not_overturn_the_answer_leave_it(at_least, start):
    assert checked(table(refusing()), *NAMES, "--at-least", at_least).startswith(start)


def test_a_table_without_missing_verdicts_has_no_bounds():
    assert "whatever the missing verdicts" not in checked(table([*binary(), "i100,YES,"]), *NAMES)


@loop_over("option", ["--within", "--at-least"])
@loop_over("number", ["nan", "inf", "-inf"])
def test_numbers_that_are_none_are_refused(option, number):
    result = CliRunner().invoke(check, [table(binary()), *NAMES, option, number])
    assert result.exit_code == 2
    assert f"Invalid value for '{option}': {number} is not a finite number." in result.output


def test_files_that_never_end_are_refused():
    assert checked("/dev/zero", *NAMES) == "/dev/zero: cannot be read: it is not a regular file"
    os.mkfifo("pipe.csv")
    assert checked("pipe.csv", *NAMES) == "pipe.csv: cannot be read: it is not a regular file"


def test_every_covariate_asked_for_is_answered():
    rows = [
        f"i{n},{('YES', 'NO')[n * 7 % 11 < 5]},{('YES', 'NO')[n % 2]},{('ada', 'bob')[n * 5 % 13 < 6]}"
        for n in range(60)
    ]
    table(rows, header="id,gpt,human,author")
    arguments = ("results.csv", *NAMES, "--item", "id", "--covariate", "author")
    (line,) = [line for line in checked(*arguments).splitlines() if "'author'" in line]
    effects = [each for each in found(*arguments)["measures"] if each["name"] == "covariate-effect"]
    assert line.startswith("  inconclusive: Effect of 'author' at equal gold neither shown nor ruled out: ")
    assert any(f"{each['estimate']:+.2f} [{each['interval']['low']:.2f}, " in line for each in effects)


def test_items_that_share_the_text_of_a_covariate_are_named():
    rows = [f"{row},a long enough response, number {n % 40}".replace("se, n", "se n") for n, row in enumerate(binary())]
    table(rows, header="id,gpt,human,response")
    note = "distinct texts in 'response'. Items that share a text are not independent: pass --group response."
    assert f"100 items, but 40 {note}" in checked("results.csv", *NAMES, "--item", "id", "--covariate", "response")


def test_the_margin_of_a_covariate_has_the_unit_of_the_effect():
    rows = [f"i{n},{min(5, max(1, 1 + n % 5 + (n * 7 % 11 == 0)))},{1 + n % 5},{n * 37 % 101}" for n in range(400)]
    table(rows, header="id,gpt,human,words")
    text = checked("results.csv", *NAMES, "--item", "id", "--covariate", "words")
    assert "No effect of 'words' beyond ±0.2 levels (5% of the scale) at equal gold: " in text
