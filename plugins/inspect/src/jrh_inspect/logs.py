"""Find logs and read them with Inspect's own functions, one sample at a time, after the guard's checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from attrs import frozen
from jrh import JrhError
from jrh.errors import OtherToolError

from jrh_inspect.guard import Bounds, check_log, verify_content

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

P = ParamSpec("P")
T = TypeVar("T")

_STAMPED: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}.*\.json")
"""The names that Inspect gives to .json logs; a directory holds other .json files too."""
_NOT_READ: Final = frozenset({"events", "store", "timelines", "error_retries"})
"""Fields of a sample that a transcript does not need; they are most of a log's size."""
_BATCH: Final = 16
"""Samples per call: Inspect rereads the archive's directory on every call."""
_MAGIC: Final = frozenset("*?[")


@frozen(kw_only=True)
class Log:
    """One log file that passed the guard."""

    path: Path
    shown: str
    """The path as the suite writes it, for messages."""
    header: EvalLog
    samples: Sequence[Sample]
    """In dataset order, epoch by epoch."""
    read: Callable[[Sequence[Sample]], Iterator[EvalSample]]
    """Reads samples with their attachments resolved; only a few are in memory at a time."""


@frozen(kw_only=True)
class Sample:
    """One sample of a log, before it is read."""

    id: int | str
    epoch: int
    failed: bool
    """Whether it ended with an error."""


def find_logs(path: Path, shown: str) -> list[Path]:
    """Return the logs that a path names, sorted: a file, those in a directory, or those a pattern matches.

    Raises:
        JrhError: There is none.
    """
    if path.is_file():
        return [path]
    if path.is_dir():
        # Inspect keeps other .json files next to its logs, so only names with its time stamp count.
        inside = (file for file in path.rglob("*") if file.suffix == ".eval" or _STAMPED.fullmatch(file.name))
        logs = sorted(file for file in inside if file.is_file())
        if not logs:
            raise OtherToolError(f"{shown}: the directory has no Inspect log (.eval, or .json named by Inspect)")
        return logs
    parts = path.parts
    # `Path.glob` takes a relative pattern: it starts at the last folder without a wildcard.
    first = next((at for at, part in enumerate(parts) if _MAGIC & set(part)), None)
    if first is None:
        raise JrhError(f"{shown}: file not found; a relative path is relative to the suite's directory")
    logs = sorted(file for file in Path(*parts[:first]).glob(str(Path(*parts[first:]))) if file.is_file())
    if not logs:
        raise JrhError(f"{shown}: no file matches the pattern")
    return logs


def open_log(path: Path, shown: str, bounds: Bounds) -> Log:
    """Check a log and list its samples without reading them.

    Raises:
        JrhError: The log is rejected, damaged, or has no samples.
    """
    if path.suffix not in (".eval", ".json"):
        raise OtherToolError(f"{shown}: an Inspect log must be an .eval or a .json file")
    check_log(path, shown, bounds)
    with reading(shown):
        log = _open_archive(path, shown) if path.suffix == ".eval" else _open_json(path, shown)
    if not log.samples:
        raise JrhError(f"{shown}: the log has no samples (status: {log.header.status})")
    return log


@contextmanager
def reading(shown: str) -> Iterator[None]:
    """Convert exceptions of Inspect's functions into a `JrhError`."""
    try:
        yield
    except JrhError:
        raise
    except Exception as error:
        # Validation errors may be pages long; the first line says what is wrong.
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        message = f"{type(error).__name__}: {reason[:200]}"
        raise OtherToolError(f"{shown}: Inspect cannot read this log: {message}") from error


def call_in_thread(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call an Inspect function in a separate thread: where an event loop runs, Inspect would patch asyncio."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(call, *arguments, **named).result()


def _open_archive(path: Path, shown: str) -> Log:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    # Before Inspect reads it: Inspect unpacks members whole.
    verify_content(path, shown)
    header = call_in_thread(read_eval_log, path, header_only=True)
    summaries = call_in_thread(read_eval_log_sample_summaries, path)
    read = partial(_from_archive, path, shown)
    return Log(path=path, shown=shown, header=header, samples=_in_order(summaries, header), read=read)


def _from_archive(path: Path, shown: str, samples: Sequence[Sample]) -> Iterator[EvalSample]:
    from inspect_ai.log import read_eval_log_samples_by_id

    def read(some: Sequence[Sample]) -> list[EvalSample]:
        return call_in_thread(
            read_eval_log_samples_by_id,
            path,
            [(sample.id, sample.epoch) for sample in some],
            concurrency=1,
            resolve_attachments="full",
            exclude_fields=set(_NOT_READ),
        )

    for start in range(0, len(samples), _BATCH):
        batch = samples[start : start + _BATCH]
        try:
            loaded = read(batch)
        except Exception:  # the batch does not say which sample failed: read one by one
            loaded = []
            for sample in batch:
                with reading(f"{shown}: sample '{sample.id}', epoch {sample.epoch}"):
                    loaded += read([sample])
        yield from loaded


def _open_json(path: Path, shown: str) -> Log:
    from inspect_ai.log import read_eval_log, resolve_sample_attachments

    log = call_in_thread(read_eval_log, path)
    held = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}

    def read(some: Sequence[Sample]) -> Iterator[EvalSample]:
        for sample in some:
            yield resolve_sample_attachments(held[str(sample.id), sample.epoch], "full")

    return Log(path=path, shown=shown, header=log, samples=_in_order(log.samples or [], log), read=read)


def _in_order(entries: Sequence[EvalSample | EvalSampleSummary], header: EvalLog) -> list[Sample]:
    samples = [Sample(id=entry.id, epoch=entry.epoch, failed=entry.error is not None) for entry in entries]
    # Inspect writes samples as they finish; the order of the dataset is the same in every log.
    place = {str(sample_id): at for at, sample_id in enumerate(header.eval.dataset.sample_ids or [])}
    return sorted(samples, key=lambda sample: (place.get(str(sample.id), len(place)), str(sample.id), sample.epoch))
