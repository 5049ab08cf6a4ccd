import re
from pathlib import Path

import pytest
from jrh.testing import Project

DOCS = Path(__file__).parents[3] / "docs" / "importing.md"


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def documented(project):
    """Write the named examples of docs/importing.md into the project."""
    for name, text in re.findall(r"```\w+ ([\w.-]+)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL):
        project.write(name, text)
    return project
