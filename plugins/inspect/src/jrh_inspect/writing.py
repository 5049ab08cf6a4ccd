"""Write edited transcripts as an Inspect log and as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jrh import JrhError, Json, read_transcript

from jrh_inspect.edited import Edited, as_line
from jrh_inspect.guard import Bounds, check_log, verify_content
from jrh_inspect.logs import apart, reading
from jrh_inspect.messages import to_messages
from jrh_inspect.rewriting import rewritten
from jrh_inspect.source import sample_key

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

_NOT_RESOLVED: Final[Mapping[str, Any]] = {"events": [], "events_data": None, "error_retries": None, "store": {}}


def write_lines(path: Path, edited: Iterable[Edited]) -> int:
    """Write one JSON object per edited transcript; return how many.

    Raises:
        JrhError: The file already exists or cannot be written.
    """
    count = 0
    try:
        with suppress(FileExistsError):  # it is a file: said below
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            for each in edited:
                file.write(json.dumps(as_line(each), ensure_ascii=False, default=_plain) + "\n")
                count += 1
    except FileExistsError as error:
        raise JrhError(f"{path} already exists; choose another name") from error
    except OSError as error:
        raise _not_written(path, error) from error
    return count


def write_log(source: Path, target: Path, edited: Mapping[str, Edited], *, prefix: str, bounds: Bounds) -> set[str]:
    """Write a copy of a log with the edited transcripts; return the items found in the log.

    Args:
        source: the log that was read.
        target: the new log, `.eval` or `.json`.
        edited: item -> its edited transcript.
        prefix: the id prefix of the log's items.
        bounds: limits on the size of the log.

    Raises:
        JrhError: The source is rejected or the target already exists.
    """
    from inspect_ai.log import read_eval_log, write_eval_log

    if target.exists():
        raise JrhError(f"{target} already exists; choose another name")
    check_log(source, str(source), bounds)
    if source.suffix == ".eval":
        verify_content(source, str(source))
    with reading(str(source)):
        log = apart(read_eval_log, source)
    found = set()
    for sample in log.samples or []:
        key = sample_key(sample.id, sample.epoch, prefix)
        if key in edited:
            _apply(sample, edited[key])
            found.add(key)
    if found:
        try:
            apart(write_eval_log, log, target)
        except OSError as error:
            raise _not_written(target, error) from error
    return found


def _apply(sample: EvalSample, edited: Edited) -> None:
    from inspect_ai.log import resolve_sample_attachments

    whole = resolve_sample_attachments(sample.model_copy(update=dict(_NOT_RESOLVED)), "full")
    original = read_transcript(list(edited.original), f"item '{edited.case.item_id}'")
    transcript = read_transcript(list(edited.transcript), f"case '{edited.case.id}'")
    known = {message.id for message in to_messages(sample.messages)}
    strangers = [message.id for message in original if message.id not in known]
    if strangers:
        raise JrhError(
            f"item '{edited.case.item_id}': the log has no message '{strangers[0]}', which the run's transcript has; "
            "is this the log that was judged?"
        )
    last = sample.output.choices[0].message if sample.output.choices else None
    sample.messages = rewritten(sample.messages, whole.messages, original, transcript)
    if last is not None and last.id:
        again = next((message for message in sample.messages if message.id == last.id), None)
        if again is not None and again.content != last.content and again.role == "assistant":
            sample.output.choices[0].message = again
            sample.output.completion = again.text


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _not_written(path: Path, error: OSError) -> JrhError:
    return JrhError(f"{path}: cannot be written: {error.strerror or error}")
