"""Read samples of Inspect logs as items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import evolve, frozen
from jrh import BuildContext, Item, JrhError, Json, Mode, content_id, read_transcript
from jrh.text import ToolCall, TranscriptMessage
from jrh_authoring import load_function
from jrh_interchange import label_text

from jrh_inspect.guard import Bounds
from jrh_inspect.logs import Log, Sample, find_logs, open_log
from jrh_inspect.messages import plain, text_of, to_messages
from jrh_inspect.options import InspectOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample


Preprocess: TypeAlias = Callable[[list[dict[str, Json]], Mapping[str, Json]], Any]


_CODE: Final = "code"
"""The argument of a tool call that holds code."""


@frozen(kw_only=True)
class Shape:
    """The options that change a transcript."""

    options: InspectOptions
    preprocess: Preprocess | None = None

    def of(
        self, messages: Sequence[TranscriptMessage], metadata: Mapping[str, Json], origin: str
    ) -> list[dict[str, Json]] | None:
        """Return the kept messages as an item's field, or None to leave the sample out.

        Raises:
            JrhError: The user's function raises or does not return a transcript.
        """
        reduced = [self._reduce(message) for message in messages if message.role in self.options.roles]
        written = [message.to_json() for message in reduced]
        if self.preprocess is None:
            return written or None
        try:
            returned: Any = self.preprocess(written, metadata)
        except Exception as error:  # the function is the user's, and may raise anything
            raise JrhError(f"{origin}: preprocess raised {type(error).__name__}: {error}") from error
        if returned is None or returned == []:
            return None
        return [message.to_json() for message in read_transcript(returned, f"{origin}: after preprocess")]

    def _reduce(self, message: TranscriptMessage) -> TranscriptMessage:
        if message.reasoning and not self.options.reasoning:
            message = evolve(message, reasoning="")
        if message.role == "tool" and self.options.tool_output is not None:
            message = evolve(message, content=_shorten(message.content, self.options.tool_output))
        if self.options.code == "comments" and message.role == "assistant":
            message = evolve(message, tool_calls=tuple(_keep_comments(call) for call in message.tool_calls))
        return message


def _keep_comments(call: ToolCall) -> ToolCall:
    """Keep the comment lines of a call's code; a call without code is unchanged."""
    code = call.arguments.get(_CODE)
    if not isinstance(code, str):
        return call
    comments = [line for line in code.splitlines() if line.lstrip().startswith("#")]
    return evolve(call, arguments={**call.arguments, _CODE: "\n".join(comments)})


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = (most + 1) // 2
    tail = most - head
    return f"{text[:head]}\n[{len(text) - most:,} characters of the tool's output left out]\n{text[len(text) - tail :]}"


FACTS: Final = "inspect"
"""Metadata key for the item's origin; the sample's own metadata are its siblings."""


@frozen(kw_only=True)
class Entry:
    """A sample as all tasks share it; what they judge, and against which label, is theirs."""

    item: Item
    """With request and transcript, and without a gold label."""
    output: str
    scores: Mapping[str, Json]


# Tasks that judge the same data read it once. Only the last data are kept: transcripts are large.
_last_read: Final[dict[str, tuple[tuple[Entry, ...], Mapping[str, int]]]] = {}


@frozen(kw_only=True)
class InspectSource:
    """Reads the samples of one or several logs."""

    options: InspectOptions
    context: BuildContext

    @property
    def shown(self) -> str:
        """The path as the suite writes it, for messages."""
        return _as_written(self.options.path, self.context.base)

    def read(self) -> Iterator[Item]:
        """Yield one item per sample and epoch: log by log, in the order of the dataset.

        Raises:
            JrhError: A log is rejected or damaged, or an option names something that does not exist.
        """
        entries = self._entries()
        options = self.options
        gold = options.gold.get(self.context.task.name) if isinstance(options.gold, Mapping) else options.gold
        scores = [name for entry in entries for name in score_names(entry.scores)]
        if gold is not None:
            check_known(gold, scores, "score", self.shown)
        if options.stratum is not None:
            keys = [key for entry in entries for key in entry.item.metadata if key != FACTS]
            check_known(options.stratum, [*keys, *scores], "metadata key or score", self.shown)
        for entry in entries:
            yield self._item(entry, gold)

    def _item(self, entry: Entry, gold: str | None) -> Item:
        item, stratum = entry.item, self.options.stratum
        pointwise = self.context.task.mode is Mode.POINTWISE
        judged = {"response": entry.output} if pointwise else {"transcript": item.fields["transcript"]}
        return evolve(
            item,
            fields={"request": item.fields["request"], **judged},
            gold=None if gold is None else gold_label(entry, gold, self.options.gold_labels),
            stratum=stratum_of(stratum, item.metadata, entry.scores) if stratum else "",
        )

    def _entries(self) -> Sequence[Entry]:
        paths = find_logs(self.options.path, self.shown)
        # A log may change between two tasks of one process.
        stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        # Gold labels and strata are chosen per task from the same entries, so they are no part of the key.
        key = content_id(stamps, repr(evolve(self.options, gold=None, gold_labels={}, stratum=None)))
        if key not in _last_read:
            counts: Counter[str] = Counter()
            entries = tuple(self._read(paths, counts))
            _last_read.clear()
            _last_read[key] = entries, counts
        entries, left_out = _last_read[key]
        # Also when the entries were read before: every task says what its data lack.
        for reason, count in sorted(left_out.items()):
            self.context.log.warning("samples left out", reason=reason, samples=count)
        return entries

    def _read(self, paths: Sequence[Path], left_out: Counter[str]) -> Iterator[Entry]:
        options = self.options
        preprocess = load_function("preprocess", options.preprocess, self.context.code) if options.preprocess else None
        shape = Shape(options=options, preprocess=preprocess)
        wanted = set(options.samples)
        for path in paths:
            log = open_log(
                path, _as_written(path, self.context.base), Bounds(max_mb=options.max_mb, max_ratio=options.max_ratio)
            )
            chosen = [sample for sample in log.samples if self._is_chosen(sample)]
            wanted.difference_update(*(_names(sample) for sample in chosen))
            readable = [sample for sample in chosen if options.errors == "keep" or not sample.failed]
            if len(readable) < len(chosen):
                left_out["the sample ended with an error"] += len(chosen) - len(readable)
            for sample in log.read(readable):
                entry = _entry(log, sample, log_prefix(path, paths), shape)
                if entry is None:
                    left_out["no message is kept"] += 1
                else:
                    yield entry
        if wanted:
            raise JrhError(f"{self.shown}: no sample {', '.join(sorted(wanted))}")

    def _is_chosen(self, sample: Sample) -> bool:
        options = self.options
        in_epoch = not options.epochs or sample.epoch in options.epochs
        return in_epoch and (not options.samples or not _names(sample).isdisjoint(options.samples))


