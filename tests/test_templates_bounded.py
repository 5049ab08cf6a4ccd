"""A template that would fill the memory is refused before it does (issue 16)."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from jrh.errors import JrhError
from jrh_authoring.templates import render
from jrh_testing import loop_over

GROWING = [
    "{{ 'x' * 10**10 }}",
    "{{ 10**10 * 'x' }}",
    "{{ [1] * 10**10 }}",
    "{{ 10**(10**10) }}",
    "{{ 'x'.ljust(10**10) }}",
    "{{ 'x'.center(10**10) }}",
    "{{ 'x'|center(10**10) }}",
    "{{ 'x'|center(width=10**10) }}",
    "{{ 'x'|indent(10**10, first=true) }}",
    "{{ 'x'|batch(10**10, 'y')|list }}",
    "{{ '%10000000000d' % 1 }}",
    "{{ '%10000000000d'|format(1) }}",
    "{{ '%*d'|format(10**10, 1) }}",
    "{{ '{:>10000000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 10**10) }}",
    "{{ ('x' * 10**6).replace('x', 'y' * 10**6) }}",
    "{{ ('x' * 10**6)|replace('x', 'y' * 10**6) }}",
    "{{ ('x' * 10**6)|replace(old='x', new='y' * 10**6) }}",
    "{{ ('x' * 10**6).join(range(10**5)|map('string')) }}",
    "{{ range(10**5)|map('string')|join('x' * 10**6) }}",
    "{{ ([('x' * 10**6)] * 10**5)|join }}",
    "{% set n = namespace(x='x') %}{% for _ in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|length }}",
    "{% set n = namespace(x='x') %}{% for _ in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x|length }}",
    "{% for _ in range(10**5) %}{% for _ in range(10**5) %}xxxxxxxxxx{% endfor %}{% endfor %}",
    "{% macro m() %}{{ 'x' * 10**7 }}{% endmacro %}{% for _ in range(10**5) %}{{ m() }}{% endfor %}",
    "{{ range(10**10)|list }}",
    "{{ lipsum(n=10**8) }}",
]

REFUSED = ("is longer than", "Range too big", "'lipsum' is undefined", "is unsafe", "No filter named", "any width")


def limited() -> None:
    """Let a template that is not bounded fail in this process and not take the machine's memory."""
    resource.setrlimit(resource.RLIMIT_AS, (2 * 1024**3, 2 * 1024**3))
    resource.setrlimit(resource.RLIMIT_CPU, (40, 40))


# One process for all: starting one takes longer than all the templates.
SCRIPT = """
import sys
from jrh.errors import JrhError
from jrh_authoring.templates import render
for template in sys.argv[1:]:
    try:
        render(template, {})
    except JrhError as error:
        print(f"{error}".replace(chr(10), " ")[:200])
    else:
        print("rendered")
"""


@pytest.mark.slow
def test_a_template_that_grows_without_bound_is_refused_before_it_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *GROWING], capture_output=True, text=True, preexec_fn=limited, check=False
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-500:]
    wrong = [
        (template, line)
        for template, line in zip(GROWING, said, strict=True)
        if not any(said in line for said in REFUSED)
    ]
    assert not wrong


@loop_over(
    ("template", "rendered"),
    [
        ("{{ '-' * 20 }}", "-" * 20),
        ("{{ 1 + 2 }} {{ 2 ** 10 }} {{ 6 * 7 }} {{ 7 % 4 }}", "3 1024 42 3"),
        ("{{ a + '!' }} {{ a ~ 1 ~ none }}", "long! long1None"),
        ("{{ 3.14159|round(2) }}", "3.14"),
        ("{{ [1, 2]|join(', ') }} {{ ', '.join(['a', 'b']) }}", "1, 2 a, b"),
        ("{{ 123456789|tojson }} {{ a|indent(2, first=true) }}", "123456789   long"),
        ("{{ a|replace('l', 'L') }} {{ a|replace(old='l', new='L') }} {{ a.replace('l', 'L') }}", "Long Long Long"),
        ("{% for i in range(3) %}{{ loop.index }}{% endfor %}", "123"),
        ("{% set b %}x{{ a }}{% endset %}{{ b }}", "xlong"),
    ],
)
def test_what_templates_may_do_is_done(template: str, rendered: str) -> None:
    assert render(template, {"a": "long"}) == rendered


def test_long_texts_of_items_are_rendered() -> None:
    text = "x" * 3_000_000
    assert render("{{ a }}\n{{ a }}", {"a": text}) == f"{text}\n{text}"
    with pytest.raises(JrhError, match="is longer than 16,777,216"):
        render("{{ a }}" * 6, {"a": text})
