"""Write edited transcripts as an Inspect log and as JSON Lines."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import frozen
from jrh import REFERENCE, Case, Equals, JrhError, Json, Mode, RunReport, content_id, read_transcript
from jrh.text import TranscriptMessage, say
from jrh_authoring import json_text

from jrh_inspect.guard import Bounds, check_log, verify_content
from jrh_inspect.logs import call_in_thread, find_logs, reading
from jrh_inspect.messages import message_id, placeholder, text_of, to_messages
from jrh_inspect.source import log_prefix, sample_key

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage

_CHUNK: Final = 20
"""Cases held at once."""
_SHOWN: Final = 5


@frozen(kw_only=True)
class Wanted:
    """Select cases of a run; None selects all."""

    task: str | None = None
    test: str | None = None
    variant: str | None = None

    def accepts(self, task: str, test: str, variant: str) -> bool:
        """Return whether a case is selected."""
        return (
            (self.task is None or task == self.task)
            and (test != REFERENCE if self.test is None else test == self.test)
            and (self.variant is None or variant == self.variant)
        )


@frozen(kw_only=True)
class Edited:
    """One case of a run whose transcript differs from its item's."""

    case: Case
    original: Sequence[Mapping[str, Json]]
    transcript: Sequence[Mapping[str, Json]]


def find_edits(report: RunReport, wanted: Wanted) -> Iterator[Edited]:
    """Yield the cases with an edited transcript, in plan order; only a few are in memory at a time.

    Raises:
        JrhError: The run has no such task, test or variant.
    """
    rows = _rows(report)
    _check(wanted, rows)
    # The unperturbed case of the same task and item holds the transcript before the edit.
    reference = {(row[1], row[4]): row[0] for row in rows if row[2] == REFERENCE}
    chosen = [(row[0], reference.get((row[1], row[4]), "")) for row in rows if wanted.accepts(row[1], row[2], row[3])]
    return _read(report, chosen)


def _read(report: RunReport, chosen: Sequence[tuple[str, str]]) -> Iterator[Edited]:
    for start in range(0, len(chosen), _CHUNK):
        some = chosen[start : start + _CHUNK]
        # Transcripts are large: a few cases at a time.
        cases = report.evidence.cases(list({case_id for pair in some for case_id in pair}))
        for case_id, original_id in some:
            edited = _edit(cases.get(case_id), cases.get(original_id))
            if edited is not None:
                yield edited


def one_per_item(found: Iterator[Edited]) -> dict[str, Edited]:
    """Return the edited transcripts by item: a log holds one transcript per sample.

    Raises:
        JrhError: An item has several.
    """
    chosen: dict[str, Edited] = {}
    for edited in found:
        before = chosen.setdefault(edited.case.item_id, edited)
        if before is not edited:
            names = [
                f"task '{case.task}', test '{case.test}', variant '{case.condition.variant}'"
                for case in (before.case, edited.case)
            ]
            raise JrhError(
                f"item '{edited.case.item_id}' has several edited transcripts, and a log holds one per sample: "
                f"{' and '.join(names)}; choose with --task, --test and --variant"
            )
    return chosen


def as_line(edited: Edited) -> dict[str, Json]:
    """Return the JSON Lines object of one edited transcript."""
    case = edited.case
    return {
        "item": case.item_id,
        "task": case.task,
        "test": case.test,
        "variant": case.condition.variant,
        "case": case.id,
        "expected": case.expectation.label if isinstance(case.expectation, Equals) else None,
        "transcript": list(edited.transcript),
        "component": case.provenance.component,
        "details": case.provenance.details,
    }


def _rows(report: RunReport) -> list[tuple[str, ...]]:
    """Return (case, task, test, variant, item) once per case, in plan order."""
    columns = [report.records.text(name) for name in ("case_id", "task", "test", "variant", "item_id")]
    return list(dict.fromkeys(tuple(value or "" for value in row) for row in zip(*columns, strict=True)))


def _check(wanted: Wanted, rows: Sequence[tuple[str, ...]]) -> None:
    for name, place in (("task", 1), ("test", 2), ("variant", 3)):
        value = getattr(wanted, name)
        known = list(dict.fromkeys(row[place] for row in rows))
        if value is not None and value not in known:
            listed = ", ".join(entry for entry in known[:_SHOWN] if entry)
            raise JrhError(f"the run has no judged case for {name} '{value}'; available: {listed or 'none'}")


def _edit(case: Case | None, reference: Case | None) -> Edited | None:
    if case is None or reference is None:
        return None
    original, transcript = reference.fields.get("transcript"), case.fields.get("transcript")
    if original == transcript or not _is_messages(original) or not _is_messages(transcript):
        return None
    return Edited(case=case, original=original, transcript=transcript)  # type: ignore[arg-type]


def _is_messages(value: Json) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(part, Mapping) for part in value)
    )


Key: TypeAlias = tuple[str, int]
"""A message's id, and how many earlier messages have the same id."""