def inspect_source(options: InspectOptions, context: BuildContext) -> InspectSource:
    """Build the source.

    Raises:
        JrhError: The task compares two responses; a log has only one per sample.
    """
    # Before any log is read.
    if context.task.mode is Mode.PAIRWISE:
        raise JrhError("inspect: a log has one transcript per sample; set mode to `transcript` or `pointwise`")
    return InspectSource(options=options, context=context)


def sample_key(sample_id: int | str, epoch: int, prefix: str = "") -> str:
    """Return the id of a sample's item; `prefix` distinguishes several logs."""
    return f"{prefix}{sample_id}#{epoch}"


def _names(sample: Sample) -> set[str]:
    """Return the names by which a suite may refer to a sample."""
    return {str(sample.id), sample_key(sample.id, sample.epoch)}


def log_prefix(path: Path, paths: Sequence[Path]) -> str:
    """Return the id prefix of a log's items: its name if there are several logs, otherwise empty."""
    return f"{path.name}:" if len(paths) > 1 else ""


def _entry(log: Log, sample: EvalSample, prefix: str, shape: Shape) -> Entry | None:
    origin = f"{log.shown}: sample '{sample.id}', epoch {sample.epoch}"
    values = {name: score.value for name, score in (sample.scores or {}).items()}
    # Inspect writes NaN where a scorer gave no score.
    scores = {name: plain(value) for name, value in values.items() if not (isinstance(value, float) and isnan(value))}
    spec = log.header.eval
    facts: dict[str, Json] = {
        "log": log.path.name,
        "task": spec.task,
        "model": spec.model,
        "sample": sample.id,
        "epoch": sample.epoch,
        "target": plain(sample.target),
        "output": sample.output.completion,
        "scores": scores,
    }
    if sample.error is not None:
        facts["error"] = sample.error.message
    metadata = {str(key): plain(value) for key, value in sample.metadata.items()}
    transcript = shape.of(to_messages(sample.messages), {**metadata, FACTS: facts}, origin)
    if transcript is None:
        return None
    item = Item(
        id=sample_key(sample.id, sample.epoch, prefix),
        group=str(sample.id),
        fields={"request": _request(sample.input), "transcript": transcript},
        metadata={**metadata, FACTS: facts},
        origin=origin,
    )
    return Entry(item=item, output=sample.output.completion, scores=scores)


def _request(given: str | list[Any]) -> str:
    if isinstance(given, str):
        return given
    texts = [(message.role, text_of(message.content)) for message in given]
    return texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)


def _as_written(path: Path, base: Path) -> str:
    # The loader made the path absolute; messages show it as the user wrote it.
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def score_value(scores: Mapping[str, Json], name: str) -> Json:
    """Return the value of score `name`, or of its part `name.key`; None if there is none."""
    if name in scores:
        return scores[name]
    scorer, _, key = name.partition(".")
    parts = scores.get(scorer)
    return parts.get(key) if isinstance(parts, Mapping) else None


def score_names(scores: Mapping[str, Json]) -> list[str]:
    """Return the names that `score_value` accepts."""
    names = []
    for name, value in scores.items():
        names += [f"{name}.{key}" for key in value] if isinstance(value, Mapping) else [name]
    return names


def gold_label(entry: Entry, name: str, labels: Mapping[str, str]) -> str | None:
    """Return the gold label of a sample, which is a score of it; None if the sample has no such score.

    Raises:
        JrhError: The score's value is not a label, or `labels` maps others only.
    """
    value = score_value(entry.scores, name)
    if value is None:
        return None
    origin, text = entry.item.origin, label_text(value)
    if text is None:
        raise JrhError(
            f"{origin}: the score '{name}' is {type(value).__name__}, not a single value; name one part as '{name}.KEY'"
        )
    if labels and text not in labels:
        known = ", ".join(labels)
        raise JrhError(f"{origin}: the score '{name}' is '{text}', which `gold_labels` does not map; it maps {known}")
    return labels.get(text, text)


def stratum_of(name: str, metadata: Mapping[str, Json], scores: Mapping[str, Json]) -> str:
    """Return the stratum of a sample from its metadata or else its scores; empty if neither has the name."""
    value = metadata[name] if name in metadata else score_value(scores, name)
    if value is None:
        return ""
    text = label_text(value)
    return str(value) if text is None else text


def check_known(name: str, known: Sequence[str], what: str, shown: str) -> None:
    """Reject a name that no sample has.

    Raises:
        JrhError: The name is unknown; the message lists the known ones.
    """
    if name not in known:
        available = ", ".join(dict.fromkeys(known)) or "none"
        raise JrhError(f"{shown}: no sample has the {what} '{name}'; available: {available}")
