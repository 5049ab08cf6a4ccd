"""Progress in logs: a stage is never silent for long, and a short one says nothing."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from importlib import metadata
from types import SimpleNamespace

import pytest
from jrh.running import progress as progress_display
from jrh.running.progress import PlainProgress, show_progress


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_display, "EVERY_SECONDS", 0.08)


def _lines(capsys: pytest.CaptureFixture[str], least: int) -> list[str]:
    """Wait for some lines: how soon they come depends on the machine."""
    seen, until = "", time.monotonic() + 20
    while seen.count("\n") < least and time.monotonic() < until:
        time.sleep(0.02)
        seen += capsys.readouterr().err
    return seen.splitlines()


def test_a_stage_without_a_step_still_tells_that_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainProgress()
    progress.begin("judge", 4)
    first, *more = _lines(capsys, 3)
    assert first == "judge: 4 to do"
    assert {line.partition(" (")[0] for line in more} == {"judge: 0/4"}
    progress.close()


def test_a_stage_of_unknown_length_tells_how_long_it_takes_and_nothing_if_it_is_short(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with show_progress(plain=True) as progress:
        progress.begin("load", None)
        progress.end()
        time.sleep(0.3)  # nothing is going on
        assert capsys.readouterr().err == ""
        progress.begin("measure", None)
        assert {line.split()[0] for line in _lines(capsys, 2)} == {"measure:"}
    capsys.readouterr()
    time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_a_notebook_uses_a_plugins_display_and_leaves_a_broken_one_out(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    broken = metadata.EntryPoint("notebook", "no_such_module:display", "jrh.displays")
    shown = metadata.EntryPoint("notebook", "contextlib:nullcontext", "jrh.displays")
    for points, expected in (((broken, shown), nullcontext), ((broken,), None)):
        monkeypatch.setattr(metadata, "entry_points", lambda points=points, **_: points)
        display: object = progress_display._notebook_display()
        assert display is expected
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert progress_display._notebook_display() is None
