"""Names say what a function does or returns, comments say why, and no text has a word that WRITING bans."""

from __future__ import annotations

import importlib
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_PARTICIPLES = 0.04
MOST_VARIABLES = 0.01
FEWEST_COMMENTS = {"core": 0.04, "plugins": 0.03}

BANNED = re.compile(r"\b(?:stands|nobody|for certain|anew|beside|thereby|is told|such as it is)\b", re.IGNORECASE)
"""Words of no technical text: write `is`, `no judge`, `next to`, `so`."""
OF_PROMPTS = (
    "material to be judged stands between tags",
    "wherever it stands in a long text",
    "the sign {sign} stands for white space",
    "stands a prompt template",
    "What stands in double braces",
    "{low} stands for level",
)
"""Prompts that models are sent keep their words: another word is another prompt, and its replies are bought again."""
WORDS_OF_TEXTS = (
    "plugins/label-flip/src/jrh_label_flip/",
    "plugins/paraphrase/",
    "plugins/validators/",
    "tools/names.py",
)
"""Files whose word lists are about English responses, and what documents them."""


@pytest.fixture(scope="module")
def names() -> Iterator[ModuleType]:
    """Import `tools/names.py`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module("names")


@pytest.fixture(scope="module")
def counts(names: ModuleType) -> dict[str, Any]:
    """Count the source of each group of distributions."""
    reports = {group: names.Report() for group in names.GROUPS}
    for group, report in reports.items():
        for path in sorted((ROOT / group).glob("*/src/**/*.py")):
            report.add(path)
    return reports


def test_functions_begin_with_verbs_and_variables_are_nouns(counts: dict[str, Any]) -> None:
    participles = [place for report in counts.values() for place in report.participles]
    no_nouns = [place for report in counts.values() for place in report.no_nouns]
    functions = sum(report.functions for report in counts.values())
    variables = sum(report.variables for report in counts.values())
    assert len(participles) <= MOST_PARTICIPLES * functions, "\n".join(participles)
    assert len(no_nouns) <= MOST_VARIABLES * variables, "\n".join(no_nouns)


def test_comments_say_why(counts: dict[str, Any]) -> None:
    for group, fewest in FEWEST_COMMENTS.items():
        report = counts[group]
        assert report.comments >= fewest * report.code, f"{group}: {report.line(group)}"


@pytest.mark.parametrize(
    ("name", "participle"),
    [
        ("told", True),
        ("_moved_rows", True),
        ("remaining", True),
        ("built", True),
        ("build_table", False),
        ("needs", False),
        ("_heading", False),
        ("seed", False),
        ("read_items", False),
    ],
)
def test_the_count_knows_participles(names: ModuleType, name: str, participle: bool) -> None:
    assert names.begins_with_participle(name) is participle


def test_no_text_has_a_banned_word() -> None:
    assert not list(banned_words()), "\n".join(banned_words())


def banned_words() -> Iterator[str]:
    """Yield the place of every banned word in the source's texts and comments, and in the documentation."""
    command = ["git", "ls-files", "-z", "*.py", "*.md", "*/metrics.toml"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        parts = Path(name).parts
        # Tests quote; the changelog tells of old words; the first look is a copy of a report.
        if "tests" in parts or name in ("CHANGELOG.md", "docs/first-look.md") or name.startswith(WORDS_OF_TEXTS):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        if not BANNED.search(text):
            continue
        lines = texts(text) if name.endswith(".py") else enumerate(text.splitlines(), start=1)
        for number, line in lines:
            if (found := BANNED.search(line)) and not any(phrase in line for phrase in OF_PROMPTS):
                yield f"{name}:{number}: {found[0]}: {line.strip()[:80]}"


def texts(code: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of strings and comments; names are no prose."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield from enumerate(token.string.splitlines(), start=token.start[0])
