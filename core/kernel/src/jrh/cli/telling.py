"""Print answers on standard output, and errors, warnings, notes and progress on standard error."""

from __future__ import annotations

import click


def say(text: str) -> None:
    """Print lines on standard output, without terminal control sequences."""
    from jrh.text.escaping import clean_lines

    click.echo(clean_lines(text))


def tell(text: str) -> None:
    """Print a message on standard error, without secrets and without terminal control sequences.

    Messages quote suites, tables, stored names and replies of servers, which may hold anything.
    """
    from jrh.text.escaping import clean_lines
    from jrh.text.redact import Redactor

    redacted = Redactor.from_environment()
    # Redact twice: before a long line is cut within a secret, and after what interrupts a secret is removed.
    click.echo(redacted(clean_lines(redacted(text))), err=True)
