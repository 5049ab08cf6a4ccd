"""Export a run to Langfuse as scores, by its ingestion API: `POST /api/public/ingestion`, batches of at most 3.5 MB."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import numpy as np
from attrs import frozen
from jrh import JrhError, RunReport, content_id
from jrh.plugins import read_secret
from jrh.text import clean_text, count_noun

from jrh_export.options import LangfuseOptions
from jrh_export.rows import SIMULATED, about, rows_by_key, without_keys

_CLOUD: Final = "https://cloud.langfuse.com"
_PATH: Final = "/api/public/ingestion"
_LARGEST: Final = 3_000_000
_MOST: Final = 1000
_ATTEMPTS: Final = 5
_LONGEST_WAIT: Final = 60.0
_ANSWER: Final = 8 * 1024 * 1024
_UNKNOWN_KEYS: Final = (401, 403)
_TOO_MANY: Final = 429
_SERVER: Final = 500


class _NoRedirect(HTTPRedirectHandler):
    """Follow no redirect: urllib would send the keys on to the other address."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Refuse; the answer becomes an error."""


@frozen
class Endpoint:
    """An address of Langfuse and what authorises requests to it; its repr shows no key."""

    address: str
    shown: str
    timeout: float
    _authorization: str
    _opener: OpenerDirector

    @classmethod
    def of(cls, host: str, public: str, secret: str, *, timeout: float) -> Endpoint:
        """Check the address.

        Raises:
            JrhError: it is no `http` or `https` address.
        """
        base = (host or os.environ.get("LANGFUSE_HOST", "").strip() or _CLOUD).rstrip("/")
        shown = clean_text(without_keys(base))
        try:
            parts = urlsplit(base)
            # A password in the address would be sent along with every request, and appear in errors.
            wrong = parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc
        except ValueError:
            wrong = True
        if wrong or not base.isascii() or not base.isprintable() or " " in base:
            raise JrhError(f"'{shown}' is not the URL of a Langfuse server, such as {_CLOUD}")
        # The public key is the user and the secret one the password of HTTP's basic authorisation.
        token = base64.b64encode(f"{public}:{secret}".encode()).decode("ascii")
        return cls(f"{base}{_PATH}", shown, timeout, f"Basic {token}", build_opener(_NoRedirect))

    def __repr__(self) -> str:
        """Reveal no key."""
        return f"Endpoint({self.shown})"

    def send(self, events: Iterable[dict[str, Any]]) -> int:
        """Send all events in batches and return how many were taken.

        Raises:
            JrhError: Langfuse cannot be reached, or refuses one. What was sent before is there.
        """
        sent = 0
        for batch, size in _batches(events):
            self._check(self._post(batch), sent)
            sent += size
        return sent

    def _post(self, body: bytes) -> dict[str, Any]:
        # Ids follow from content, so that sending a batch twice changes nothing.
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS
            try:
                return self._once(body)
            except HTTPError as error:
                with error:
                    # Other answers of the 400s say that the request is wrong, and would come again.
                    if last or not (error.code == _TOO_MANY or error.code >= _SERVER):
                        raise self._refusal(error) from None
                    _wait(attempt, error.headers.get("Retry-After"))
            except (URLError, HTTPException, OSError) as error:
                if last:
                    why = clean_text(str(getattr(error, "reason", error)) or type(error).__name__)
                    raise JrhError(f"Langfuse at {self.shown} cannot be reached: {why}") from None
                _wait(attempt, None)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, body: bytes) -> dict[str, Any]:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        request = Request(self.address, data=body, headers=headers, method="POST")  # noqa: S310 - checked in `of`
        with self._opener.open(request, timeout=self.timeout) as response:
            # Bounded: the address may be of anything.
            content = response.read(_ANSWER)
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise JrhError(
                f"{self.shown} does not answer like Langfuse: {clean_text(content.decode('utf-8', 'replace'))}"
            )
        return document

    def _refusal(self, error: HTTPError) -> JrhError:
        # Without the text of the answer, which may quote them.
        if error.code in _UNKNOWN_KEYS:
            return JrhError(f"Langfuse at {self.shown} rejects the keys (HTTP {error.code}); check both")
        try:
            text = clean_text(error.read(2000).decode("utf-8", "replace"))
        except (HTTPException, OSError):
            text = ""
        return JrhError(f"Langfuse at {self.shown} rejects the request (HTTP {error.code}): {text or 'no text'}")

    def _check(self, answer: dict[str, Any], sent: int) -> None:
        """Raise if a part of a batch was refused: the status of the answer is 207 either way."""
        errors = answer.get("errors")
        if not isinstance(errors, list) or not errors:
            return
        first = errors[0] if isinstance(errors[0], dict) else {}
        why = clean_text(str(first.get("message") or first.get("error") or first.get("status") or "no reason"))
        raise JrhError(f"Langfuse at {self.shown} accepted {sent} events and rejected {len(errors)} of the next: {why}")


