"""Divide a suite into shards: what each may spend, and what cannot be divided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from jrh.errors import Problem, SuiteError
from jrh.plugins.specs import JudgeKind, Scope
from jrh.suite.definition import ModelUse
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.suite.shard import Shard


def sharded(resolved: ResolvedSuite, shard: Shard | None) -> ResolvedSuite:
    """Return the suite as one shard runs it, with its share of the budget, of the rates and of the concurrency.

    Raises:
        SuiteError: a component has to see all items, so that shards would not add up to the run.
    """
    if shard is None:
        return resolved
    problems = [Problem(message=f"--shard: {what}; run it without --shard") for what in _whole(resolved)]
    if problems:
        raise SuiteError(problems)
    budget = resolved.suite.budget
    usd = None if budget.usd is None else budget.usd / shard.count
    calls = None if budget.calls is None else shard.share(budget.calls)
    return evolve(
        resolved,
        shard=shard,
        suite=evolve(resolved.suite, budget=evolve(budget, usd=usd, calls=calls)),
        models={name: _slower(model, shard) for name, model in resolved.models.items()},
    )


def _whole(resolved: ResolvedSuite) -> Iterator[str]:
    """Yield what needs all items at once."""
    for test in resolved.tests:
        for part in test.components:
            if part.entry.spec.scope is Scope.SET or getattr(part.entry.spec, "whole_data", False):
                yield f"'{part.entry.spec.name}' of test '{test.use.name}' sees all items at once"
        if test.use.sample is not None:
            yield f"the sample of test '{test.use.name}' is drawn from all items"
    for judge in resolved.judges:
        if judge.entry.spec.kind is JudgeKind.TRAINED:
            yield f"judge '{judge.use.name}' is trained on all items"


def _slower(model: Resolved[Any], shard: Shard) -> Resolved[Any]:
    """Return a model with the shard's share of its limits."""
    assert isinstance(model.use, ModelUse)
    limits = model.use.limits
    requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
    shared = evolve(
        limits,
        concurrency=max(1, shard.share(limits.concurrency)),
        requests_per_minute=None if requests is None else requests / shard.count,
        tokens_per_minute=None if tokens is None else tokens / shard.count,
    )
    return evolve(model, use=evolve(model.use, limits=shared))
