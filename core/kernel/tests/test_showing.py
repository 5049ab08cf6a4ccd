"""Text from elsewhere is shown, and does nothing."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.text import clean_text
from jrh_measuring import formula_safe, markdown_text
from jrh_testing import ODD_TEXTS, PAYLOADS

NAMES = [*PAYLOADS, *ODD_TEXTS]
HARMFUL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("show", [clean_text, markdown_text])
def test_no_control_character_is_left_of_any_text(show):
    assert not [name for name in NAMES if HARMFUL.search(show(name))]


def test_no_text_is_markup_html_mention_or_link_in_markdown():
    alive = re.compile(r"(?<!\\)[`*_\[\]|~$]|[<>]|@\w|://|\bwww\.|#\d")
    assert not [name for name in NAMES if alive.search(markdown_text(name).replace("\\\\", ""))]


def test_a_long_text_is_cut_and_says_so():
    assert clean_text("x" * 300) == "x" * 199 + "…"
    assert clean_text("x" * 200) == "x" * 200


def test_harmless_text_is_shown_as_it_is():
    for text in ("mini", "gpt-4o-mini (2024)", "Überprüfung", "می‌خواهم"):
        assert clean_text(text) == markdown_text(text) == formula_safe(text) == text


@given(st.sampled_from(NAMES) | st.text())
def test_no_cell_is_a_formula_and_every_cell_can_be_read_again(text):
    safe = formula_safe(text)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", safe)
    assert not safe.lstrip(" ").startswith(("=", "+", "-", "@", "|", "%", "\t", "\r", "\n"))
    file = io.StringIO(newline="")
    csv.writer(file).writerow([safe, "next"])
    file.seek(0)
    assert next(csv.reader(file)) == [safe, "next"]
    assert safe.encode().decode() == safe
