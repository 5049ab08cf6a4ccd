"""Declares the executor."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import ExecutorSpec

JRH_API_VERSION = 2


@hookimpl
def jrh_executors() -> Iterable[ExecutorSpec]:
    """Declare the executor."""
    yield ExecutorSpec(
        name="ray",
        summary="tests and judges that call no model on a Ray cluster, or on all cores of this machine",
        factory="jrh_ray.executor:RayExecutor",
    )
