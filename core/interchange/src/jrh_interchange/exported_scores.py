"""Turn the scores that another tool exports into records: one metric is the task, its scores are the verdicts.

A score becomes a label by one set of rules, and a missing score a status. Nothing is guessed in silence: continuous
scores need a threshold, several metrics a choice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from attrs import Factory, evolve, frozen
from jrh import JrhError, Json, Mode, Record, Scale, Status, Task, content_id
from jrh.text import clean_text, count_noun
from jrh.values import ImportedLog

from jrh_interchange.imported_records import imported_record
from jrh_interchange.scale_inference import infer_scale
from jrh_interchange.score_options import OUTPUT, ScoreOptions
from jrh_interchange.table_rows import Problems, label_text

PASS, FAIL = "pass", "fail"
# C and I are the grades of Inspect; the other words are those of tools and of people who label by hand.
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("true", "yes", "y", "1", "1.0", "pass", "passed", "correct", "c", "good", "success"), PASS),
    **dict.fromkeys(("false", "no", "n", "0", "0.0", "fail", "failed", "incorrect", "i", "bad", "failure"), FAIL),
}
_MOST: Final = 20
_LONGEST_NAME: Final = 80
_MOST_QUOTED: Final = 80
_LEVELS: Final = 100
_MOST_COUNTED: Final = 1e15
_WHOLE: Final = frozenset({"repeat", "prompt_tokens", "completion_tokens", "attempts"})
_NUMBERS: Final = frozenset({"cost", "latency", "temperature", "probability"})
_TEXTS: Final = frozenset({"rationale", "detail", "content", "group", "stratum", "template", "variant", "test", "case"})


@frozen(kw_only=True)
class ExportRow:
    """One score of an export."""

    place: str
    """Where it is, such as `log.jsonl:12`."""
    item: str
    metric: str
    value: Json
    """Truth value, number or text; None: there is none."""
    id: str = ""
    """What tells it from a rerun: a later row of the same id and metric is a copy, as in pages that overlap."""
    passed: bool | None = None
    """What the tool itself decided by its threshold."""
    judge: str = ""
    golds: Mapping[str, Json] = Factory(dict)
    """Fields that may hold people's labels, by the name that `gold` chooses them by."""
    default_gold: str = ""
    """The field that is the gold label unless `gold` names one."""
    fields: Mapping[str, Any] = Factory(dict)
    """Further arguments of `imported_record`, such as `cost`, `repeat`, `status` and `template`; None is unknown."""


def imported_scores(
    rows: Iterable[ExportRow],
    options: ScoreOptions,
    source: str,
    *,
    notes: Sequence[str] = (),
    unmapped: Sequence[str] = (),
) -> ImportedLog:
    """Make records of the scores of one metric.

    Scores on no given scale become labels by the first rule that fits: true and false are `pass` and `fail`; with
    `threshold`, numbers are; so are numbers where the tool decided itself; so are 0 and 1; whole numbers are levels;
    texts are labels. Rows that agree in item, judge and condition are repeats, in file order, unless they say which.

    Args:
        rows: all scores of the file.
        options: the choices.
        source: the file's name for messages.
        notes: how the file was read, for readers of the report.
        unmapped: what the file holds and the rows do not.

    Raises:
        SuiteError: lists scores and gold labels that are not on the scale.
        JrhError: there are no scores, several metrics and no choice, or continuous scores and no threshold.
    """
    chosen, other_metrics = _of_metric(tuple(rows), options, source)
    named = {row.judge for row in chosen if row.judge}
    if len(named) == 1:  # where a grader failed, some tools do not say which it was
        chosen = [evolve(row, judge=next(iter(named))) for row in chosen]
    metric = chosen[0].metric
    gold = _gold_field(chosen, options, source)
    chosen, copies = _without_copies(chosen)
    remarks = [*notes, *([f"Copies of an earlier row, with its id: {copies}; they are left out."] if copies else [])]
    meaning = _Meaning.of(chosen, gold, options, source, remarks)
    task = Task(name=clean_text(metric, _LONGEST_NAME) or OUTPUT, scale=meaning.scale)
    records = _records(chosen, task, meaning, gold)
    not_read = [f"other metrics: {_join_names(other_metrics)}"] if other_metrics else []
    if gold:
        remarks.append(f"Gold labels are from `{gold}`.")
    elif candidates := _golds(chosen):
        # Without gold labels no agreement is measured, so name the fields that may have them.
        not_read.append(f"fields that may hold people's labels, for --gold: {_join_names(candidates)}")
    return ImportedLog(
        tasks=(task,),
        records=tuple(records),
        origins=tuple(row.place for row in chosen),
        notes=tuple(remarks),
        unmapped=(*not_read, *unmapped),
    )


