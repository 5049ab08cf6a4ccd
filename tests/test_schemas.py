"""The schemas that are shipped are those the classes and the standard plugins give."""

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from jrh.plugins.loading import load_plugins
from jrh_authoring.suite_schema import FILES, write_schemas
from support.suites import simulated_suite, write_items, write_suite

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
from jrh.values import Section

@frozen(kw_only=True)
class Dial:
    kind: Literal["dial"] = "dial"
    degrees: float

    def tables(self):
        yield from ()

class Dials:
    def __init__(self, options, context):
        pass

    def sections(self, report):
        yield Section(parts=(Dial(degrees=12.5),))

@hookimpl
def jrh_sections():
    yield SectionSpec(name="dials", summary="-", title="Dials", factory=Dials, kinds=(Dial,))
"""


def test_a_plugin_of_one_file_declares_a_kind_of_part_of_its_own(project):
    project.write("mine.py", KIND)
    done = project.run("schema", "results", "--plugins", "mine.py")
    assert done.exit_code == 0, done.stderr
    kinds = json.loads(done.stdout)["$defs"]
    (dial,) = (kind for name, kind in kinds.items() if name.endswith("Dial"))
    assert dial["properties"]["degrees"] == {"type": "number"}


def test_a_part_of_a_kind_that_is_not_declared_costs_its_section_and_no_report(project):
    judges = [{"name": "good", "judge": "simulated", "accuracy": 1.0}]
    write_items(project, 4)
    write_suite(project, simulated_suite(judges=judges, tests=[], reports=["json"]))
    for number, (code, sections) in enumerate(((KIND, ["dials"]), (KIND.replace(", kinds=(Dial,)", ""), []))):
        project.write("mine.py", code)
        done = project.run("run", "suite.yaml", "--run-dir", f"run{number}", "--plugins", "mine.py", "--yes")
        assert done.exit_code == 0, done.output
        report = json.loads((project.path / f"run{number}" / "report.json").read_text(encoding="utf-8"))
        assert [section["name"] for section in report["sections"] if section["name"] == "dials"] == sections
        note = "section 'dials' could not be written: TypeError: it has a Dial, which its declaration does not list"
        assert any(note in line for line in report["notes"]) is (not sections)
