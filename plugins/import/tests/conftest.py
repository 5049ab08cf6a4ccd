import re
import shlex
from pathlib import Path

import pytest
from jrh_testing import Inside

DOCS = Path(__file__).parents[3] / "docs" / "importing.md"


@pytest.fixture
def project(tmp_path):
    return Inside(tmp_path)


@pytest.fixture(scope="session")
def documented(tmp_path_factory):
    """Write the named examples of docs/importing.md into a project, and run its commands in their order."""
    project = Inside(tmp_path_factory.mktemp("documented"))
    text = DOCS.read_text(encoding="utf-8")
    for name, content in re.findall(r"```\w+ ([\w.-]+)\n(.*?)```", text, re.DOTALL):
        project.write(name, content)
    project.outcomes = {}
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            arguments = shlex.split(line.removeprefix("$ jrh "))
            project.outcomes[line] = project.run(*arguments)
    return project
