"""Which column becomes what, in every format, and what is said where that fails."""

from __future__ import annotations

import pytest
from jrh import JrhError, Mode, Scale, Task

PAIRS = Task(name="t", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
LEVELS = Task(name="t", scale=Scale.of_levels(1, 5))


def test_a_column_goes_by_its_own_name_where_nothing_is_said(read):
    (item,) = read("id,request,response_a,response_b,label,stratum,group\n7,q,x,y,B,math,g1\n", task=PAIRS)
    assert item.fields == {"request": "q", "response_a": "x", "response_b": "y"}
    assert (item.id, item.gold, item.stratum, item.group) == ("7", "B", "math", "g1")


def test_null_leaves_a_target_empty(read):
    (item,) = read("response,label\nx,0.7\n", columns={"label": None})
    assert item.gold is None
    assert item.metadata == {"label": "0.7"}


def test_any_other_target_is_a_field(read):
    (item,) = read("response,source_text\nx,From the archive.\n", columns={"reference": "source_text"})
    assert item.fields == {"request": "", "response": "x", "reference": "From the archive."}
    assert item.metadata == {}


def test_a_column_used_elsewhere_is_not_also_taken_by_its_name(read):
    (item,) = read("response,label\nx,hello\n", columns={"request": "label"})
    assert (item.gold, item.fields["request"]) == (None, "hello")


def test_the_label_never_stays_in_the_metadata(read):
    (item,) = read("response,score\nx,YES\n", columns={"label": "score"})
    assert item.gold == "YES"
    assert item.metadata == {}


def test_one_column_may_be_id_and_group(read):
    (item,) = read("response,author\nx,ann\n", columns={"id": "author", "group": "author"})
    assert (item.id, item.group) == ("ann", "ann")


def test_the_label_as_a_field_is_refused(read):
    with pytest.raises(JrhError, match="judges would see the answer"):
        read("response,score\nx,YES\n", columns={"label": "score", "hint": "score"})
    # Whoever writes `gold` means the label; who wants a field of this name says what the label is, too.
    with pytest.raises(JrhError, match="'gold' is no target: for labels by people write `label: score`"):
        read("response,score\nx,YES\n", columns={"gold": "score"})
    assert read("response,score\nx,YES\n", columns={"gold": "score", "label": None})[0].fields["gold"] == "YES"


@pytest.mark.parametrize("target", ["task", "labels", "a b", "1st", "class", ""])
def test_a_target_that_templates_cannot_use_is_refused(read, target):
    with pytest.raises(JrhError, match="columns"):
        read("response\nx\n", columns={target: "response"})


def test_a_missing_column_lists_those_there_are(complaint):
    said = complaint("essay_id,full_text\n1,x\n2,y\n", columns={"response": "full_txt"})
    assert said == (
        "data.csv: no column 'full_txt' (columns.response); did you mean 'full_text'? Columns: essay_id, full_text"
    )


def test_what_the_mode_needs_is_named_once(complaint):
    assert complaint("id,answer\n1,x\n2,y\n") == (
        "data.csv: a pointwise task needs the field 'response'; name its column with `columns: {response: ...}`. "
        "Columns: id, answer"
    )
    said = complaint("id,response\n1,x\n", task=PAIRS).splitlines()
    assert len(said) == 2
    assert "needs the field 'response_a'" in said[0]
    assert "did you mean 'response'?" in said[0]


def test_empty_judged_cells_are_told_with_their_lines(complaint):
    said = complaint("id,response\n" + "".join(f"{number}, \n" for number in range(7)) + "z,full\n")
    assert said == (
        "data.csv:2: column 'response' (response) is empty (7 rows: 2, 3, 4, 5, 6, ...); fill it or remove the row"
    )


def test_an_empty_id_is_told(complaint):
    assert complaint("id,response\n,x\nb,y\n").startswith("data.csv:2: column 'id' (id) is empty")


def test_labels_outside_the_scale_are_told_by_label(complaint):
    said = complaint("response,label\n" + "x,7\n" * 8 + "x,3\nx,high\nx,\u0437\n", task=LEVELS).splitlines()
    advice = "; fix the label, the scale, or `columns: {label: ...}`"
    assert said == [
        f"data.csv:2: label '7' is not on the scale 1, 2, 3, 4, 5 (8 rows: 2, 3, 4, 5, 6, ...){advice}",
        f"data.csv:11: label 'high' is not on the scale 1, 2, 3, 4, 5{advice}",
        # A look-alike of a label on the scale: shown as it is, the message would contradict itself.
        f"data.csv:12: label '\u0437' is not on the scale 1, 2, 3, 4, 5 (which is '\\u0437'){advice}",
    ]


@pytest.mark.parametrize("label", ["yes", "Yes", " YES", "YES "])
def test_a_label_that_differs_by_case_or_space_gets_a_hint(complaint, label):
    assert complaint(f"response,label\nx,{label}\n").endswith("labels are compared exactly, write 'YES'")


@pytest.mark.parametrize("label", ["3.0", "03", "3e0"])
def test_a_label_that_is_the_same_number_gets_a_hint_and_is_not_converted(complaint, label):
    assert complaint(f"response,label\nx,{label}\n", task=LEVELS).endswith("write '3'")
