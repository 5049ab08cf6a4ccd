"""Define the expected errors, the failures of model providers, and the reasons to stop a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Final

from attrs import define, evolve, field, frozen

RAISED: Final = (Exception, SystemExit)
"""Exceptions of plugins that a run survives, including that of `sys.exit()`, which would otherwise end jrh."""


class JrhError(Exception):
    """Report an expected error: shown without a traceback, exit code 2.

    The text says what is wrong, where, and what to do about it.
    """

    exit_code: int = 2


class PluginError(JrhError):
    """Report a component whose declaration or behaviour violates its contract.

    The message names the file and line of the component. Authors: run its contract tests (`jrh_testing`). Users: update
    the plugin, or leave it out with `--plugins`; `jrh plugins doctor` shows what does not fit.
    """


class OtherToolError(JrhError):
    """Report a file that is not an export of the tool that the importer reads.

    Name the tool with `--from`.
    """


class StoreError(JrhError):
    """Report a run directory or a cache that cannot be used.

    Another process has it open, it is on a disk that is full or read-only, or another version of jrh wrote it. Wait for
    the other process, make room, or give a new directory with `--run-dir`: calls that the cache holds are not repeated.
    """


class DamagedStoreError(StoreError):
    """Report a store whose content changed after jrh wrote it.

    The file was edited, or the disk lost parts of it. Restore a copy, or run the suite into a new directory.
    """


@frozen(kw_only=True)
class Problem:
    """One mistake in a file, with its position."""

    message: str
    """What is wrong and what to do, in one or more lines."""
    source: str = ""
    """The file's name as the user wrote it; empty if there is no file."""
    line: int | None = None
    """1-based line."""
    column: int | None = None
    """1-based column."""

    def __str__(self) -> str:
        """Format as `file:line:column: message`, without the unknown parts."""
        where = ":".join(str(part) for part in (self.source, self.line, self.column) if part not in ("", None))
        return f"{where}: {self.message}" if where else self.message


class CostNotAgreedError(JrhError):
    """Report a run that may cost more than agreed; nothing was spent.

    jrh could not ask for confirmation, or the answer was no. Look at `jrh plan SUITE`, then pass `--yes`, set a
    `budget`, or take fewer items (`--limit`).
    """

    def __init__(self, what: str, advice: str) -> None:
        """Keep what the run may cost, in words, and what to do."""
        super().__init__(f"the run may make {what}; {advice}")
        self.what = what


class SuiteError(JrhError):
    """Report all mistakes of a suite or data file at once.

    Each has its file, line and column. Correct them and run the command again; nothing was spent.
    """

    def __init__(self, problems: Iterable[Problem | str]) -> None:
        """Collect the problems; a plain string is a problem without a position."""
        self.problems: Sequence[Problem] = tuple(
            Problem(message=problem) if isinstance(problem, str) else problem for problem in problems
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))


class FaultKind(Enum):
    """The kinds of failure a model provider can report."""

    RATE_LIMIT = "rate_limit"
    """Too many requests (429); retried, and concurrency is lowered. If it persists, set `requests_per_minute`."""
    SERVER_ERROR = "server_error"
    """The server failed or is busy (5xx, 409); retried. Run the suite again later."""
    CONNECTION = "connection"
    """The connection failed or broke; retried. Check the address, the proxy and the network."""
    TIMEOUT = "timeout"
    """No complete answer in time (also 408); retried. Raise the model's `timeout`, or ask for shorter answers."""
    MALFORMED = "malformed"
    """The answer violates the protocol: bad JSON, no choices; retried. `jrh ping SUITE` shows what arrives."""
    REJECTED = "rejected"
    """The provider rejects the request (other 4xx); final for this call. Its message says which setting it rejects."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt is longer than the model's context window; final for this call. Shorten it, or take another model."""
    NOT_AVAILABLE = "not_available"
    """The model lacks a setting that the question depends on; final for this call."""
    UNAUTHORIZED = "unauthorized"
    """The provider rejects the key (401, 403); stops the run. Set the key, and run the suite again: it continues."""
    NO_CREDIT = "no_credit"
    """The account has no credit left (402, or a code that says so); stops the run. Add credit, and run it again."""


