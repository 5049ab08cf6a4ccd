"""What the xlsx source reads, and what it says about workbooks that are not in order."""

from __future__ import annotations

import pytest
from excel_files import workbook
from jrh import Scale, Task

LEVELS = Task(name="t", scale=Scale.of_levels(1, 6))
HEADER = ("essay_id", "full_text", "score", "words")


def test_numbers_are_the_labels_they_show_and_the_sheet_can_be_named(read):
    notes = [("nothing", "here")]
    essays = [HEADER, ("e1", "One & only.", 3, 2.5), (), ("e2", " Two. ", 4.0, True)]
    columns = {"id": "essay_id", "response": "full_text", "label": "score"}
    file = workbook({"notes": notes, "essays": essays})
    items = read(file, source="xlsx", task=LEVELS, columns=columns, sheet="essays")
    assert [(item.id, item.fields["response"], item.gold) for item in items] == [
        ("e1", "One & only.", "3"), ("e2", " Two. ", "4"),
    ]  # fmt: skip
    assert [item.metadata["words"] for item in items] == [2.5, True]
    assert [item.origin for item in items] == ["data.xlsx:2", "data.xlsx:4"]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"essay_id,full_text\n", {}, "not a readable Excel workbook"),
        (workbook({"a": [HEADER]}), {}, "the file has a header but no rows"),
        (workbook({"a": []}), {}, "the file is empty"),
        (workbook({"a": [("x", "x"), ("1", "2")]}), {}, "column 'x' appears 2 times in the header"),
        (workbook({"a": [HEADER], "b": [HEADER]}), {"sheet": "c"}, "has no sheet 'c'; its sheets: a, b"),
        (workbook({"a": [("response", "label"), ("text", 7)]}), {}, "label '7' is not on the scale"),
    ],
)
def test_every_mistake_is_named(complaint, content, options, said):
    assert said in complaint(content, source="xlsx", task=LEVELS, **options)
