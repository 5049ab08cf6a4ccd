"""Prompts taken apart into templates and fields render to the prompt again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from jrh_authoring import render
from jrh_interchange.paired_prompts import _literal, _template_of


@given(text=st.text(st.sampled_from("{}%#\r\n ab'\""), max_size=12))
def test_any_text_can_be_written_as_a_template_that_renders_to_it(text):
    assert render(_literal(text), {}) == text


@given(
    before=st.text(max_size=8),
    after=st.text(max_size=8),
    response=st.text(min_size=1, max_size=8),
    request=st.text(min_size=1, max_size=8),
)
def test_a_prompt_taken_apart_renders_to_the_prompt_or_is_not_taken_apart(before, after, response, request):
    fields = {"request": request, "response": response}
    prompt = f"{before}{request}|{response}{after}"
    source = _template_of(prompt, fields)
    assert source is None or render(source, fields) == prompt
