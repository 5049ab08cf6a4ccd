"""Ask every model that will be called once, before the first stage: a dead endpoint costs one line and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final

from jrh.errors import FaultKind, JrhError, ModelFault
from jrh.models.client import Client, with_defaults
from jrh.models.ledger import PREFLIGHT, Payer, book_to
from jrh.plugins.protocols import ChatRequest
from jrh.plugins.secrets import note_secrets
from jrh.running.building import Builder
from jrh.running.cost_question import find_estimator
from jrh.running.declared_stages import questions_of
from jrh.running.dry_run import DryRun
from jrh.running.prepare import Prepared
from jrh.running.rehearsal import work_left
from jrh.suite.resolved import Resolved, ResolvedSuite, tests_of
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Reply

PROBE: Final = ChatRequest(
    messages=(Message(role="user", content="Reply with OK."),),
    sampling=Sampling(max_tokens=16),  # some endpoints refuse fewer
)
"""What a model is asked to see whether it answers."""
_ATTEMPTS: Final = 3
_NO_USE: Final = frozenset({402, 404, 429})
"""Statuses of a rejection that no further request would escape: no credit, no such model."""
# No timeouts: by default, three of them would take six minutes before the run begins.
_AGAIN: Final = frozenset({FaultKind.CONNECTION, FaultKind.SERVER_ERROR})


async def preflight(ready: Prepared) -> None:
    """Ask every model that will be called; do nothing where nothing is left to ask, or the run has no preflight.

    Raises:
        JrhError: a model cannot be used (one line per model), or a budget in dollars cannot be held.
        StopRun: the budget does not allow it.
    """
    resolved, builder = ready.resolved, ready.builder
    # With a budget in dollars the estimator looks at the questions in any case: it refuses one that cannot be held.
    if not ready.settings.preflight and resolved.suite.budget.usd is None:
        return
    needed = _models_to_use(ready)
    estimator = find_estimator() if needed else None
    called: Collection[str] = needed
    if estimator is not None:
        dry = DryRun(request=ready, items=ready.items, store=ready.store, stored_reply=ready.gateway.find_reply)
        called = await estimator.models_to_call(dry)
    if not ready.settings.preflight:
        return
    probed = [name for name in resolved.models if name in needed and is_probed(resolved, name)]
    # A run that is continued does not pay for its preflight again.
    to_ask = [name for name in probed if name in called and not ready.gateway.reuse_probe(*_probe(builder, name))]
    # All models before the first error: one start of the run shows every key that is wrong.
    lines = [line for line in await asyncio.gather(*(_ask(ready, name) for name in to_ask)) if line]
    for name in probed:
        if name not in to_ask:  # it has been paid for: equal runs have equal reports
            with book_to(Payer(owner=PREFLIGHT, role=PREFLIGHT, name=name)):
                ready.gateway.book_known(*_probe(builder, name))
    if lines:
        raise JrhError("\n".join([*lines, "Nothing else was sent. Pass --no-preflight to run anyway."]))


def _models_to_use(ready: Prepared) -> frozenset[str]:
    """Return the models that the remaining work refers to; stored replies may answer for some of them."""
    resolved = ready.resolved
    todo = work_left(ready.builder, ready.store, ready.items)
    parts: list[Resolved[Any]] = [judge for judge in resolved.judges if judge.use.name in todo.judges]
    for task in (use.task for use in resolved.suite.tasks):
        for test in tests_of(resolved, task):
            # Cases that are stored need no model any more.
            parts += test.components if (task.name, test.use.name) in todo.tests else ()
    for part in resolved.stages.values():
        if part.all_models and (todo.judges or any(questions_of(ready.builder, ready.store, part))):
            parts.append(part)  # what is finished needs no key
    return frozenset(name for part in parts for name in part.all_models)


def _probe(builder: Builder, name: str) -> tuple[Client, ChatRequest]:
    client = builder.model(name)
    assert isinstance(client, Client)
    return client, with_defaults(PROBE, client.use.sampling)


async def _ask(ready: Prepared, name: str) -> str:
    """Ask one model; return what is wrong with it, empty if it can be used."""
    client, request = _probe(ready.builder, name)
    with book_to(Payer(owner=PREFLIGHT, role=PREFLIGHT, name=name)):
        fault = await ready.gateway.probe(client, request, _ATTEMPTS, _AGAIN)
    if isinstance(fault, Reply):
        return ""
    what = f"model '{name}' ({client.model.fingerprint}): {status_of(fault)}{fault.detail}"
    hint = hint_for(ready.builder, name, fault)
    if hint:
        return f"{what}; {hint}"
    ready.progress.say(f"Preflight: {what}; the run goes on.")
    return ""


def is_probed(resolved: ResolvedSuite, model: str) -> bool:
    """Tell whether a model is asked in the preflight: a simulated one sends nothing, a deferred one is too slow."""
    spec = resolved.models[model].entry.spec
    return not spec.simulated and not spec.deferred


def hint_for(builder: Builder, name: str, fault: ModelFault) -> str:
    """Say what to do about a fault; empty if a run may go on."""
    if fault.kind is FaultKind.NO_CREDIT:
        return "check the account"
    if fault.kind is FaultKind.UNAUTHORIZED:
        # Built again, because only building tells from which variables a model reads its key.
        with note_secrets() as variables:
            builder.build(builder.resolved.models[name])
        return f"check {' and '.join(variables)}" if variables else "check its key"
    if fault.kind in (FaultKind.CONNECTION, FaultKind.TIMEOUT):
        return "check the address, and that the endpoint is up"
    if fault.kind is FaultKind.REJECTED and fault.status in _NO_USE:
        return "check the model's name and the account"
    return ""


def status_of(fault: ModelFault) -> str:
    """Return the HTTP status of a fault with a space after it, unless its text says it."""
    return f"{fault.status} " if fault.status is not None and str(fault.status) not in fault.detail else ""
