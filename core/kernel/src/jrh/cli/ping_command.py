"""`jrh ping`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from jrh.cli.shared_options import allowed, plugins_option, read_environment
from jrh.text import clean_text, counted, format_dollars, telling

if TYPE_CHECKING:
    from jrh.running.ping import Pinged

_LONGEST: Final = 120
"""Characters shown of a reply."""


@click.command("ping")
@click.argument("suite", type=click.Path(path_type=Path))
@plugins_option
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model. Repeatable.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a suite value. Repeatable.")
@click.option("--env-file", type=click.Path(path_type=Path), help="File of KEY=VALUE lines with keys.")
def command(
    suite: Path, plugins: str, models: tuple[str, ...], overrides: tuple[str, ...], env_file: Path | None
) -> int:
    """Ask every model of SUITE one tiny question; print what came back, latency, price and stated limits.

    Reads no data and keeps nothing. Exit codes: 0 every model answered, 2 a model cannot be used.
    """
    from jrh.plugins.loading import load_plugins
    from jrh.running.from_python import resolve
    from jrh.running.outcome import Settings
    from jrh.running.ping import ping

    if env_file is not None:
        read_environment(env_file)
    settings = Settings(plugins=allowed(plugins), overrides=overrides)
    loaded = load_plugins(settings.plugins)
    found = ping(resolve(suite, loaded, settings), loaded, models)
    for each in found:
        for line in _lines(each):
            telling.say(line)
    failed = sum(bool(each.problem) for each in found)
    asked = [each for each in found if each.asked]
    telling.say(f"{len(asked) - failed} of {counted(len(asked), 'model')} answered.")
    return 2 if failed else 0


def _lines(each: Pinged) -> list[str]:
    head = f"{each.name}{f' ({each.fingerprint})' if each.fingerprint else ''}"
    if each.simulated:
        return [f"{head}: simulated; nothing is sent"]
    if not each.asked:
        return [f"{head}: answers in batches, hours later; nothing is sent"]
    if each.reply is None:
        return [f"{head}: FAILED", f"  {each.problem}"]
    reply = each.reply
    status = "" if reply.ok else f"{reply.status.value}, "
    shown = clean_text(reply.text, _LONGEST) if reply.text.strip() else reply.detail or "no text"
    used = reply.usage
    tokens = "unknown" if used.prompt_tokens is None else f"{used.prompt_tokens} + {used.completion_tokens}"
    lines = [
        f"{head}: {reply.latency or 0.0:.2f} s",
        f"  reply: {status}{shown}",
        f"  tokens: {tokens}; cost of this call: {'unknown' if reply.cost is None else format_dollars(reply.cost)}",
        f"  price: {_price(each)}",
        f"  limits stated: {', '.join(f'{name} {value}' for name, value in each.stated_limits.items()) or 'none'}",
    ]
    if reply.not_settable:
        lines.append(f"  refused settings: {', '.join(reply.not_settable)}")
    return lines


def _price(each: Pinged) -> str:
    if each.rates is None:
        return "unknown; give the model `price: {input: ..., output: ...}` before setting a budget in dollars"
    return f"${1e6 * each.rates.input:g} in, ${1e6 * each.rates.output:g} out per million tokens"
