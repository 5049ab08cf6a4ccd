"""`--env-file`: what python-dotenv reads is read, and what is no variable is told without being shown."""

import os

import pytest
from dotenv import dotenv_values
from jrh import JrhError
from jrh.cli.shared_options import read_environment

GOOD = """\
# a comment

PLAIN=1
export EXPORTED=2
 SPACED = three words   # and a comment
SINGLE='four # no comment'
DOUBLE="five\\nlines"
LONG="six
seven"
EMPTY=
NOT_FILLED_IN=${PLAIN}
WITH_EQUALS=a=b==
WINDOWS=8\r
"""
SECRET = "sk-do-not-show-me"


@pytest.fixture
def environment(monkeypatch):
    """Keep what is set from the other tests."""
    kept = {"PLAIN": "was set before"}
    monkeypatch.setattr(os, "environ", kept)
    return kept


def variables(environment):
    """Return what is set, but for what pytest sets."""
    return {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}


def test_everything_python_dotenv_reads_is_read_and_what_is_set_wins(tmp_path, environment):
    path = tmp_path / "good.env"
    path.write_text(GOOD, newline="")
    read_environment(path)
    expected = dotenv_values(path, interpolate=False)
    assert len(expected) == 10
    assert variables(environment) == {**expected, "PLAIN": "was set before"}
    assert environment["EXPORTED"] == "2"
    assert environment["NOT_FILLED_IN"] == "${PLAIN}"


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (SECRET, [1]),
        (f"A=1\n\n\n# x\n{SECRET}\nB=2\n", [5]),
        (f"export {SECRET}\n", [1]),
        (f"KEY: {SECRET}\nA=1\n", [1]),
        (f'KEY="{SECRET}\nA=1\n', [1]),
        (f"my key={SECRET}\n", [1]),
        (f"={SECRET}\n", [1]),
        (f"'a=b'={SECRET}\n", [1]),
        (f'{{"KEY": "{SECRET}"}}\n', [1]),
        (f"A=1\n{SECRET}\n{SECRET}\n", [2, 3]),
    ],
)
def test_a_line_that_is_no_variable_is_told_by_its_number_and_never_shown(tmp_path, environment, content, lines):
    path = tmp_path / "bad.env"
    path.write_text(content)
    with pytest.raises(JrhError) as caught:
        read_environment(path)
    *told, what_to_do = str(caught.value).splitlines()
    assert told == [f"--env-file: {path}:{line}: expected KEY=VALUE" for line in lines]
    assert what_to_do.startswith("Write one KEY=VALUE per line")
    assert SECRET not in str(caught.value)
    assert variables(environment) == {"PLAIN": "was set before"}


def test_many_such_lines_are_counted(tmp_path, environment):
    path = tmp_path / "bad.env"
    path.write_text(f"{SECRET}\n" * 50)
    with pytest.raises(JrhError, match=r"bad.env:10: expected KEY=VALUE\nand 40 more lines\n"):
        read_environment(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"A=\xff\n", "is not UTF-8 text; save it as UTF-8"),
        ("A=1\n".encode("utf-16"), "is not UTF-8 text"),
        (b"A=1\nB=x\0y\n", "x.env:2: contains a NUL character"),
        (None, "no such file"),
    ],
)
def test_a_file_that_is_no_text_is_told(tmp_path, environment, content, told):
    path = tmp_path / "x.env"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JrhError, match=told):
        read_environment(path)
    assert variables(environment) == {"PLAIN": "was set before"}


def test_a_directory_is_told(tmp_path, environment):
    with pytest.raises(JrhError, match="Is a directory"):
        read_environment(tmp_path)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path, environment):
    path = tmp_path / "x.env"
    path.write_bytes(b"\xef\xbb\xbfA=1\n")
    read_environment(path)
    assert environment["A"] == "1"
