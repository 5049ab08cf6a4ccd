"""What counts as the source of a component, and what does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jrh.errors import JrhError
from jrh.plugins import component_identity, python_files
from jrh.plugins.component_identity import code_digest, program_source, python_source, read_source


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_counts_with_what_it_imports_from_its_directory_wherever_the_import_stands(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("import json, attrs, first\ndef f():\n    from spaces.inner import late\n")
    (tmp_path / "first.py").write_text("import second.third\nimport rules\n")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "__init__.py").write_text("")
    (tmp_path / "second" / "third.py").write_text("")
    (tmp_path / "second" / "other.py").write_text("")
    (tmp_path / "spaces" / "inner").mkdir(parents=True)
    (tmp_path / "spaces" / "inner" / "late.py").write_text("")
    (tmp_path / "spaces" / "inner" / "unused.py").write_text("")
    (tmp_path / "json.py").write_text("the standard library comes first")
    (tmp_path / "unused.py").write_text("")

    assert sorted(python_source("rules.py:f", tmp_path).files) == [
        "first.py",
        "rules.py",
        "second/__init__.py",
        "second/other.py",
        "second/third.py",
        "spaces/inner/late.py",
    ]


def test_an_edit_changes_the_digest_and_undoing_it_restores_it(tmp_path: Path) -> None:
    path = tmp_path / "rules.py"
    path.write_text("x = 1\n")
    first = python_source("rules.py:x", tmp_path)
    path.write_text("x = 1  # why\n")
    second = read_source(first.kind, first.written, first.base)
    path.write_text("x = 1\n")

    assert first.digest != second.digest
    assert read_source(second.kind, second.written, second.base).digest == first.digest
    assert code_digest([first, second]) not in ("", code_digest([first]))
    assert code_digest([]) == ""


def test_an_installed_package_counts_whole_and_its_imports_do_not() -> None:
    files = python_source("pluggy:HookspecMarker", Path()).files
    assert {name.partition("/")[0] for name in files} == {"pluggy"}
    assert "pluggy/_hooks.py" in files


def test_what_has_no_python_source_is_known_by_its_file_or_by_pythons_version() -> None:
    assert list(python_source("json:loads", Path()).files) == ["__init__.py"]
    assert next(iter(python_source("sys:exit", Path()).files)).startswith("Python 3.")
    assert python_source("no_such_module_9:f", Path()).files == {}


def test_a_file_that_is_not_python_is_still_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (")
    assert list(python_source("broken.py:f", tmp_path).files) == ["broken.py"]


def test_the_words_of_a_command_that_are_files_count_and_the_system_does_not(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "python").write_text("not the one that PATH finds")
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "tool.sh").write_text("exit 1")

    def files(*command: str) -> list[str]:
        return sorted(program_source(command, tmp_path).files)

    assert files("python", "judge.py", "--settings", "settings.json", "/bin/sh") == [
        "helper.py",
        "judge.py",
        "settings.json",
    ]
    assert files("./tool.sh", "absent.txt", "", "x" * 5000) == ["./tool.sh"]
    assert files("python", "-m", "judge") == ["helper.py", "judge.py"]
    assert files("/bin/sh", "-c", "judge.py tool.sh") == []


def test_large_files_count_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component_identity, "LARGE", 10)
    path = tmp_path / "weights.bin"
    path.write_bytes(b"a" * 20)
    os.utime(path, ns=(1, 1))
    first = program_source(["./run", "weights.bin"], tmp_path)
    path.write_bytes(b"b" * 20)
    os.utime(path, ns=(1, 1))
    assert read_source(first.kind, first.written, first.base).digest == first.digest
    os.utime(path, ns=(2, 2))
    assert read_source(first.kind, first.written, first.base).digest != first.digest


def test_packages_without_end_and_files_too_large_are_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "many"
    (package / ".venv").mkdir(parents=True)
    (package / "env").mkdir()
    (package / "env" / "pyvenv.cfg").write_text("")
    for place in (".venv", "env", "."):
        for name in ("__init__.py", "a.py", "b.py"):
            (package / place / name).write_text("")
    (tmp_path / "rules.py").write_text("import many\n")
    assert len(python_source("rules.py:f", tmp_path).files) == 4

    monkeypatch.setattr(python_files, "MOST_FILES", 2)
    with pytest.raises(JrhError, match="has more than 2 files; jrh identifies local code by the content"):
        python_source("rules.py:f", tmp_path)
    monkeypatch.setattr(python_files, "MOST_BYTES", 5)
    with pytest.raises(JrhError, match=r"rules\.py' is too large for source code"):
        python_source("rules.py:f", tmp_path)


def test_links_are_followed_and_a_link_to_a_directory_above_ends(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "linked.py").write_text("")
    package = tmp_path / "own"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "above").symlink_to(package)
    (package / "sub").symlink_to(tmp_path / "elsewhere")
    (package / "dangling.py").symlink_to(tmp_path / "nothing.py")
    (tmp_path / "rules.py").write_text("import own\n")
    assert sorted(python_source("rules.py:f", tmp_path).files) == ["own/__init__.py", "own/sub/linked.py", "rules.py"]