# The others are about the request, the key or the account: the same call would fail in the same way.
_RETRYABLE: Final = frozenset(
    {FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR, FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.MALFORMED}
)


_KIND_OF_STATUS: Final[dict[int, FaultKind]] = {
    HTTPStatus.UNAUTHORIZED: FaultKind.UNAUTHORIZED,
    HTTPStatus.PAYMENT_REQUIRED: FaultKind.NO_CREDIT,
    HTTPStatus.FORBIDDEN: FaultKind.UNAUTHORIZED,
    HTTPStatus.REQUEST_TIMEOUT: FaultKind.TIMEOUT,
    HTTPStatus.CONFLICT: FaultKind.SERVER_ERROR,
    HTTPStatus.TOO_MANY_REQUESTS: FaultKind.RATE_LIMIT,
}


@define(slots=False, repr=False)
class ModelFault(Exception):
    """Report one failed attempt of a model provider. Models raise it; only the gateway handles it."""

    kind: FaultKind
    detail: str
    """A short text."""
    status: int | None = field(default=None, kw_only=True)
    """The HTTP status."""
    retry_after: float | None = field(default=None, kw_only=True)
    """Seconds the server asks to wait."""
    settings: Sequence[str] = field(default=(), kw_only=True)
    """Settings of the request that the model does not have; it is asked without them. After `temperature<0.01` it is
    asked with that value instead of one below."""
    sent: bool = field(default=True, kw_only=True)
    """False if no request can have arrived, because no connection was made; it costs nothing."""

    def __str__(self) -> str:
        """Return the detail alone."""
        return self.detail

    @property
    def retryable(self) -> bool:
        """Return whether a retry can help."""
        # Everything else stays as it is however often the same request is sent.
        return self.kind in _RETRYABLE

    def with_detail(self, detail: str) -> ModelFault:
        """Return the same failure with another text, and without the exceptions it came from."""
        return evolve(self, detail=detail)

    @classmethod
    def from_http_status(cls, status: int, detail: str, *, retry_after: float | None = None) -> ModelFault:
        """Classify an HTTP error status; no other code interprets statuses."""
        # Providers use other 4xx statuses for wrong requests, which no retry mends.
        if status in _KIND_OF_STATUS:
            kind = _KIND_OF_STATUS[status]
        elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            kind = FaultKind.SERVER_ERROR
        else:
            kind = FaultKind.REJECTED
        return cls(kind, detail, status=status, retry_after=retry_after)


class StillPendingError(Exception):
    """Report a call that a provider has accepted and not answered yet; only deferred models raise it.

    The call stays in flight: a later run of the same suite waits for the same answer.
    """


class StopReason(Enum):
    """Why a run stops before all planned trials are done."""

    UNAUTHORIZED = "unauthorized"
    """A provider rejects the key. Set it (`jrh ping SUITE` tests it), and run the suite again."""
    NO_CREDIT = "no_credit"
    """An account has no credit left. Add credit, and run the suite again."""
    BREAKER = "breaker"
    """A provider fails every call. Wait, or look at its errors in the run's log, and run the suite again."""
    BUDGET = "budget"
    """The next call could exceed the budget. Raise `budget`, and run the suite again: paid calls are not repeated."""
    INTERRUPTED = "interrupted"
    """The user asked to stop. Run the suite again to continue."""
    OPEN = "open"
    """A stage waits for something that the message names. Do that, then run the suite again."""
    PENDING = "pending"
    """A provider accepted calls but has not answered them yet. Run the suite again later: it collects the answers."""


class StopRun(BaseException):
    """Stop the run in an orderly way: calls in flight finish and their results are kept.

    Not an `Exception`, so that a broad `except` in a component cannot turn the end of a run into a verdict.
    """

    def __init__(self, reason: StopReason, message: str) -> None:
        """Keep the reason and the message for the user."""
        super().__init__(message)
        self.reason = reason
        self.message = message


class EmptyStoreError(StoreError):
    """Report a run directory in which no run has begun.

    The path is mistaken, or the run stopped before its first trial: run the suite again.
    """
