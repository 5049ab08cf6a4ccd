"""Each command that prints an answer ends with the command to type next, which runs as it is printed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence

from jrh_testing import Inside, Outcome, Project
from support.suites import simulated_suite, write_items, write_suite

RUN = "my run"


def next_words(done: Outcome) -> list[str]:
    lines = done.stdout.splitlines()
    assert lines, done.output
    assert [line for line in lines if line.startswith("Next: ")] == lines[-1:], done.output
    words = shlex.split(lines[-1].removeprefix("Next: "))
    assert words[0] == "jrh"
    return words[1:]


def test_every_command_ends_with_one_that_runs_as_it_is_printed(project: Project) -> None:
    inside = Inside(project.path)
    write_items(project, 12)
    judges = [{"name": name, "judge": "simulated", "accuracy": share} for name, share in (("a", 1.0), ("b", 0.7))]
    write_suite(project, simulated_suite(judges=judges, tests=[{"format": {"variants": ["spaces"]}}]))
    (project.path / "suite.yaml").rename(project.path / "my suite.yaml")
    rows = "".join(f"{place},{'YES' if place % 2 else 'NO'},{'YES' if place % 3 else 'NO'}\n" for place in range(30))
    project.write("my verdicts.csv", f"id,human,judge\n{rows}")
    sure = "".join(
        f"{place},{'YES' if place % 2 else 'NO'},{'YES' if place % 2 else 'NO'},0.9\n" for place in range(30)
    )
    project.write("my sure.csv", f"id,human,judge,p\n{sure}")
    duels = "".join(f"x,y,{'AB'[place % 2]},{'AB'[place % 3 == 0]}\n" for place in range(30))
    project.write("my duels.csv", f"left,right,human,judge\n{duels}")
    answers = [
        {"id": str(place), "response": f"Answer {place}.", "label": "YNEO"[place % 2 :: 2]} for place in range(9)
    ]
    project.write(
        "my items.jsonl",
        "".join(json.dumps(row) + "\n" for row in answers),
    )
    started: set[str] = set()
    commands: Sequence[tuple[str, ...]] = (
        ("audit", "my items.jsonl", "--column", "response=response"),
        ("audit", "my suite.yaml"),
        ("init", "new suite.yaml"),
        ("plan", "my suite.yaml", "--limit", "5", "--run-dir", "other run", "--half-width", "0.1"),
        ("run", "my suite.yaml", "--run-dir", RUN, "--yes"),
        ("report", RUN),
        ("gate", RUN, "--rule", "as-expected >= 0.99"),
        ("compare", RUN),
        ("advise", RUN),
        ("swap", RUN, "--old", "a", "--new", "b"),
        ("watch", "my store.jsonl", RUN, "--judge", "a"),
        ("check", "my verdicts.csv", "--judge", "judge", "--human", "human", "--item", "id"),
        ("check", "my verdicts.csv", "--judge", "judge", "--human", "human", "--write-import", "my import.yaml"),
        ("automate", RUN, "--judge", "a", "--judge", "b", "--error", "0.4"),
        ("automate", "my sure.csv", "--judge", "judge", "--human", "human", "--item", "id", "--confidence", "p"),
        ("automate", "my sure.csv", "--judge", "judge", "--human", "human", "--confidence", "p", "--error", "0.3"),
        ("rank", "my duels.csv", "--system", "left", "--system", "right", "--judge", "judge", "--human", "human"),
        ("rank", "my duels.csv", "--system", "left", "--system", "right", "--judge", "judge"),
        ("import", "my import.yaml", "--run-dir", "imported"),
        ("salvage", RUN),
    )
    for command in commands:
        words = next_words(inside.run(*command))
        if words[0] != "view":
            after = inside.run(*words)
            assert after.exit_code == 0, (command, words, after.output)
        elif words[1] not in started:  # it serves until it is stopped
            started.add(words[1])
            command_line = [sys.executable, "-m", "jrh", *words]
            with subprocess.Popen(command_line, cwd=project.path, stdout=subprocess.PIPE, text=True) as program:
                assert program.stdout is not None
                address = program.stdout.readline()
                program.kill()
            assert address.startswith("http://127.0.0.1:"), words
    assert RUN in started
