"""A run, from a resolved suite to its result: prepare, execute, conclude."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pluggy
import pytest
from jrh import open_report
from jrh.errors import DamagedStoreError, JrhError, StoreError
from jrh.plugins import hookspecs
from jrh.plugins.loading import Loaded
from jrh.plugins.specs import JudgeSpec, PerturberSpec, ReporterSpec, ReportTarget
from jrh.running.outcome import RunRequest, RunResult, Settings
from jrh.running.progress import Progress
from jrh.running.run import run_suite
from jrh.running.stages import summary as reporting
from jrh.store.run_store import Store
from jrh.values.cases import Draft, Prompt
from jrh.values.items import Item

NOTE = "4 cases change only the prompt; judge 'fixed' does not read prompts"


class Terse:
    """A perturber that changes the prompt and nothing else."""

    async def perturb(self, _: Item) -> list[Draft]:
        return [Draft(prompt=Prompt(name="terse", user="{{ response }}?"))]


class Plain:
    """A reporter that writes the notes."""

    def render(self, report: Any) -> str:
        return "\n".join(report.notes)


TERSE = PerturberSpec(name="terse", summary="", factory=lambda options, context: Terse())
PLAIN = ReporterSpec(
    name="plain", summary="", factory=lambda options, context: Plain(), target=ReportTarget.TERMINAL, default=True
)


def broken(_options: object, _context: object) -> Any:
    raise JrhError("no key")


async def go(lab: Any, path: Path, *specs: Any, **changes: Any) -> RunResult:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    loaded = Loaded(plugins=lab.plugins(*specs), manager=manager)
    resolved, settings = lab.resolve(*specs, **changes), Settings(use_cache=False)
    request = RunRequest(resolved=resolved, loaded=loaded, settings=settings, run_dir=path)
    return await run_suite(request, Progress())


async def test_what_the_plan_leaves_out_is_said_now_and_when_the_run_is_read_again(lab: Any, tmp_path: Path) -> None:
    done = await go(lab, tmp_path / "run", TERSE, PLAIN, tests=["terse"])
    assert (done.exit_code, len(done.records)) == (0, 8)
    assert done.terminal.startswith(NOTE)
    with open_report(tmp_path / "run") as report:
        assert report.notes == (done.terminal,)
    again = await go(lab, tmp_path / "run", PLAIN)
    assert (again.exit_code, again.terminal) == (0, "")


async def test_the_summary_is_written_once_and_not_again_for_the_same_suite(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []
    written = Store.set_meta

    def set_meta(store: Store, key: str, value: str) -> None:
        if store.meta(key) != value:  # else it is not written
            keys.append(key)
        written(store, key, value)

    monkeypatch.setattr(Store, "set_meta", set_meta)
    for _ in range(2):
        await go(lab, tmp_path / "run", TERSE, tests=["terse"])
        assert keys.count(reporting.SUMMARY) == keys.count(reporting.PLAN_NOTES) == 1


@pytest.mark.parametrize("what", ["data", "judge"])
async def test_nothing_is_written_where_the_data_or_a_component_cannot_be_used(
    lab: Any, tmp_path: Path, what: str
) -> None:
    judge = JudgeSpec(name="locked", summary="", factory=broken)
    if what == "data":
        lab.items = lab.relabelled(i0="MAYBE")
    with pytest.raises(JrhError, match="not on the scale" if what == "data" else "no key"):
        await go(lab, tmp_path / "run", judge, judges=["fixed" if what == "data" else "locked"])
    assert not (tmp_path / "run").exists()


async def test_a_full_disk_ends_a_run_as_incomplete_and_lets_go_of_its_directory(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch, StoreError("disk full"))
    done = await go(lab, tmp_path / "run")
    assert (done.exit_code, done.message, done.report, done.may_continue) == (3, "disk full", None, True)
    monkeypatch.undo()
    assert (await go(lab, tmp_path / "run")).exit_code == 0


@pytest.mark.parametrize("error", [DamagedStoreError("page 7 is broken"), RuntimeError("a defect")], ids=repr)
async def test_a_run_that_breaks_lets_go_of_its_directory(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    breaks(monkeypatch, error)
    with pytest.raises(type(error), match=str(error)):
        await go(lab, tmp_path / "run")
    monkeypatch.undo()
    assert (await go(lab, tmp_path / "run")).exit_code == 0


def breaks(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let a run end in this error once it has begun to write."""

    def remember(*_: object) -> None:
        raise error

    monkeypatch.setattr("jrh.running.execute.remember", remember)
