"""Who a model call is made for: set by the stages, read by the gateway when it books a reply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from attrs import evolve, frozen

JUDGE: Final = "judge"
WRITER: Final = "writer"
GRADER: Final = "grader"
VALIDATOR: Final = "validator"
PREFLIGHT: Final = "preflight"
ROLES: Final = (JUDGE, WRITER, GRADER, VALIDATOR, PREFLIGHT)
"""In the order of reports."""
_CHECK: Final = "validate"
"""Purpose of a call that checks a text."""


@frozen(kw_only=True)
class Payer:
    """What a call is made for."""

    owner: str
    """The trial, or the digest of the stage that drafts."""
    role: str
    name: str = ""
    """The suite's name of the component."""
    task: str = ""
    test: str = ""

    def role_of(self, purpose: str) -> str:
        """Return the role; a perturber that has its text checked asks a grader."""
        return GRADER if self.role == WRITER and purpose == _CHECK else self.role


# A context variable, because the calls are made by components that know nothing of stages: every task that a component
# starts inherits it.
_current: ContextVar[Payer | None] = ContextVar("payer", default=None)


def current_payer() -> Payer | None:
    """Return what the current call is made for; None outside of the stages."""
    return _current.get()


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Book the calls made inside to this payer."""
    token = _current.set(payer)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def paid_as(role: str, name: str) -> Iterator[None]:
    """Book the calls made inside to another role of the current payer."""
    payer = _current.get()
    if payer is None:
        yield
        return
    with paid_by(evolve(payer, role=role, name=name)):
        yield
