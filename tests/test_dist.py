"""`make dist` finds what a release lacks."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME = "jrh_thing-0.1.0"


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dist", ROOT / "tools" / "dist.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(directory: Path, **files: str) -> Path:
    path = directory / f"{NAME}-py3-none-any.whl"
    whole = {
        "jrh_thing/__init__.py": "",
        "jrh_thing/py.typed": "",
        f"{NAME}.dist-info/licenses/LICENSE": "MIT License",
        **files,
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in whole.items():
            if text != "absent":
                archive.writestr(name, text)
    return path


def test_every_distribution_is_built_the_contributed_ones_excepted(dist: ModuleType) -> None:
    found = dict(dist.distributions(ROOT))
    assert {"jrh", "jrh-core", "jrh-stats", "jrh-testing", "jrh-format"} <= found.keys()
    assert {path.resolve() for path in found.values()} == {
        path.parent.resolve()
        for path in [
            ROOT / "pyproject.toml",
            *ROOT.glob("core/*/pyproject.toml"),
            *ROOT.glob("plugins/*/pyproject.toml"),
        ]
    }


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, []),
        ({f"{NAME}.dist-info/licenses/LICENSE": "absent"}, ["no licence text"]),
        ({f"{NAME}.dist-info/licenses/LICENSE": "\n"}, ["no licence text"]),
        ({"jrh_thing/py.typed": "absent"}, ["no jrh_thing/py.typed"]),
        ({"jrh_other/__init__.py": ""}, ["no jrh_other/py.typed"]),
        ({"jrh_thing/__init__.py": "absent", "jrh_thing/py.typed": "absent"}, []),
    ],
    ids=["whole", "no licence", "empty licence", "no py.typed", "second package without", "no code"],
)
def test_a_wheel_that_lacks_something_is_found(
    dist: ModuleType, tmp_path: Path, files: dict[str, str], problem: list[str]
) -> None:
    path = wheel(tmp_path, **files)
    assert list(dist.lacking(path)) == [f"{path.name}: {each}" for each in problem]


def test_a_release_has_one_file_of_each_kind_and_one_version(dist: ModuleType, tmp_path: Path) -> None:
    wheel(tmp_path)
    (tmp_path / f"{NAME}.tar.gz").touch()
    assert list(dist.incomplete({"jrh-thing": tmp_path}, tmp_path)) == []
    (tmp_path / f"{NAME}.tar.gz").rename(tmp_path / "jrh_thing-0.2.0.tar.gz")
    assert list(dist.incomplete({"jrh-thing": tmp_path}, tmp_path)) == ["versions differ: 0.1.0, 0.2.0"]
    (tmp_path / "jrh_thing-0.2.0.tar.gz").unlink()
    assert list(dist.incomplete({"jrh-thing": tmp_path}, tmp_path)) == [
        "jrh-thing: expected one jrh_thing-*.tar.gz, found none"
    ]
