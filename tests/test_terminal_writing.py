"""One module writes to the terminal, and it cleans: no other line of the source prints."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jrh_testing import Project, loop_over
from support.suites import simulated_suite, write_items, write_suite

ROOT = Path(__file__).parents[1]
SOURCES = [
    path
    for folder in ("core/kernel/src", "core/stats/src", "plugins", "plugins-contrib")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "tests" not in path.relative_to(ROOT).parts
]
ALLOWED = {
    "core/kernel/src/jrh/text/terminal.py": "the one that cleans",
    "core/kernel/src/jrh/running/progress.py": "draws bars; every text in them is cleaned",
}
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}


PRINTING = {"print", "click.echo", "click.secho", "echo", "secho", "rich.print", "pprint", "pprint.pprint", "os.write"}
LAST_WORDS = {"print_exc", "print_exception", "print_stack", "echo_via_pager", "StreamHandler", "basicConfig"}
PARTS = re.compile(r"print|echo|Console|StreamHandler|basicConfig|stdout|stderr|os\.write")
"""What the text of a module holds that writes in one of these ways; most have none, and need not be parsed."""


def ways_of_printing(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = ast.unparse(node.func)
            if named in PRINTING or named.rpartition(".")[2] in LAST_WORDS:
                yield named
            elif named.rpartition(".")[2] == "Console" and not _into_a_text(node):
                yield f"{named}() on a stream"
        elif isinstance(node, ast.Attribute) and node.attr in ("write", "writelines", "buffer"):
            stream = ast.unparse(node.value).rpartition(".")[2]
            yield from [ast.unparse(node)] * (stream in STREAMS)


def _into_a_text(call: ast.Call) -> bool:
    given = {each.arg: ast.unparse(each.value) for each in call.keywords}
    return "file" in given and given["file"].rpartition(".")[2] not in STREAMS


@loop_over("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_else_writes_to_the_terminal(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = sorted(set(ways_of_printing(ast.parse(text)))) if PARTS.search(text) else []
    if str(path.relative_to(ROOT)) not in ALLOWED:
        assert not found, f"use `say`, `tell` or `show` of jrh.text instead of {', '.join(found)}"


@loop_over(
    "line",
    [
        "print('x')",
        "click.echo(x)",
        "sys.stdout.write(x)",
        "sys.stderr.buffer.write(x)",
        "Console().print(x)",
        "Console(file=sys.stdout)",
        "traceback.print_exc()",
        "os.write(1, b'x')",
    ],
)
def test_the_walk_finds_every_way_of_printing(line: str) -> None:
    assert list(ways_of_printing(ast.parse(line)))
    assert PARTS.search(line)


HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202e"


def clean(text: str) -> bool:
    return not any(sign in text for sign in ("\x1b", "\x07", "\u202e", "\x9b"))


@pytest.mark.slow
def test_names_labels_and_arguments_reach_no_channel_of_the_terminal(project: Project) -> None:
    write_items(project, 2)
    for place, suite in enumerate(
        (
            simulated_suite(name=f"trial{HOSTILE}"),
            simulated_suite(judges=[{"name": f"sim{HOSTILE}", "judge": "simulated"}]),
            {**simulated_suite(), f"key{HOSTILE}": 1},
            simulated_suite(task={"instruction": "i", "scale": {"labels": [f"YES{HOSTILE}", "NO"]}}),
            simulated_suite(judges=[f"none{HOSTILE}"]),
        )
    ):
        write_suite(project, suite, f"s{place}.yaml")
        for command in (("plan", f"s{place}.yaml"), ("run", f"s{place}.yaml", "--run-dir", f"run{place}")):
            outcome = project.run(*command)
            assert clean(outcome.output), (command, suite)
    assert clean(project.run("plugins", "show", f"x{HOSTILE}").output)
    assert clean(project.run("run", f"none{HOSTILE}.yaml").output)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_that_is_full_is_one_line(project: Project) -> None:
    command = [sys.executable, "-m", "jrh", "plugins", "list"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "jrh: cannot write to standard output: No space left on device\n"
