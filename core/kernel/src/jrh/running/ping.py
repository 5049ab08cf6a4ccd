"""Ask every model of a suite one tiny question, through the gateway of a run, to see what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import Factory, frozen

from jrh.errors import JrhError, ModelFault, StopRun
from jrh.models.client import Client, with_defaults
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import Rates
from jrh.running.building import Builder
from jrh.running.event_loop import run_to_end
from jrh.running.preflight import PROBE, hint_for, is_probed, status_of
from jrh.running.rehearsal import priced
from jrh.running.run_log import Quiet
from jrh.store.run_store import Store
from jrh.suite.resolved import ResolvedSuite
from jrh.text.redact import Redactor, named_secrets
from jrh.values.verdicts import Reply

_NAME: Final = "ping"


@frozen(kw_only=True)
class Pinged:
    """What one model answered."""

    name: str
    fingerprint: str = ""
    """Provider, model and endpoint; empty if the model could not be built."""
    reply: Reply | None = None
    """None: there was no answer; `problem` says why."""
    problem: str = ""
    rates: Rates | None = None
    """US dollars per token; None: unknown."""
    stated_limits: Mapping[str, str] = Factory(dict)
    """Rate limits that the answer's headers state."""
    simulated: bool = False
    """Nothing was sent: the model makes up its answers."""

    @property
    def asked(self) -> bool:
        """Return whether the model was asked; one that answers hours later is not."""
        return self.reply is not None or bool(self.problem)


def ping(resolved: ResolvedSuite, loaded: Loaded, names: Sequence[str] = ()) -> Sequence[Pinged]:
    """Ask the models of a suite once each, all at the same time; return what came back, in the suite's order.

    The calls are held to the suite's budget and are kept in no run directory and in no cache.

    Args:
        resolved: the suite.
        loaded: what is installed.
        names: only these models; all where empty.

    Raises:
        JrhError: the suite has no models, or none of such a name.
    """
    absent = [name for name in names if name not in resolved.models]
    if absent or not resolved.models:
        known = f"models: {', '.join(resolved.models)}" if resolved.models else "the suite has no models"
        raise JrhError(f"there is no model '{absent[0]}'; {known}" if absent else f"{known}: there is nothing to ask")
    with TemporaryDirectory(prefix="jrh-ping-") as directory:
        return run_to_end(lambda: _ask_all(resolved, loaded, names or tuple(resolved.models), Path(directory)))


async def _ask_all(resolved: ResolvedSuite, loaded: Loaded, names: Sequence[str], directory: Path) -> Sequence[Pinged]:
    redact = Redactor.from_environment(also=named_secrets(model.options for model in resolved.models.values()))
    async with AsyncExitStack() as opened:
        store = Store.open(directory, _NAME)
        opened.callback(store.close)
        gateway = Gateway(store, None, Ledger(budget=resolved.suite.budget), redact, Quiet())
        opened.push_async_callback(gateway.aclose)
        builder = Builder(resolved, loaded.plugins, Quiet, priced(resolved.suite.budget, gateway.client))
        chosen = [name for name in resolved.models if name in names]
        return await asyncio.gather(*(_ask(builder, gateway, name) for name in chosen))


async def _ask(builder: Builder, gateway: Gateway, name: str) -> Pinged:
    if not is_probed(builder.resolved, name):
        return Pinged(name=name, simulated=builder.resolved.models[name].entry.spec.simulated)
    try:
        client = builder.model(name)
        assert isinstance(client, Client)
    except JrhError as error:  # such as a key that is not set; the other models are asked all the same
        return Pinged(name=name, problem=str(error))
    try:
        found = await gateway.probe(client, with_defaults(PROBE, client.use.sampling), 1, ())
        problem = "" if isinstance(found, Reply) else _problem(builder, name, found)
    except StopRun as stop:
        found, problem = None, stop.message
    return Pinged(
        name=name,
        fingerprint=client.model.fingerprint,
        reply=found if isinstance(found, Reply) else None,
        problem=problem,
        rates=client.rates,
        stated_limits=client.stated_limits,
    )


def _problem(builder: Builder, name: str, fault: ModelFault) -> str:
    pause = "" if fault.retry_after is None else f"; the provider asks to wait {fault.retry_after:g} s"
    hint = ""
    with suppress(JrhError):
        hint = hint_for(builder, name, fault)
    return f"{fault.kind.value}: {status_of(fault)}{fault.detail}{pause}{f'; {hint}' if hint else ''}"
