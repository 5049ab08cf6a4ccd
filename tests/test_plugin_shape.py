"""Every distribution of the repository has the same shape, and says of itself what is true."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import jrh
import pytest
from jrh.plugins.loading import load_plugins
from jrh.plugins.specs import FlagSpec, NoOptions, RuleSpec, SectionSpec, Spec
from jrh_authoring.doctor import examine
from jrh_testing import declarations, loop_over
from jrh_testing.building import factory_of
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]
CORE = sorted(path.parent for path in ROOT.glob("core/*/pyproject.toml"))
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins*/*/pyproject.toml"))
ALL = [*CORE, *PLUGINS]
IMPORTS = {"jrh": "jrh-core"}
OPTIONAL = {("jrh-export", "mlflow")}
"""The module `mlflow` is that of `mlflow-skinny`, an extra of jrh-export."""
USED_BY_NAME = {
    ("jrh-contrib-hunt", "jrh-injection"),
    ("jrh-paraphrase", "jrh-validators"),
    ("jrh-pytest", "jrh-gate"),
    ("jrh-verbosity", "jrh-validators"),
}
"""They name a test, validators or a command of another plugin, which they need and do not import."""
REQUIREMENT = re.compile(r"([\w-]+)(?:\[[\w,]+\])?(==|>=)([\d.]+)(?:,!=[\d.]+)*")


def named(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


in_every_distribution = loop_over("folder", ALL, ids=named)
in_every_plugin = loop_over("folder", PLUGINS, ids=named)


@cache
def manifest(folder: Path) -> Any:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def package(folder: Path) -> Path:
    (found,) = (path for path in (folder / "src").iterdir() if (path / "__init__.py").is_file())
    return found


def points(folder: Path, group: str) -> dict[str, str]:
    found: dict[str, str] = manifest(folder)["project"].get("entry-points", {}).get(group, {})
    return found


def declared(folder: Path) -> tuple[Spec, ...]:
    found: tuple[Spec, ...] = ()
    for module in points(folder, "jrh").values():
        found += declarations(importlib.import_module(module))
    return found


# -- files -----------------------------------------------------------------------------------------------------------


@in_every_distribution
def test_a_distribution_has_its_files(folder: Path) -> None:
    inside = package(folder)
    expected = [folder / "README.md", folder / "LICENSE", folder / "tests", inside / "py.typed"]
    assert [path for path in expected if not path.exists()] == []
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@in_every_plugin
def test_a_plugins_init_is_one_docstring(folder: Path) -> None:
    (only,) = ast.parse((package(folder) / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(only, ast.Expr)


@in_every_plugin
def test_declarations_options_and_commands_are_where_they_are_expected(folder: Path) -> None:
    inside = package(folder)
    assert set(points(folder, "jrh").values()) <= {f"{inside.name}.plugin"}
    assert (inside / "plugin.py").exists() == bool(points(folder, "jrh"))
    modules = {value.partition(":")[0] for value in points(folder, "jrh.commands").values()}
    assert modules <= {f"{inside.name}.commands"}
    assert (inside / "commands.py").exists() == bool(modules)
    adds = ("jrh", "jrh.commands", "jrh.displays", "jrh.estimators", "pytest11")
    assert any(points(folder, group) for group in adds), "the plugin adds nothing to jrh, and nothing to pytest"
    classes = {spec.options for spec in declared(folder)} - {NoOptions}
    own = {each.__module__ for each in classes if each.__module__.partition(".")[0] not in ("jrh", "jrh_measuring")}
    assert own <= {f"{inside.name}.options"}


@loop_over("folder", [each for each in PLUGINS if points(each, "jrh")], ids=named)
def test_plugin_py_declares_and_imports_no_work(folder: Path) -> None:
    inside = package(folder)
    plugin = importlib.import_module(f"{inside.name}.plugin")
    assert jrh.API_VERSION == plugin.JRH_API_VERSION
    assert [spec.name for spec in declared(folder) if not isinstance(getattr(spec, "factory", ""), str)] == []
    own = set(imported(inside / "plugin.py", whole=True)) - set(sys.stdlib_module_names)
    declarations = {f"{inside.name}.options", f"{inside.name}.measure_list", f"{inside.name}.flag_list"}
    assert own <= {"jrh", "jrh_measuring", "jrh.plugins", "jrh.values"} | declarations | _of_stdlib(own)


@loop_over("folder", [each for each in PLUGINS if points(each, "jrh")], ids=named)
def test_every_factory_exists_and_takes_at_most_options_and_context(folder: Path) -> None:
    plugin = importlib.import_module(f"{package(folder).name}.plugin")
    for spec in declared(folder):
        if isinstance(spec, FlagSpec):
            continue
        factory = factory_of(plugin, spec)
        # What has no default has to be positional, and there is nothing to give to a third parameter.
        needed = [each for each in inspect.signature(factory).parameters.values() if each.default is each.empty]
        assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in needed), f"{spec.name}: {needed}"
        assert len(needed) <= 2, f"{spec.name}: {needed}"


# -- metadata --------------------------------------------------------------------------------------------------------


@in_every_distribution
def test_the_metadata_say_what_is_true(folder: Path) -> None:
    project = manifest(folder)["project"]
    contributed = folder.parent.name == "plugins-contrib"
    if folder in PLUGINS:
        assert package(folder).name == project["name"].replace("-", "_")
        assert contributed or project["name"] == f"jrh-{folder.name}"
    assert contributed or project["version"] == jrh.__version__
    assert (project["readme"], project["license"]) == ("README.md", "MIT")
    assert project["license-files"] == ["LICENSE"]
    assert project["requires-python"] == ">=3.11"
    described = project["description"]
    assert described[0].isupper()
    assert not described.endswith(".")
    assert 20 < len(described) <= 110


@in_every_distribution
def test_a_manifest_configures_no_tool_but_the_build(folder: Path) -> None:
    assert set(manifest(folder).get("tool", {})) <= {"setuptools"}
    assert manifest(folder)["build-system"] == manifest(ROOT)["build-system"]


@in_every_distribution
def test_a_dependency_has_a_lower_bound_and_no_upper_one(folder: Path) -> None:
    project = manifest(folder)["project"]
    extras = project.get("optional-dependencies", {})
    for requirement in [*project.get("dependencies", []), *(each for extra in extras.values() for each in extra)]:
        found = REQUIREMENT.fullmatch(requirement)
        assert found, f"'{requirement}' has no lower bound, or an upper one"
        name, operator, version = found.groups()
        lockstep = name.startswith("jrh") and folder.parent.name != "plugins-contrib"
        assert operator == ("==" if lockstep else ">="), requirement
        assert not lockstep or version == jrh.__version__


@in_every_distribution
def test_what_is_imported_is_declared_and_what_is_declared_is_imported(folder: Path) -> None:
    project = manifest(folder)["project"]
    needed = {_distribution(name) for path in package(folder).rglob("*.py") for name in imported(path)}
    needed -= {project["name"]} | {optional for name, optional in OPTIONAL if name == project["name"]}
    required = {_normal(each) for each in project.get("dependencies", [])}
    extras = {_normal(each) for extra in project.get("optional-dependencies", {}).values() for each in extra}
    assert needed - required - extras == set(), "imported and not declared"
    by_name = {other for name, other in USED_BY_NAME if name == project["name"]}
    assert required - needed - by_name == set(), "declared and not imported"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs tomllib")
def test_the_manifests_and_the_lists_of_plugins_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert _tool("manifests").main(["--check"]) == 0, capsys.readouterr().out


# -- names -----------------------------------------------------------------------------------------------------------


def test_no_two_shipped_components_of_a_kind_share_a_name() -> None:
    by_name: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for registry in load_plugins().plugins.registries():
        for entry in registry:
            by_name[registry.role, entry.spec.name].append(entry.distribution)
    assert {name: found for name, found in by_name.items() if len(found) > 1} == {}


# -- helpers ---------------------------------------------------------------------------------------------------------


def imported(path: Path, *, whole: bool = False) -> Iterator[str]:
    """Yield the modules a file imports anywhere; only their top-level packages unless `whole`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found = []
        if isinstance(node, ast.Import):
            found = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [node.module]
        for name in found:
            if whole or name.partition(".")[0] not in sys.stdlib_module_names:
                yield name if whole else name.partition(".")[0]


