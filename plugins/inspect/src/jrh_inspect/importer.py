"""Read the verdicts of an Inspect log: those of a scorer, or those of the evaluated model itself.

With a scorer, every sample and epoch is an item: each epoch has its own output. With `output`, the model is the judge,
the sample is the item, epochs are repeats, and the target is the gold label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jrh import JrhError, Json, Status
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, label_text, value_at

from jrh_inspect.guard import Bounds
from jrh_inspect.logs import Log, find_logs, open_log
from jrh_inspect.messages import plain
from jrh_inspect.options import InspectOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

_UNMAPPED: Final = (
    "messages, tool calls, events and attachments of the samples (the data source `inspect` reads them)",
    "reducers over epochs, the metrics of the log, sample limits",
    "cost and tokens of graders (Inspect counts them per model, not per score)",
)
_GRADES: Final[Mapping[Json, Json]] = {"C": True, "I": False}
_NO_ANSWER: Final = "N"
_NO_GRADE: Final = "Grade not found in model output"
"""Beginning of the explanation with which older versions of Inspect scored an unreadable grade as incorrect."""
_FAILED: Final = frozenset({"grader_failed", "scoring_failed"})
"""Reasons of a score that are about the grader; the others are about the evaluated model."""
_ENDED: Final = {
    "max_tokens": Status.TRUNCATED,
    "model_length": Status.CONTEXT_OVERFLOW,
    "content_filter": Status.REFUSED,
}


class InspectLog:
    """Read verdicts from one log, or from all logs of a directory or pattern."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one scorer, or the outputs.

        Raises:
            JrhError: a log is rejected or damaged, or has no such scorer.
        """
        known = InspectOptions(path=path)
        paths = find_logs(path, str(path))
        rows: list[ExportRow] = []
        failed = 0
        for file in paths:
            log = open_log(file, str(file), Bounds(max_mb=known.max_mb, max_ratio=known.max_ratio))
            prefix = f"{file.name}:" if len(paths) > 1 else ""
            for sample in log.read(log.samples):
                place = f"{file}: sample '{sample.id}', epoch {sample.epoch}"
                if self._options.output is not None:
                    rows.append(_answer(log, sample, place, self._options))
                # A sample can fail after it was scored: its scores are verdicts as any others.
                elif sample.error is not None and not sample.scores:
                    failed += 1
                else:
                    rows.extend(_score_rows(log, sample, place, prefix))
        if failed and not rows:
            raise JrhError(f"'{path}': no sample has a score; {failed} ended with an error")
        notes = [f"Samples that ended with an error, unscored: {failed}; they are left out."] if failed else []
        return imported_scores(_read_grades(rows), self._options, str(path), notes=notes, unmapped=_UNMAPPED)


def _score_rows(log: Log, sample: EvalSample, place: str, prefix: str) -> Iterator[ExportRow]:
    scores = sample.scores or {}
    parts = {scorer: _parts(scorer, plain_value(score)) for scorer, score in scores.items()}
    values = {name: value for named in parts.values() for name, value in named.items()}
    for scorer, score in scores.items():
        missing = _missing_status(score)
        for name, value in parts[scorer].items():
            # Any other score of the sample may be the label of people: `gold` chooses it.
            other_scores = {f"scores.{other}": part for other, part in values.items() if other != name}
            yield ExportRow(
                place=place,
                # Each epoch has an output of its own and is an item of its own; the epochs of a sample are one group.
                item=f"{prefix}{sample.id}#{sample.epoch}",
                metric=name,
                # N is how Inspect grades a sample without an answer: no verdict, and no incorrect one.
                value=None if missing or value == _NO_ANSWER else value,
                judge=_grader(log, scorer),
                golds={**_golds(sample), **other_scores},
                fields={
                    "status": missing or (Status.ABSTAINED if value == _NO_ANSWER else None),
                    "detail": str(score.reason or score.explanation or "")[:200] if missing else None,
                    "rationale": "" if missing else score.explanation or "",
                    "content": sample.output.completion,
                    "group": str(sample.id),
                    "stratum": log.header.eval.model,
                },
            )


def _answer(log: Log, sample: EvalSample, place: str, options: ScoreOptions) -> ExportRow:
    output = sample.output
    usage = output.usage
    status = Status.PROVIDER_ERROR if sample.error is not None else _ENDED.get(output.stop_reason)
    # Several targets are alternatives, not one gold label.
    target = sample.target if isinstance(sample.target, str) else None
    return ExportRow(
        place=place,
        item=str(sample.id),
        metric=options.metric or OUTPUT,
        value=value_at(output.completion.strip(), *(options.output or ())),
        judge=log.header.eval.model,
        golds={**_golds(sample), "target": target},
        default_gold="target",
        fields={
            "status": status,
            "detail": sample.error.message[:200] if sample.error is not None else None,
            "repeat": sample.epoch - 1,
            # The task words the prompt: in logs of several tasks it is the template.
            "template": log.header.eval.task,
            "prompt_tokens": usage.input_tokens if usage else None,
            "completion_tokens": usage.output_tokens if usage else None,
            "cost": usage.total_cost if usage else None,
            "latency": output.time,
        },
    )


def plain_value(score: Score) -> Json:
    """Return a score's value as JSON; numbers that are none are missing."""
    value: Any = score.value
    if isinstance(value, float) and not isfinite(value):
        return None
    return plain(value)


def _parts(scorer: str, value: Json) -> dict[str, Json]:
    """Return a value by name; each entry of a mapping is a metric of its own."""
    if isinstance(value, Mapping):
        return {f"{scorer}.{key}": part for key, part in value.items()}
    return {scorer: value if not isinstance(value, list) else None}


def _missing_status(score: Score) -> Status | None:
    """Return the status of a score that is no verdict."""
    # Older versions score an unreadable grade as incorrect: counted as a verdict, it would blame the evaluated model.
    unreadable = (score.explanation or "").startswith(_NO_GRADE) or score.reason in _FAILED
    return Status.UNPARSABLE if unreadable or plain_value(score) is None else None


def _read_grades(rows: list[ExportRow]) -> list[ExportRow]:
    """Read C and I as pass and fail where a scorer gives nothing else; partial credit makes them labels."""
    from attrs import evolve

    # The value may be the answer of the evaluated model, where C and I are labels as any others.
    other = {row.metric for row in rows if row.value not in (None, *_GRADES) or row.metric.startswith(OUTPUT)}
    return [row if row.metric in other else evolve(row, value=_GRADES.get(row.value)) for row in rows]


def _grader(log: Log, scorer: str) -> str:
    for entry in log.header.eval.scorers or []:
        option = (entry.options or {}).get("model") if entry.name == scorer else None
        names = [_model(model) for model in (option if isinstance(option, list) else [option])]
        # A scorer without a model of its own uses the role `grader`, or is no model at all.
        if all(names):
            return "+".join(names)  # several models vote
    return str(getattr((log.header.eval.model_roles or {}).get("grader"), "model", ""))


def _model(given: Any) -> str:
    """Return the name of a model that is an option of a scorer: text, or a mapping of its settings."""
    return str((given.get("model") if isinstance(given, Mapping) else given) or "")


def _golds(sample: EvalSample) -> dict[str, Json]:
    """Return the metadata that may be labels of people."""
    golds: dict[str, Json] = {}
    for key, value in sample.metadata.items():
        content = plain(value)
        parts = content.items() if isinstance(content, Mapping) else [("", content)]
        for part, inner in parts:
            if label_text(inner) is not None:
                golds[f"metadata.{key}.{part}" if part else f"metadata.{key}"] = inner
    return golds
