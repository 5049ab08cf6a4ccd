"""`make dist` finds what a release lacks."""

from __future__ import annotations

import json
import re
import zipfile
from email import message_from_bytes
from pathlib import Path
from types import ModuleType

import jrh
import pytest
import yaml
from jrh_testing import loop_over
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]
NAME = "jrh_thing-0.1.0"


def load(name: str) -> ModuleType:
    return load_script(ROOT / "tools" / f"{name}.py")


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    return load("dist")


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
    assert {"jrh", "jrh-core", "jrh-stats", "jrh-testing", "jrh-chat", "jrh-format"} <= found.keys()
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


def test_the_names_to_reserve_are_listed(dist: ModuleType) -> None:
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    listed = page.split("names to reserve")[1].split("\n\n")[1]
    assert re.findall(r"`([\w-]+)`", listed) == list(dict(dist.distributions(ROOT)))


WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


@loop_over("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_can_be_read_and_may_only_what_it_needs(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    writing = {name: set(job.get("permissions", ())) - {"contents"} for name, job in workflow["jobs"].items()}
    allowed = {"build": {"attestations", "id-token"}, "publish": {"id-token", "pages"}}
    assert all(asked <= allowed.get(name, set()) for name, asked in writing.items())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not any("pull_request_target" in str(step) or "secrets." in str(step) for step in steps)


def test_files_that_a_wheel_lacks_or_should_not_have_are_found(dist: ModuleType, tmp_path: Path) -> None:
    for name in ("jrh_thing/__init__.py", "jrh_thing/py.typed", "jrh_thing/template/.github/a.yml"):
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).touch()
    path = wheel(tmp_path, **{"tests/test_it.py": "", "jrh_thing/old.pyc": ""})
    found = [each.removeprefix(f"{path.name}: ") for each in dist.lacking(path, tmp_path / "src")]
    assert found[:4] == [
        "no tests/py.typed",
        "no jrh_thing/template/.github/a.yml",
        "jrh_thing/old.pyc does not belong there",
        "tests/test_it.py does not belong there",
    ]


METADATA = """\
Metadata-Version: 2.4
Name: jrh-thing
License-Expression: MIT
Requires-Python: >=3.11
Description-Content-Type: text/markdown
{}

[all](https://example.org) and ```[none](here)```
"""


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (("", ""), []),
        (("Python :: 3.12", "Python :: 3.1"), ["no classifier for Python 3.12"]),
        (("Project-URL: Issues", "Project-URL: Other"), ["no address 'Issues'"]),
        (("Expression: MIT", "Expression: GPL"), ["License-Expression is GPL, not MIT"]),
        (("text/markdown", "text/x-rst"), ["the README is not declared as Markdown"]),
        (("https://example.org", "../docs/a.md"), ["the README has a relative link: ../docs/a.md"]),
    ],
)
def test_what_the_metadata_do_not_say_is_found(dist: ModuleType, change: tuple[str, str], problems: list[str]) -> None:
    lines = [f"Classifier: Programming Language :: Python :: {version}" for version in dist.PYTHONS]
    lines += [f"Project-URL: {name}, https://example.org" for name in dist.PAGES]
    text = METADATA.format("\n".join(lines)).replace(*change)
    assert list(dist.unstated(message_from_bytes(text.encode()))) == problems


def test_links_of_a_readme_become_absolute_but_not_in_code(dist: ModuleType) -> None:
    text = "[a](../../docs/b.md#c) ![d](../../docs/e.png) [f](https://g.org) [h](#i)\n```\n[j](k.md)\n```\n"
    assert dist.absolute(text, ROOT / "plugins" / "gate", "https://r", "1.0") == (
        "[a](https://r/blob/v1.0/docs/b.md#c) ![d](https://r/raw/v1.0/docs/e.png) [f](https://g.org) "
        "[h](https://r/blob/v1.0/plugins/gate/README.md#i)\n```\n[j](k.md)\n```\n"
    )


def test_one_command_gives_all_distributions_one_version(tmp_path: Path) -> None:
    manifests = load("manifests")
    for path in (*manifests.manifests(ROOT, ".", "core/*", "plugins/*"), ROOT / "core/kernel/src/jrh/version.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    manifests.set_version(tmp_path, "7.8.9rc1")
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob("**/*.*") if path.is_file()]
    assert not any(re.search(rf'"(jrh[^"]*==)?{re.escape(jrh.__version__)}"', text) for text in texts)
    assert '"jrh-core==7.8.9rc1"' in (tmp_path / "plugins" / "gate" / "pyproject.toml").read_text()
    assert '"jrh-validators[embeddings]==7.8.9rc1"' in (tmp_path / "pyproject.toml").read_text()
    assert "API_VERSION: Final = 2\n" in (tmp_path / "core/kernel/src/jrh/version.py").read_text()
    with pytest.raises(SystemExit, match=r"'1\.0' is not a version"):
        manifests.set_version(tmp_path, "1.0")


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


def test_what_the_container_files_copy_and_install_exists() -> None:
    """No image is built here: the files are read, and every path of the repository in them is looked up."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    final = text.split("\nFROM ")[-1]
    assert "\nUSER jrh\n" in final
    assert "\nVOLUME /data/runs\n" in final
    for path in re.findall(r"(?<= )\./(?:core|plugins)/[\w-]+", text):
        assert (ROOT / path / "pyproject.toml").is_file()
    left_out = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert not {"core", "plugins", "pyproject.toml", "README.md", "LICENSE", "constraints.txt"} & set(left_out)
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).is_file()
    target = settings["postCreateCommand"].removeprefix("make ").replace(".venv", "$(VENV)")
    assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    developer = (ROOT / ".devcontainer" / "Containerfile").read_text(encoding="utf-8")
    assert f"\nUSER {settings['remoteUser']}\n" in developer