def _of_stdlib(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] in sys.stdlib_module_names}


@lru_cache(maxsize=1)
def _installed() -> Any:
    return metadata.packages_distributions()


def _distribution(module: str) -> str:
    if module in IMPORTS or module.startswith("jrh_"):
        return IMPORTS.get(module, module.replace("_", "-"))
    return _normal(_installed().get(module, [module])[0])


def _normal(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def _tool(name: str) -> ModuleType:
    return load_script(ROOT / "tools" / f"{name}.py")


def test_the_list_of_maturity_has_every_shipped_component() -> None:
    lines = (ROOT / "docs" / "maturity.md").read_text(encoding="utf-8").split("\n\n")
    rows = re.findall(r"^\| (jrh-[\w-]+) \| (\w+) \| (.*?) \|", "\n".join(lines), re.MULTILINE)
    listed = {(plugin, kind, name) for plugin, kind, names in rows for name in re.findall(r"`([^`]+)`", names)}
    without = set(re.findall(r"`([^`]+)`", lines[-1]))
    shipped = {
        (manifest(folder)["project"]["name"], type(spec).__name__.removesuffix("Spec"), spec.name)
        for folder in PLUGINS
        if folder.parent.name == "plugins"
        for spec in declared(folder)
        if not isinstance(spec, FlagSpec | RuleSpec | SectionSpec)
    }
    assert {each for each in shipped - listed if each[2] not in without} == set()
    assert listed - shipped == set()


def test_the_doctor_finds_nothing_wrong_with_the_components_shipped() -> None:
    assert examine(load_plugins().plugins).wrong == ()