def _of_metric(rows: tuple[ExportRow, ...], options: ScoreOptions, source: str) -> tuple[list[ExportRow], list[str]]:
    counts = Counter(row.metric for row in rows)
    if not rows:
        raise JrhError(f"'{source}' has no scores")
    listed = _join_names([f"{clean_text(name, 50)} ({count_noun(n, 'verdict')})" for name, n in counts.items()])
    if options.metric is None and len(counts) > 1:
        raise JrhError(f"'{source}' has {len(counts)} metrics; choose one with --metric: {listed}")
    metric = options.metric or next(iter(counts))
    if metric not in counts:
        raise JrhError(f"'{source}' has no metric '{metric}'; it has {listed}")
    return [row for row in rows if row.metric == metric], [name for name in counts if name != metric]


def _without_copies(rows: Sequence[ExportRow]) -> tuple[list[ExportRow], int]:
    """Leave out rows whose id came before: as reruns they would look like a judge without noise."""
    # In reverse, so that of equal ids the first place remains.
    first = {row.id: place for place, row in reversed([*enumerate(rows)]) if row.id}
    originals = [row for place, row in enumerate(rows) if first.get(row.id, place) == place]
    return originals, len(rows) - len(originals)


def _gold_field(rows: Sequence[ExportRow], options: ScoreOptions, source: str) -> str:
    """Return the field of the gold labels; empty if there are none."""
    candidates = _golds(rows)
    # A field that is really called `none` can still be chosen.
    if options.gold == "none" and "none" not in candidates:
        return ""
    if options.gold is not None and options.gold not in candidates:
        known = _join_names(candidates) or "none"
        raise JrhError(f"'{source}' has no field '{options.gold}' for gold labels; it has {known}")
    return options.gold or next((row.default_gold for row in rows if row.default_gold in candidates), "")


def _join_names(names: Sequence[str]) -> str:
    """Join names out of a file, of which there may be many."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(clean_text(name, _LONGEST_NAME) for name in names[:_MOST]) + more


def _golds(rows: Sequence[ExportRow]) -> list[str]:
    return sorted({name for row in rows for name, value in row.golds.items() if value not in (None, "")})


@frozen(kw_only=True)
class _Meaning:
    """How values become labels."""

    scale: Scale
    options: ScoreOptions
    binary: bool
    """Whether the labels are pass and fail."""
    decided: bool = False
    """Whether the tool's own decision is the verdict."""

    @classmethod
    def of(cls, rows: Sequence[ExportRow], gold: str, options: ScoreOptions, source: str, notes: list[str]) -> _Meaning:
        # What `labels` maps says nothing about the scale of the other values.
        values = [row.value for row in rows if row.value is not None and label_text(row.value) not in options.labels]
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        # With a scale, or labels other than pass and fail, the user has decided what scores mean.
        free = options.scale is None and set(options.labels.values()) <= {PASS, FAIL}
        # One row without the decision of the tool would mix two rules in one task.
        decided = free and options.threshold is None and bool(numbers) and all(row.passed is not None for row in rows)
        if decided and set(numbers) - {0, 1}:
            notes.append("Verdicts are the tool's own pass and fail; the scores behind them are not kept.")
        if options.threshold is not None:
            _check_cut([row.golds.get(gold) for row in rows], numbers, gold)
            notes.append(f"Scores from {options.threshold:g} on are `{PASS}`, lower ones `{FAIL}`.")
        if decided or options.threshold is not None or (free and values and all(value in (0, 1) for value in values)):
            return cls(scale=Scale.of_labels(PASS, FAIL), options=options, binary=True, decided=decided)
        # A guessed threshold would decide every verdict, so it has to be given.
        fractions = [value for value in numbers if not _is_level(value)]
        if options.scale is None and fractions:
            raise JrhError(f"'{source}' has continuous scores, such as {fractions[0]:g}; pass --threshold or --scale")
        if options.scale is None and all(row.value is None for row in rows):
            raise JrhError(
                f"every score of '{rows[0].metric}' in '{source}' is missing; pass --scale to import them as missing"
            )
        # Not binary: texts stay as they are, and the scale is inferred from them.
        bare = cls(scale=Scale.of_labels(PASS, FAIL), options=options, binary=False)
        # A model that answers freely says many things; people use the labels.
        verdicts = [] if gold and options.output is not None else [row.value for row in rows]
        labels = {bare.label(value) for value in [*verdicts, *(row.golds.get(gold) for row in rows)]}
        known = sorted(label for label in labels if label is not None)
        if options.scale is None:
            notes.append(f"The scale is inferred: {', '.join(known[:_MOST])}. Pass --scale if it has more labels.")
        return cls(scale=infer_scale(options.scale, known, Mode.POINTWISE, source), options=options, binary=False)

    def verdict(self, row: ExportRow) -> str | None:
        """Return the label of a row's verdict."""
        if isinstance(row.value, float) and not isfinite(row.value):
            raise JrhError(f"the score {row.value} is not a finite number")
        if self.decided and row.value is not None:
            return PASS if row.passed else FAIL
        return self.label(row.value)

    def label(self, value: Json) -> str | None:
        """Return the label of a value; None if there is none. Unknown texts are returned as they are."""
        if value is None or value == "":
            return None
        text = label_text(value) or str(value)
        if text in self.options.labels:
            return self.options.labels[text]
        if not self.binary:
            return text.strip()
        if self.options.threshold is not None and isinstance(value, int | float) and not isinstance(value, bool):
            return PASS if value >= self.options.threshold else FAIL
        return _WORDS.get(text.strip().casefold(), text)


