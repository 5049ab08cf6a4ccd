"""`jrh ping`: ask every model of a suite one tiny question, through the gateway of a run, to see what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from attrs import frozen
from jrh import JrhError, Reply
from jrh.cli.shared_options import plugins_option, read_environment
from jrh.errors import ModelFault, StopRun
from jrh.models.client import Client, refuse_unknown_prices, with_defaults
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.plugins import Rates
from jrh.plugins.loading import Loaded, load_plugins
from jrh.running import PROBE, Builder, is_probed, run_to_end
from jrh.running.from_python import resolve
from jrh.running.outcome import Settings
from jrh.running.preflight import hint_for, status_of
from jrh.running.run_log import Quiet
from jrh.store.run_store import Store
from jrh.suite import ResolvedSuite
from jrh.text import Redactor, clean_text, count_noun, format_dollars, terminal
from jrh.text.redact import secrets_of_options

_NAME: Final = "ping"
_LONGEST: Final = 120
"""Characters shown of a reply."""


@click.command("ping")
@click.argument("suite", type=click.Path(path_type=Path))
@plugins_option
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model. Repeatable.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a suite value. Repeatable.")
@click.option("--env-file", type=click.Path(path_type=Path), help="File of KEY=VALUE lines with keys.")
def command(
    suite: Path, plugins: Sequence[str], models: tuple[str, ...], overrides: tuple[str, ...], env_file: Path | None
) -> int:
    """Ask every model of SUITE one tiny question; print what came back, latency, price and stated limits.

    Reads no data and keeps nothing. Exit codes: 0 every model answered, 2 a model cannot be used.
    """
    if env_file is not None:
        read_environment(env_file)
    settings = Settings(plugins=plugins, overrides=overrides)
    loaded = load_plugins(settings.plugins)
    answers = ping(resolve(suite, loaded, settings), loaded, models)
    for answer in answers:
        for line in _lines(answer):
            terminal.say(line)
    failed = sum(bool(answer.problem) for answer in answers)
    asked_models = [answer for answer in answers if answer.was_asked]
    terminal.say(f"{len(asked_models) - failed} of {count_noun(len(asked_models), 'model')} answered.")
    return 2 if failed else 0


@frozen(kw_only=True)
class PingAnswer:
    """What one model answered."""

    name: str
    client: Client | None = None
    """None if the model could not be built, or was not asked."""
    reply: Reply | None = None
    """None: there was no answer; `problem` says why."""
    problem: str = ""
    simulated: bool = False
    """Nothing was sent: the model makes up its answers."""

    @property
    def was_asked(self) -> bool:
        """Return whether the model was asked; one that answers hours later is not."""
        return self.reply is not None or bool(self.problem)


def ping(resolved: ResolvedSuite, loaded: Loaded, names: Sequence[str] = ()) -> Sequence[PingAnswer]:
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
    # The gateway writes to a store; a ping must leave nothing behind.
    with TemporaryDirectory(prefix="jrh-ping-") as directory:
        return run_to_end(lambda: _ask_all(resolved, loaded, names or tuple(resolved.models), Path(directory)))


async def _ask_all(
    resolved: ResolvedSuite, loaded: Loaded, names: Sequence[str], directory: Path
) -> Sequence[PingAnswer]:
    redact = Redactor.from_environment(also=secrets_of_options(model.options for model in resolved.models.values()))
    async with AsyncExitStack() as opened:
        store = Store.open(directory, _NAME)
        opened.callback(store.close)
        # No cache: a stored reply would say nothing about whether the model answers today.
        gateway = Gateway(store, None, Ledger(budget=resolved.suite.budget), redact, Quiet())
        opened.push_async_callback(gateway.aclose)
        builder = Builder(resolved, loaded.plugins, Quiet, refuse_unknown_prices(resolved.suite.budget, gateway.client))
        chosen = [name for name in resolved.models if name in names]
        return await asyncio.gather(*(_ask(builder, gateway, name) for name in chosen))


async def _ask(builder: Builder, gateway: Gateway, name: str) -> PingAnswer:
    if not is_probed(builder.resolved, name):
        return PingAnswer(name=name, simulated=builder.resolved.models[name].entry.spec.simulated)
    try:
        client = builder.model(name)
        assert isinstance(client, Client)
    except JrhError as error:  # such as a key that is not set; the other models are asked all the same
        return PingAnswer(name=name, problem=str(error))
    try:
        answer = await gateway.probe(client, with_defaults(PROBE, client.use.sampling), 1, ())
        problem = "" if isinstance(answer, Reply) else _problem(builder, name, answer)
    # A refused key ends a run; here it is the answer of this model, and the others are still shown.
    except StopRun as stop:
        answer, problem = None, stop.message
    reply = answer if isinstance(answer, Reply) else None
    return PingAnswer(name=name, client=client, reply=reply, problem=problem)


def _problem(builder: Builder, name: str, fault: ModelFault) -> str:
    pause = "" if fault.retry_after is None else f"; the provider asks to wait {fault.retry_after:g} s"
    hint = ""
    # A hint that cannot be made must not hide the fault.
    with suppress(JrhError):
        hint = hint_for(builder, name, fault)
    return f"{fault.kind.value}: {status_of(fault)}{fault.detail}{pause}{f'; {hint}' if hint else ''}"


def _lines(answer: PingAnswer) -> list[str]:
    head = f"{answer.name}{f' ({answer.client.model.fingerprint})' if answer.client else ''}"
    if answer.simulated:
        return [f"{head}: simulated; nothing is sent"]
    if not answer.was_asked:
        return [f"{head}: answers in batches, hours later; nothing is sent"]
    if answer.reply is None or answer.client is None:
        return [f"{head}: FAILED", f"  {answer.problem}"]
    reply = answer.reply
    status = "" if reply.ok else f"{reply.status.value}, "
    shown = clean_text(reply.text, _LONGEST) if reply.text.strip() else reply.detail or "no text"
    used = reply.usage
    tokens = "unknown" if used.prompt_tokens is None else f"{used.prompt_tokens} + {used.completion_tokens}"
    limits = ", ".join(f"{name} {value}" for name, value in answer.client.stated_limits.items())
    lines = [
        f"{head}: {reply.latency or 0.0:.2f} s",
        f"  reply: {status}{shown}",
        f"  tokens: {tokens}; cost of this call: {'unknown' if reply.cost is None else format_dollars(reply.cost)}",
        f"  price: {_price(answer.client.rates)}",
        f"  limits stated: {limits or 'none'}",
    ]
    if reply.not_settable:
        lines.append(f"  refused settings: {', '.join(reply.not_settable)}")
    return lines


def _price(rates: Rates | None) -> str:
    if rates is None:
        return "unknown; give the model `price: {input: ..., output: ...}` before setting a budget in dollars"
    call = f"; ${rates.call:g} per call" if rates.call else ""
    return f"${1e6 * rates.input:g} in, ${1e6 * rates.output:g} out per million tokens{call}"
