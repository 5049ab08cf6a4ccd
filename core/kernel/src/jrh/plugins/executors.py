"""What executors implement: they decide on which machine the units of a run are worked on."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen


class LostUnitError(Exception):
    """Report that the worker of a unit is gone; the run works on the unit again."""


@frozen(kw_only=True)
class Job:
    """What all units of a run share; sent to each worker once."""

    setup: bytes
    """The suite, and the code of local plugins by content; no key and no password."""
    runner: str = "jrh.running.worker:perform"
    """What a worker calls, `package.module:name`, with `setup` and the work of a unit; returns bytes, never raises."""
    secrets: frozenset[str] = frozenset()
    """Environment variables that no worker needs: hide them from workers that would inherit them."""


@frozen(kw_only=True)
class Unit:
    """A piece of work that depends only on its content: any worker can do it, and repeat it."""

    name: str
    """For people, such as `format, items 1 to 500`."""
    work: bytes
    cpus: float = 1.0
    gpus: float = 0.0


class Executor(Protocol):
    """Do the work of units, on this machine or on others. It keeps nothing that a run needs."""

    @property
    def places(self) -> int:
        """Return how many units to have under way."""

    async def open(self, job: Job) -> None:
        """Start, or connect to what works on units.

        Raises:
            JrhError: there is nothing that could.
        """

    async def run(self, unit: Unit) -> bytes:
        """Return what the runner returns for a unit. Never work on a unit twice: the run decides about that.

        Raises:
            LostUnitError: the worker is gone.
            JrhError: the unit cannot be worked on at all.
        """

    async def aclose(self) -> None:
        """Give back what was started."""
