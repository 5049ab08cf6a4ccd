"""Components built without a suite: those that are installed, and those that a store remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jrh.document.convert import structure
from jrh.errors import JrhError
from jrh.models.client import StandIn
from jrh.plugins.factories import LOCAL
from jrh.plugins.loading import Loaded
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.specs import MetricSpec, ReporterSpec
from jrh.running.building import Builder
from jrh.running.run_log import Quiet
from jrh.running.stages.summary import Summary
from jrh.suite.definition import Suite, Use
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.values.report import ComponentUsed


def builder_without_suite(plugins: Plugins) -> Builder:
    """Return what builds components of no suite: there is no task, no model and nothing of a run."""
    suite = ResolvedSuite(
        suite=Suite(name="metrics", tasks=(), judges=()),
        sources=(),
        models={},
        tests=(),
        judges=(),
        metrics=(),
        reporters=(),
    )
    return Builder(suite, plugins, Quiet, StandIn)


def builder_of_summary(summary: Summary, loaded: Loaded, reporters: tuple[Resolved[ReporterSpec], ...] = ()) -> Builder:
    """Return what builds metrics and reporters out of what the store remembers of a run.

    Raises:
        JrhError: a metric is missing.
    """
    suite = Suite(
        name=summary.suite,
        tasks=(),
        judges=(),
        seed=summary.seed,
        level=summary.level,
        resamples=summary.resamples,
        findings=summary.findings,
    )
    metrics = [each for each in summary.components if each.role == "metric"]
    resolved = ResolvedSuite(
        suite=suite,
        sources=(),
        models={},
        tests=(),
        judges=(),
        metrics=tuple(_again(_installed(loaded, each), each.name, each.options) for each in metrics),
        reporters=reporters,
    )
    return Builder(resolved, loaded.plugins, Quiet, StandIn)


def _installed(loaded: Loaded, used: ComponentUsed) -> Entry[MetricSpec]:
    """Find a metric the run was made with; say how to load it where it came from a local plugin."""
    try:
        return loaded.plugins.metrics.find(used.component)
    except JrhError as error:
        if used.version != LOCAL:
            raise
        raise JrhError(
            f"the run used the metric '{used.name}' of a local plugin; pass the same --plugins as the run did\n{error}"
        ) from error


def _again(entry: Entry[Any], name: str, options: Mapping[str, Any]) -> Resolved[Any]:
    use = Use(name=name, component=entry.qualified)
    return Resolved(use=use, entry=entry, options=structure(dict(options), entry.spec.options))
