"""Show what a table says about its judges: for people, and for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
from jrh import Measure
from jrh.text import clean_text, count_noun
from jrh_measuring import format_figure, format_interval, format_items, format_number, state_p

from jrh_import.checking.answers import EFFECT, Answer
from jrh_import.checking.check_request import guess_lines
from jrh_import.checking.measurement import Checked

_DIGITS: Final = 2
_NAME: Final = 30
_MOST_GAPS: Final = 3
_MOST_NOTES: Final = 8
_MOST_FINDINGS: Final = 4
"""Of each judge, the worst first."""
_LINE: Final = 400


def as_text(checked: Checked, answers: Sequence[Answer]) -> str:
    """Return the answer for people: sentences first, then one line per judge, then how the table was read."""
    lines = [
        *(line for answer in answers for line in _answer(answer)),
        "",
        *_table(checked, answers),
        *_comparisons(checked),
        "",
        *(["Columns (guessed):", *guess_lines(checked.request.guessed), ""] if checked.request.guessed else []),
        _sizes(checked),
        checked.labels.description,
        *_bullets([*_flags(answers), *checked.notes], _MOST_NOTES, "notes with --format json"),
        "",
        "Not measurable from this table:",
        *_bullets(checked.gaps, _MOST_GAPS, "in the notes of `jrh import`"),
    ]
    return "\n".join(lines)


def _answer(answer: Answer) -> Iterator[str]:
    yield answer.sentence
    for place, finding in enumerate(answer.findings):
        # A covariate was asked for: what was found about it is always shown.
        if place < _MOST_FINDINGS or finding.kind == EFFECT:
            yield f"  {finding.severity.value}: {clean_text(finding.sentence, _LINE)}"
    for sentence in answer.covariates:
        yield f"  inconclusive: {clean_text(sentence, _LINE)}."


def as_json(checked: Checked, answers: Sequence[Answer]) -> str:
    """Return everything that was measured as JSON, in ASCII."""
    (summary,) = checked.report.tasks
    # In the order of the text: what was asked, the answers, then everything they rest on.
    document = {
        "path": str(checked.request.path),
        "rows": len(checked.table.rows),
        "items": summary.items,
        "labelled": summary.labelled,
        "scale": {"kind": summary.task.scale.kind.value, "labels": list(summary.task.scale.labels)},
        "columns": [list(column) for column in checked.request.guessed],
        "within": checked.request.within,
        "at_least": checked.request.at_least,
        "answers": [
            {
                "judge": answer.judge,
                "sentence": answer.sentence,
                "enough": answer.enough,
                "items_needed": answer.needed,
                "covariates": list(answer.covariates),
                "findings": [
                    {"kind": finding.kind, "severity": finding.severity.value, "sentence": finding.sentence}
                    for finding in answer.findings
                ],
            }
            for answer in answers
        ],
        "measures": [_finite(attrs.asdict(measure)) for measure in checked.report.measures],
        "notes": [checked.labels.description, *_flags(answers), *checked.notes],
        "not_measurable": list(checked.gaps),
    }
    # NaN is no JSON, and many programs refuse the whole document for it.
    return json.dumps(document, indent=2, allow_nan=False)


def _finite(value: object) -> object:
    """Return a value as JSON can hold it: what is not finite is not known."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def _table(checked: Checked, answers: Sequence[Answer]) -> Iterator[str]:
    kinds = list(dict.fromkeys(kind for answer in answers for kind, _ in answer.coefficients))
    target = f"items for ±{format_number(checked.request.within, _DIGITS)}"
    rows = [["", "agreement", *kinds, "missing", target]]
    for answer in answers:
        coefficients = dict(answer.coefficients)
        rows.append(
            [
                clean_text(answer.judge, _NAME),
                format_figure(answer.agreement, _DIGITS),
                *(format_figure(coefficients[kind], _DIGITS) if kind in coefficients else "-" for kind in kinds),
                _missing_count(answer.missing),
                "-" if answer.needed is None else f"{answer.needed:,}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _missing_count(measure: Measure) -> str:
    return f"{round((measure.estimate or 0.0) * measure.n_trials):,} of {measure.n_trials:,}"


def _comparisons(checked: Checked) -> Iterator[str]:
    """Yield one line per pair of judges: the difference of their agreement with people on the same rows."""
    against_others = [measure for measure in checked.report.measures if measure.cell.get("against")]
    measures = {(measure.judge, measure.cell["against"], measure.name): measure for measure in against_others}
    for (judge, against, name), measure in measures.items():
        if not name.endswith("-difference") or measure.estimate is None:
            continue
        # The p-value of a difference is a measure of its own.
        p = measures.get((judge, against, f"{name}-p"))
        value = format_number(measure.estimate, _DIGITS, proportion=False, signed=True)
        tested = f", {state_p(p.estimate)}" if p is not None else ""
        names = f"{clean_text(judge, _NAME)} - {clean_text(against, _NAME)}"
        yield f"  {names}: {value} {format_interval(measure, _DIGITS)}{tested} ({format_items(measure)})"


def _sizes(checked: Checked) -> str:
    (summary,) = checked.report.tasks
    rows = len(checked.table.rows)
    unlabelled = summary.items - summary.labelled
    blank = f", {unlabelled:,} of them without a label by people (not scored)" if unlabelled else ""
    return f"{count_noun(rows, 'row')}, {count_noun(summary.items, 'item')}{blank}"


def _flags(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield what is wrong with the numbers of each judge."""
    if answers and "constant-gold" in answers[0].agreement.flags:
        yield "All labels by people are the same; a judge that always gives that label scores 1.00."
    for answer in answers:
        name, flags = clean_text(answer.judge, _NAME), answer.agreement.flags
        if "constant-verdicts" in flags:
            yield f"{name} gives the same label throughout."
        if {"few-items", "one-item"} & set(flags):
            yield f"{name}: few items; the interval is wide."
        elif "few-events" in flags:
            yield f"{name}: only a few items vary; actual coverage may differ from 95%."


def _bullets(lines: Sequence[str], most: int, where: str) -> Iterator[str]:
    yield from (f"- {clean_text(line, _LINE)}" for line in lines[:most])
    if len(lines) > most:
        yield f"- and {count_noun(len(lines) - most, 'more', 'more')} ({where})"
