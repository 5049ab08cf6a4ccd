"""The schemas that are shipped are those the classes and the standard plugins give."""

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from jrh.plugins.loading import load_plugins
from jrh_authoring.suite_schema import FILES, write_schemas

ROOT = Path(__file__).resolve().parents[1]
NOT_PLUGINS = (
    "jrh-authoring",
    "jrh-chat",
    "jrh-core",
    "jrh-interchange",
    "jrh-measuring",
    "jrh-pytest",
    "jrh-stats",
    "jrh-testing",
)


def standard_plugins():
    """Return the distributions of plugins that the meta package brings, with all its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = dict.fromkeys(re.split(r"[\[=<>~! ]", requirement)[0] for requirement in required)
    return [name for name in names if name.startswith("jrh-") and name not in NOT_PLUGINS]


@pytest.fixture
def plugins():
    names = standard_plugins()
    installed = {distribution.name for distribution in metadata.distributions()}
    missing = [name for name in names if name not in installed]
    if missing:
        pytest.skip(f"the shipped schemas hold all standard plugins; not installed: {', '.join(missing)}")
    return load_plugins(names).plugins


def test_the_shipped_schemas_are_up_to_date(plugins, tmp_path):
    write_schemas(tmp_path, plugins)
    for name in FILES:
        shipped = ROOT / "schemas" / name
        assert shipped.is_file(), f"schemas/{name} is missing: write it with jrh_authoring.suite_schema.write_schemas"
        assert shipped.read_text(encoding="utf-8") == (tmp_path / name).read_text(encoding="utf-8"), (
            f"schemas/{name} is not what the classes give: write it again with jrh_authoring.suite_schema.write_schemas"
        )


KIND = """
from typing import Literal
from attrs import frozen
from jrh import hookimpl
from jrh.plugins import SectionSpec

@frozen(kw_only=True)
class Dial:
    kind: Literal["dial"] = "dial"
    degrees: float

    def tables(self):
        yield from ()

@hookimpl
def jrh_sections():
    yield SectionSpec(name="dials", summary="-", title="Dials", factory=lambda options, context: None, kinds=(Dial,))
"""


def test_a_plugin_of_one_file_declares_a_kind_of_part_of_its_own(project):
    project.write("mine.py", KIND)
    done = project.run("schema", "results", "--plugins", "mine.py")
    assert done.exit_code == 0, done.stderr
    kinds = json.loads(done.stdout)["$defs"]
    (dial,) = (kind for name, kind in kinds.items() if name.endswith("Dial"))
    assert dial["properties"]["degrees"] == {"type": "number"}