def rewrite_messages(
    stored: Sequence[ChatMessage],
    resolved: Sequence[ChatMessage],
    original: Sequence[TranscriptMessage],
    edited: Sequence[TranscriptMessage],
) -> list[ChatMessage]:
    """Return the messages of a sample with the edits of a transcript applied.

    A message that was not edited stays as stored, including everything that a transcript does not hold. Messages that
    the transcript leaves out, because the source's options drop their role, stay where they were.

    Args:
        stored: the messages as the log has them.
        resolved: the same messages with attachments resolved, as the transcript's placeholders saw them.
        original: the transcript before the edit.
        edited: the transcript after the edit.
    """
    before = dict(zip(_keys([message.id for message in original]), original, strict=True))
    after = dict(zip(_keys([message.id for message in edited]), edited, strict=True))
    hidden: list[ChatMessage] = []
    followers: defaultdict[Key, list[ChatMessage]] = defaultdict(list)
    sources: dict[Key, tuple[ChatMessage, ChatMessage]] = {}
    last = hidden
    keys = _keys([message_id(message, number) for number, message in enumerate(stored, 1)])
    for key, message, resolved_message in zip(keys, stored, resolved, strict=True):
        # The transcript never had it: it follows the message it followed.
        if key not in before:
            last.append(message)
            continue
        sources[key] = (message, resolved_message)
        # After a deleted message, what is hidden moves to the message before it.
        last = followers[key] if key in after else last
    result = hidden
    for key, wanted in after.items():
        known = key in sources
        message = (
            _edit_message(*sources[key], before[key], wanted) if known else _build_message(wanted, len(result) + 1)
        )
        result += [message, *followers[key]]
    return result


def _keys(ids: Sequence[str]) -> list[Key]:
    """Number messages with the same id in their order."""
    counts: Counter[str] = Counter()
    keys = []
    for name in ids:
        keys.append((name, counts[name]))
        counts[name] += 1
    return keys


def _edit_message(
    stored: ChatMessage, resolved: ChatMessage, before: TranscriptMessage, after: TranscriptMessage
) -> ChatMessage:
    if before == after:
        return stored
    update: dict[str, Any] = {}
    if (before.content, before.reasoning) != (after.content, after.reasoning):
        reasoning = after.reasoning if before.reasoning != after.reasoning else None
        text = after.content if before.content != after.content else None
        update["content"] = _content(stored.content, resolved.content, text, reasoning)
    if before.tool_calls != after.tool_calls:
        update["tool_calls"] = _calls(getattr(stored, "tool_calls", None) or [], after)
    if before.error != after.error:
        update["error"] = _error(after.error)
    if before.name != after.name:
        update["function"] = after.name
    if before.tool_call_id != after.tool_call_id:
        update["tool_call_id"] = after.tool_call_id
    return stored.model_copy(update=update)


def _content(stored: str | list[Any], resolved: str | list[Any], text: str | None, reasoning: str | None) -> Any:
    """Return a message's content with new text or new reasoning; None keeps the old one."""
    from inspect_ai.model import ContentReasoning

    if isinstance(stored, str) and reasoning is None:
        return text
    parts = stored if isinstance(stored, list) else []
    resolved_parts = resolved if isinstance(resolved, list) else []
    thoughts = [part for part in parts if part.type == "reasoning"]
    if reasoning is not None:
        thoughts = [ContentReasoning(reasoning=reasoning)] if reasoning else []
    if text is None and isinstance(stored, list):
        return [*thoughts, *(part for part in parts if part.type != "reasoning")]
    return [*thoughts, *_parts(parts, resolved_parts, text_of(stored) if text is None else text)]


def _parts(stored: Sequence[Any], resolved: Sequence[Any], text: str) -> list[Any]:
    """Split a text at its placeholders; a part whose placeholder was deleted is dropped."""
    from inspect_ai.model import ContentText

    parts: list[Any] = []
    for part, resolved_part in zip(stored, resolved, strict=True):
        if part.type in ("text", "reasoning"):
            continue
        # By the text that the transcript showed for it: with attachments resolved.
        before, mark, after = text.partition(placeholder(resolved_part))
        if mark:
            parts += [ContentText(text=before.removesuffix("\n"))] if before else []
            parts.append(part)
            text = after.removeprefix("\n")
    return [*parts, ContentText(text=text)] if text or not parts else parts


def _calls(stored: Sequence[Any], after: TranscriptMessage) -> list[Any] | None:
    from inspect_ai.tool import ToolCall

    by_id = {call.id: call for call in stored}
    calls = [
        dataclasses.replace(by_id[call.id], function=call.name, arguments=dict(call.arguments))
        if call.id in by_id
        else ToolCall(id=call.id, function=call.name, arguments=dict(call.arguments))
        for call in after.tool_calls
    ]
    return calls or None


