"""Where the tests of the scaffold find what `jrh plugins new` makes, and how they call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jrh_scaffold.commands import command

SUITE = """\
name: made
data: {source: my-source, path: answers.txt}
task: {yes_or_no: "Is the answer right?"}
tests:
  - my-perturber: {closing: "Bye.", validate: [my-validator]}
models:
  local: {provider: my-model, command: [sh, reply.sh]}
parsers:
  tags: {parser: my-parser}
judges:
  - {judge: my-judge, threshold: 0.4}
  - {judge: llm, name: mini, model: local, parser: tags}
allocate: {my-allocator: {batch: 1, dollars: 9}}
metrics: [my-metric]
reports: [my-reporter]
"""
"""A suite in which every kind of plugin has its place."""


@pytest.fixture(scope="session")
def new() -> Callable[..., Result]:
    """Call `jrh plugins new`."""

    def call(*arguments: str | Path) -> Result:
        return CliRunner().invoke(command, list(map(str, arguments)), standalone_mode=False)

    return call


ANSWERS = "Q: What is 2 + 2?\nA: What is 4\nLabel: YES\n\nQ: 2 + 3?\nA: four\nLabel: NO\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Provide a directory with the suite, two items, and the program that its model asks."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "answers.txt").write_text(ANSWERS)
    (tmp_path / "grades.txt").write_text("1\tYES\tYES\n2\tYES\tNO\n")
    (tmp_path / "reply.sh").write_text("cat > /dev/null\necho 'Right. <verdict>YES</verdict>'\n")
    return tmp_path