def _check_cut(golds: Sequence[Json], scores: Sequence[float], field: str) -> None:
    """Refuse to cut gold labels of a longer scale, such as 1 to 5, where scores of 0 to 1 are cut."""
    numbers = [value for value in golds if isinstance(value, int | float) and not isinstance(value, bool)]
    if numbers and max(numbers) > max([1, *scores]):
        raise JrhError(
            f"the gold labels in `{field}` go up to {max(numbers):g}, the scores up to {max(scores, default=0):g}: one "
            "threshold cannot split both; map each gold label with --label TEXT=pass or --label TEXT=fail"
        )


def _is_level(value: float) -> bool:
    """Tell whether a number can be a level of an ordinal scale: whole, not negative, and of two digits at most."""
    return 0 <= value < _LEVELS and float(value).is_integer()


def _records(rows: Sequence[ExportRow], task: Task, meaning: _Meaning, gold: str) -> list[Record]:
    records: list[Record] = []
    problems = Problems()
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        try:
            record = _record(row, task, meaning, gold)
        except JrhError as error:
            problems.add(clean_text(str(error), 300), source=row.place)
            continue
        # Rows that do not number their repeats are numbered in the order of the file.
        again = counts[record.case_id, record.judge]
        counts[record.case_id, record.judge] += 1
        if again and "repeat" not in row.fields:
            record = evolve(record, repeat=again, trial_id=content_id(record.case_id, record.judge, again))
        records.append(record)
    problems.raise_any()
    return records


def _record(row: ExportRow, task: Task, meaning: _Meaning, gold: str) -> Record:
    fields = {name: _check_field(name, value) for name, value in row.fields.items() if value is not None}
    stated = fields.pop("status", None)
    # A failed row has no verdict, even where the tool wrote a score for it.
    lost = stated not in (None, Status.OK)
    answer = None if lost else meaning.verdict(row)
    # A model that answers freely misses the scale now and then: a missing verdict. A score of a metric that is off the
    # scale is a mistake of the import, and is refused below.
    if meaning.options.output is not None and answer is not None and task.scale.match(answer) is None:
        fields["detail"], answer = f"the answer is {answer[:_MOST_QUOTED]!r}", None
    return imported_record(
        task=task,
        item_id=row.item,
        judge=meaning.options.judge or row.judge or row.metric,
        label=_on_scale(task, answer, "verdict"),
        gold=_on_scale(task, meaning.label(row.golds.get(gold)), "gold label") if gold else None,
        status=stated if lost else None,
        **fields,
    )


def _on_scale(task: Task, label: str | None, what: str) -> str | None:
    if label is None:
        return None
    match = task.scale.match(label)
    if match is None:
        raise JrhError(
            f"the {what} {label!r} is not on the scale {', '.join(task.scale.labels)}; name it with --label TEXT=LABEL"
        )
    return match


def _check_field(name: str, value: Any) -> Any:
    """Return an argument of `imported_record` as its type, or refuse it."""
    if name in _TEXTS:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name in (*_WHOLE, *_NUMBERS):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_COUNTED:
            raise JrhError(f"`{name}` is {str(value)[:40]!r}; expected a number of 0 or more")
        return int(value) if name in _WHOLE else float(value)
    return value
