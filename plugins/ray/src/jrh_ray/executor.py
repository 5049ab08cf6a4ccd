"""Send units to a Ray cluster. Ray retries nothing: the run itself works again on a unit whose worker is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from jrh import JrhError
from jrh.plugins import Job, Logger, LostUnitError, Unit

FEWEST_PLACES: Final = 4
AHEAD: Final = 2
"""Units under way for each processor, so that none waits for the driver."""
_ADDRESS: Final = "RAY_ADDRESS"
_SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
    "RAY_worker_niceness": "0",
}
"""Read when Ray is imported: no statistics about use, no GPU for tasks that ask for none, no lower priority than other
processes of the machine have."""


class RayExecutor:
    """Works on units as Ray tasks, without state and without retries."""

    def __init__(self, _options: object, log: Logger) -> None:
        """Keep the log."""
        self._log = log
        self._started = False
        self._ray: Any = None
        self._common: tuple[Any, str, list[str]] | None = None
        self._task: Any = None

    @property
    def places(self) -> int:
        """Return how many units to have under way: two for each processor of the cluster as it is now."""
        return max(FEWEST_PLACES, AHEAD * int(self._ray.cluster_resources().get("CPU", 0.0)))

    async def open(self, job: Job) -> None:
        """Use the cluster that this process is connected to, or that RAY_ADDRESS names, or start one here.

        Raises:
            JrhError: Ray is not installed, or the cluster cannot be reached.
        """
        self._ray = ray = _import_ray()
        if not ray.is_initialized():
            self._start(job)
        # Put once: the cluster keeps it, and each task gets a reference.
        self._common = ray.put(job.setup), job.runner, sorted(job.secrets)
        self._task = ray.remote(_work)
        resources = ray.cluster_resources()
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        self._log.info("ray", nodes=nodes, cpus=resources.get("CPU", 0), gpus=resources.get("GPU", 0))

    def _start(self, job: Job) -> None:
        address = os.environ.get(_ADDRESS)
        # Workers of a local cluster inherit the environment of this process.
        with _hide_variables(job.secrets):
            try:
                where = {} if address else {"address": "local", "include_dashboard": False}
                self._ray.init(log_to_driver=False, logging_level="ERROR", **where)
            except Exception as error:  # Ray raises bare ones
                place = f"the Ray cluster at {address} ({_ADDRESS})" if address else "Ray on this machine"
                raise JrhError(f"cannot use {place}: {_first_line(error)}") from None
        self._started = True

    async def run(self, unit: Unit) -> bytes:
        """Return what a worker made of a unit.

        Raises:
            LostUnitError: its worker or its node is gone.
            JrhError: no node has what it needs, or Ray cannot run it.
        """
        from ray import exceptions

        assert self._common is not None
        self._check_needs(unit)
        # jrh itself works again on lost units: retries of Ray would not be counted.
        task = self._task.options(
            num_cpus=unit.cpus, num_gpus=unit.gpus, max_retries=0, name=unit.name, scheduling_strategy="SPREAD"
        ).remote(*self._common, unit.work)
        try:
            result: bytes = await task
        except asyncio.CancelledError:
            # Without force a task that computes would go on until it ends.
            self._ray.cancel(task, force=True)
            raise
        except (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
            exceptions.LocalRayletDiedError,
            exceptions.OutOfMemoryError,
        ) as error:
            raise LostUnitError(f"{type(error).__name__}: {_first_line(error)}") from None
        except exceptions.RayError as error:
            raise JrhError(f"Ray cannot work on {unit.name}: {_first_line(error)}") from None
        return result

    async def aclose(self) -> None:
        """End what was started here; a cluster that runs elsewhere goes on."""
        self._common = None
        # A cluster that was there before serves others.
        if self._started:
            self._started = False
            self._ray.shutdown()

    def _check_needs(self, unit: Unit) -> None:
        """Refuse what no node has: Ray would wait for such a node for ever."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        for what, needed in (("CPU", unit.cpus), ("GPU", unit.gpus)):
            most = max((node.get(what, 0.0) for node in nodes), default=0.0)
            if needed > most:
                raise JrhError(
                    f"{unit.name}: needs {needed:g} {what}, and no node of the cluster has more than {most:g}"
                )


def _work(setup: bytes, runner: str, secrets: list[str], work: bytes) -> bytes:
    """Work on a unit, in a worker."""
    from importlib import import_module

    for name in secrets:
        # A cluster that runs already may have been started with them.
        os.environ.pop(name, None)
    module, _, function = runner.partition(":")
    result: bytes = getattr(import_module(module), function)(setup, work)
    return result


def _import_ray() -> Any:
    for name, value in _SETTINGS.items():
        # A user's own setting wins.
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise JrhError("the executor 'ray' needs Ray, which is not installed: pip install \"jrh[ray]\"") from error
    return ray


@contextmanager
def _hide_variables(names: frozenset[str]) -> Iterator[None]:
    """Take variables out of the environment, which processes that are started here inherit."""
    values = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(values)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
