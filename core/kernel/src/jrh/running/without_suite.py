"""Components built without a suite: those that are installed, and those that a store remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jrh.document.convert import structure
from jrh.models.client import StandIn
from jrh.plugins.loading import Loaded
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.specs import ReporterSpec
from jrh.running.building import Builder
from jrh.running.run_log import Quiet
from jrh.running.stages.summary import Summary
from jrh.suite.definition import Suite, Use
from jrh.suite.resolved import Resolved, ResolvedSuite


def builder_without_suite(plugins: Plugins) -> Builder:
    """Return what builds components of no suite: there is no task, no model and nothing of a run."""
    # A model in it sends nothing: a metric or reporter that asks one gets an error.
    return Builder(ResolvedSuite(suite=Suite(name="metrics", tasks=(), judges=())), plugins, Quiet, StandIn)


def builder_of_summary(summary: Summary, loaded: Loaded, reporters: tuple[Resolved[ReporterSpec], ...] = ()) -> Builder:
    """Return what builds the metrics that are installed, and reporters, of a run that is in a store."""
    suite = Suite(
        name=summary.suite,
        tasks=(),
        judges=(),
        seed=summary.seed,
        level=summary.level,
        resamples=summary.resamples,
        findings=summary.findings,
    )
    installed = {entry.qualified: entry for entry in loaded.plugins.metrics}
    resolved = ResolvedSuite(
        suite=suite,
        metrics=tuple(
            resolve_entry(installed[metric.component], metric.name, metric.options)
            for metric in summary.metrics
            # One that is gone cannot be built; what it measured is taken from the store.
            if metric.component in installed
        ),
        reporters=reporters,
    )
    return Builder(resolved, loaded.plugins, Quiet, StandIn)


def resolve_entry(entry: Entry[Any], name: str, options: Mapping[str, Any]) -> Resolved[Any]:
    """Return a component with its options as plain values, without a suite that names it.

    Raises:
        SuiteError: an option is wrong.
    """
    use = Use(name=name, component=entry.qualified)
    return Resolved(use=use, entry=entry, options=structure(dict(options), entry.spec.options))
