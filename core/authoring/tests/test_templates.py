"""Prompt templates: sandboxed, strict, rendered once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import JrhError
from jrh_authoring.templates import render, template_variables
from jrh_testing import ODD_TEXTS, loop_over


def test_names_are_filled_in() -> None:
    source = "{% for label in labels %}{{ label }}{{ ', ' if not loop.last }}{% endfor %}: {{ response | upper }}\n"
    assert render(source, {"labels": ["YES", "NO"], "response": "hi"}) == "YES, NO: HI\n"


@loop_over("text", ODD_TEXTS)
def test_text_from_an_item_is_never_rendered_again(text: str) -> None:
    assert render("<{{ response }}>", {"response": text}) == f"<{text}>"


@given(st.text(), st.text(alphabet="{}%#abc 7*'\"|().\n"))
def test_any_text_comes_out_as_it_went_in(plain: str, code: str) -> None:
    assert render("{{ a }}|{{ b }}", {"a": plain, "b": code}) == f"{plain}|{code}"


def test_code_in_an_item_is_not_run() -> None:
    assert render("{{ response }}", {"response": "{{ 7 * 7 }}{{ secret }}", "secret": "s"}) == "{{ 7 * 7 }}{{ secret }}"


def test_markup_is_not_escaped_because_a_model_reads_it() -> None:
    assert render("{{ x }}", {"x": "<b> & \"'"}) == "<b> & \"'"


def test_trailing_line_ends_stay() -> None:
    assert render("a\n\n", {}) == "a\n\n"


@given(st.text(alphabet="ab }%#\r\n"))
def test_a_template_without_code_is_handed_out_with_plain_line_ends(source: str) -> None:
    assert render(source, {}) == source.replace("\r\n", "\n").replace("\r", "\n")


def test_what_every_template_knows_is_hidden_by_a_variable_of_that_name_in_this_rendering_alone() -> None:
    source = "{% for n in range(2) %}{{ n }}{% endfor %}"
    assert render(source, {}) == "01"
    assert render(source, {"range": lambda _: "ab"}) == "ab"
    assert render(source, {}) == "01"


@loop_over(
    ("source", "message"),
    [
        ("{{ respnse }}", "'respnse' is undefined"),
        ("{{ item.missing }}", "missing"),
        ("{% if x %}{% endif %}", "'x' is undefined"),
        ("{{ response", "prompt template"),
        ("{% for %}", "prompt template"),
        ("{{ response.__class__.__mro__ }}", "unsafe"),
        ("{{ ''.format.__globals__ }}", "unsafe"),
        ("{{ items.append(1) }}", "unsafe"),
        ("{{ response | no_such_filter }}", "no_such_filter"),
        ("{% include 'other' %}", "prompt template"),
    ],
)
def test_a_template_that_goes_wrong_says_how(source: str, message: str) -> None:
    with pytest.raises(JrhError, match=message) as raised:
        render(source, {"response": "r", "item": {}, "items": [1]})
    assert str(raised.value).startswith("prompt template")


def test_the_names_a_template_needs_are_known_without_rendering() -> None:
    source = "{{ a }}{% for b in c %}{{ b.d }}{% endfor %}{% set e = f %}{{ e }}{{ range(3) }}"
    assert template_variables(source) == {"a", "c", "f"}


def test_a_broken_template_is_reported_with_its_line() -> None:
    with pytest.raises(JrhError, match="prompt template, line 2: "):
        template_variables("fine\n{{ broken")
