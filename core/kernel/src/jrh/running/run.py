"""One run, from a resolved suite to its result."""

from __future__ import annotations

from pathlib import Path

from jrh.errors import DamagedStoreError, StoreError
from jrh.plugins.loading import Loaded
from jrh.running.conclude import broken_off, conclude
from jrh.running.execute import execute
from jrh.running.outcome import RunResult, Settings
from jrh.running.prepare import prepared
from jrh.running.progress import Progress
from jrh.suite.resolved import ResolvedSuite


async def run_suite(
    resolved: ResolvedSuite, loaded: Loaded, settings: Settings, progress: Progress, run_dir: Path
) -> RunResult:
    """Run a suite to its end, or to where it has to stop, in three steps: prepare, execute, conclude.

    Raises:
        JrhError: the data, a component or the run directory cannot be used; nothing was spent.
    """
    async with prepared(resolved, loaded, settings, progress, run_dir) as ready:
        try:
            return await conclude(ready, await execute(ready))
        except DamagedStoreError:
            raise
        except StoreError as error:  # the disk is full, or the run directory is gone
            return broken_off(ready, error)