def _batches(events: Iterable[dict[str, Any]]) -> Iterator[tuple[bytes, int]]:
    texts: list[bytes] = []
    size = 0
    for event in events:
        text = json.dumps(event, allow_nan=False, separators=(",", ":")).encode("ascii")
        # Below the documented 3.5 MB, since commas and the frame come on top.
        if texts and (size + len(text) > _LARGEST or len(texts) == _MOST):
            yield _batch(texts), len(texts)
            texts, size = [], 0
        texts.append(text)
        size += len(text) + 1
    if texts:
        yield _batch(texts), len(texts)


def _batch(texts: list[bytes]) -> bytes:
    return b'{"batch":[' + b",".join(texts) + b"]}"


def _wait(attempt: int, told: str | None) -> None:
    try:
        # Doubled with every attempt where the server names no time; a date in Retry-After counts as no time.
        seconds = float(told) if told is not None else 0.5 * 2**attempt
    except ValueError:  # a date
        seconds = 0.5 * 2**attempt
    time.sleep(min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else _LONGEST_WAIT)  # noqa: PLR0124 - NaN


Event = dict[str, Any]
_ROWS: Final = 2000
_TOLD: Final = (
    "task", "test", "family", "variant", "template", "option_order", "polarity", "language", "gold", "expected",
    "status", "presented",
)  # fmt: skip
"""Columns of a record that go with its score. Texts of items and replies stay here."""


class LangfuseExporter:
    """Send every measure as a numeric score of one trace, and every verdict as a categorical score of its item's."""

    def __init__(self, options: LangfuseOptions) -> None:
        """Read the keys from the environment.

        Raises:
            JrhError: one is missing, or the address is none.
        """
        keys = [read_secret(options.public_key_env), read_secret(options.secret_key_env)]
        lacking = [
            name for name, key in zip((options.public_key_env, options.secret_key_env), keys, strict=True) if not key
        ]
        if lacking:
            raise JrhError(f"Langfuse needs its keys: set {' and '.join(lacking)}")
        self._options = options
        self._endpoint = Endpoint.of(options.host, *keys, timeout=options.timeout)

    def export(self, report: RunReport, attached: Sequence[Path]) -> Iterator[str]:  # noqa: ARG002 - files have no place
        """Send the events; ids follow from the run, so that sending it again replaces what is there.

        Raises:
            JrhError: Langfuse cannot be reached or refuses.
        """
        run = content_id("langfuse", report.run_id)
        # One event of these is the trace; it is no score.
        scores = self._endpoint.send(_wrap_events(_of_measures(report, run)))
        without = sum(measure.estimate is None for measure in report.measures)
        yield f"Langfuse trace {run}: {count_noun(scores - 1, 'estimate')} as scores."
        if without:
            yield f"{count_noun(without, 'measure')} without an estimate: no score."
        if self._options.verdicts and len(report.records):
            self._endpoint.send(_wrap_events(_of_verdicts(report, own=self._options.traces == "own")))
            answered = int(report.records.equals("status", "ok").sum())
            missing = len(report.records) - answered
            yield f"{count_noun(answered, 'verdict')} as scores; {missing} missing: their scores end in /missing."