def _error(text: str) -> Any:
    from typing import get_args

    from inspect_ai.tool import ToolCallError

    if not text:
        return None
    kind, colon, message = text.partition(": ")
    # Inspect accepts only the kinds of error that it knows.
    known = get_args(ToolCallError.__annotations__["type"])
    return ToolCallError(kind, message) if colon and kind in known else ToolCallError("unknown", text)  # type: ignore[arg-type]


def _build_message(message: TranscriptMessage, number: int) -> ChatMessage:
    """Return a message that the source does not have; its id is derived from its place and text."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser

    content: Any = message.content
    if message.reasoning:
        content = _content(message.content, message.content, None, message.reasoning)
    fields: dict[str, Any] = {"content": content, "id": message.id or content_id(number, message.to_json())}
    if message.role == "assistant":
        return ChatMessageAssistant(**fields, tool_calls=_calls([], message))
    if message.role == "tool":
        return ChatMessageTool(
            **fields,
            tool_call_id=message.tool_call_id or None,
            function=message.name or None,
            error=_error(message.error),
        )
    return ChatMessageSystem(**fields) if message.role == "system" else ChatMessageUser(**fields)


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
        # Never over an existing file, also if another process made it a moment ago.
        with path.open("x", encoding="utf-8") as file:
            for transcript in edited:
                file.write(json_text(as_line(transcript)) + "\n")
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
        log = call_in_thread(read_eval_log, source)
    items = set()
    for sample in log.samples or []:
        key = sample_key(sample.id, sample.epoch, prefix)
        if key in edited:
            _apply(sample, edited[key])
            items.add(key)
    if items:
        try:
            call_in_thread(write_eval_log, log, target)
        except OSError as error:
            raise _not_written(target, error) from error
    return items


def _apply(sample: EvalSample, edited: Edited) -> None:
    from inspect_ai.log import resolve_sample_attachments

    resolved = resolve_sample_attachments(sample.model_copy(update=dict(_NOT_RESOLVED)), "full")
    original = read_transcript(list(edited.original), f"item '{edited.case.item_id}'")
    transcript = read_transcript(list(edited.transcript), f"case '{edited.case.id}'")
    known = {message.id for message in to_messages(sample.messages)}
    # A log of the same samples from another run would be edited at the wrong places.
    strangers = [message.id for message in original if message.id not in known]
    if strangers:
        raise JrhError(
            f"item '{edited.case.item_id}': the log has no message '{strangers[0]}', which the run's transcript has; "
            "is this the log that was judged?"
        )
    last = sample.output.choices[0].message if sample.output.choices else None
    sample.messages = rewrite_messages(sample.messages, resolved.messages, original, transcript)
    if last is not None and last.id:
        # Inspect keeps the last message twice; scorers read the copy in the output.
        again = next((message for message in sample.messages if message.id == last.id), None)
        if again is not None and again.content != last.content and again.role == "assistant":
            sample.output.choices[0].message = again
            sample.output.completion = again.text


def _not_written(path: Path, error: OSError) -> JrhError:
    return JrhError(f"{path}: cannot be written: {error.strerror or error}")


def why_nothing(report: RunReport, wanted: Wanted) -> str:
    """Say why a run has no edited transcript to export."""
    if all(summary.task.mode is not Mode.TRANSCRIPT for summary in report.tasks):
        return "the run has no transcripts; none of its tasks has `mode: transcript`"
    if any((wanted.task, wanted.test, wanted.variant)):
        return "no case with that task, test and variant has an edited transcript"
    return "this run edited no transcripts; a test such as `agent-perturbation` does"


def write_logs(report: RunReport, edited: Mapping[str, Edited], log: Path, source: Path | None) -> None:
    """Write a copy of every log that a run read and that has edited transcripts.

    Args:
        report: the run.
        edited: item -> its edited transcript.
        log: the new log, or the directory for several.
        source: where the logs are; None: where the run's suite says.

    Raises:
        JrhError: The run read no logs, or a log cannot be read or written, or lacks an item.
    """
    # The run says which logs it read, and with which limits.
    used = [component for component in report.components if component.component == "jrh-inspect/inspect"]
    if not used:
        raise JrhError("--log: the run did not read Inspect logs; use --jsonl")
    items: set[str] = set()
    for options in {str(component.options["path"]): component.options for component in used}.values():
        path = source or Path(str(options["path"]))
        paths = find_logs(path, f"--source {path}" if source else str(path))
        bounds = Bounds(max_mb=int(str(options["max_mb"])), max_ratio=int(str(options["max_ratio"])))
        if len(paths) > 1 and log.suffix:
            raise JrhError(f"--log: the run read {len(paths)} logs; name a directory")
        for file in paths:
            target = log if log.suffix else log / file.name
            written = write_log(file, target, edited, prefix=log_prefix(file, paths), bounds=bounds)
            items |= written
            if written:
                say(f"Wrote {len(written)} edited transcripts to {target}.")
    missing = sorted(set(edited) - items)
    if missing:
        raise JrhError(
            f"the logs have no sample for item '{missing[0]}' (and {len(missing) - 1} more); is --source right?"
        )