def _wrap_events(events: Iterator[tuple[str, Event]]) -> Iterator[Event]:
    """Wrap events; the id of an envelope follows from its content, so that a repeated request counts once."""
    time_sent = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for kind, body in events:
        # With the time of the export: a later export of the same scores has to be taken again, and replaces them.
        yield {"id": content_id(kind, body, time_sent), "type": kind, "timestamp": time_sent, "body": body}


def _of_measures(report: RunReport, run: str) -> Iterator[tuple[str, Event]]:
    yield (
        "trace-create",
        {"id": run, "name": clean_text(report.suite), "metadata": about(report), "tags": _tags(report)},
    )
    for key, row in rows_by_key(report):
        if row["estimate"] is not None:
            yield (
                "score-create",
                {
                    # From the run and the key, so that another export replaces the score instead of adding one.
                    "id": content_id(run, key),
                    "traceId": run,
                    "name": key,
                    "value": row["estimate"],
                    "dataType": "NUMERIC",
                    "comment": _comment(row),
                    "metadata": row,
                },
            )


def _comment(row: Mapping[str, Any]) -> str:
    """Say interval, sizes and missing verdicts, as people see the comment and not the metadata."""
    known = row["low"] is not None and row["high"] is not None
    interval = f"{row['level']:.0%} interval {row['low']:.4g} to {row['high']:.4g}" if known else "no interval"
    sizes = f"n = {row['trials']} trials, {row['items']} items, {row['clusters']} clusters"
    missing = f"missing {row['missing']}" + (f" ({row['missing_by_status']})" if row["missing"] else "")
    marks = "; ".join(
        part for part in ("simulated judge" if row["simulated"] else "", row["flags"], row["note"]) if part
    )
    return clean_text("; ".join(part for part in (interval, sizes, missing, marks) if part), 900)


def _of_verdicts(report: RunReport, *, own: bool) -> Iterator[tuple[str, Event]]:
    traces: set[str] = set()
    for start in range(0, len(report.records), _ROWS):
        # In parts: all texts of a large run would not fit into memory.
        part = report.records.where(np.arange(start, min(start + _ROWS, len(report.records))))
        columns = {name: part.text(name) for name in (*_TOLD, "trial_id", "item_id", "judge", "canonical")}
        for place, repeat in enumerate(part.number("repeat").tolist()):
            row = {name: values[place] for name, values in columns.items()}
            item = str(row["item_id"])
            trace = content_id("langfuse", report.run_id, row["task"], item) if own else item
            # Of traces that exist already, `items`, nothing is created: that would overwrite their names.
            if own and trace not in traces:
                traces.add(trace)
                yield "trace-create", {"id": trace, "name": clean_text(item), "tags": _tags(report)}
            yield "score-create", _verdict(report, row, trace, int(repeat))


def _verdict(report: RunReport, row: Mapping[str, Any], trace: str, repeat: int) -> Event:
    mark = f" {SIMULATED}" if row["judge"] in report.simulated else ""
    name = clean_text(f"{row['judge']}{mark}/{row['test']}")
    answered = row["status"] == "ok"
    return {
        "id": content_id("langfuse", report.run_id, row["trial_id"]),
        "traceId": trace,
        # Under a name of its own: a status among the labels would count as a category of verdicts.
        "name": name if answered else f"{name}/missing",
        "value": str(row["canonical"] if answered else row["status"]),
        "dataType": "CATEGORICAL",
        "metadata": {column: row[column] for column in _TOLD if row[column]} | {"repeat": repeat},
    }


def _tags(report: RunReport) -> list[str]:
    return ["jrh", clean_text(report.suite)]
