"""The `data:` and `task:` of a suite for a table that was never described, guessed from names and contents."""

from __future__ import annotations

import codecs
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from attrs import fields_dict, frozen
from jrh import JrhError, Mode, Scale, ScaleKind
from jrh.text import clean_text, count_noun
from jrh_interchange import (
    COLUMN_NAMES,
    NO_LABEL,
    PAIR,
    Problems,
    Row,
    TextColumn,
    check_judged,
    choose_columns,
    guess_delimiter,
    infer_scale,
    like_labels,
    read_columns,
    sheet_names,
    table_rows,
    target_meant,
    winner_meant,
)

from jrh_sources.items import AUTHORS, STANDARD, decimal_number, round_label
from jrh_sources.options import CsvOptions, JsonlOptions, ParquetOptions, XlsxOptions

_ROWS: Final = 20_000
"""Rows that are read; the run reads and checks all."""
_POSITIVE: Final = (
    "true",
    "yes",
    "ja",
    "correct",
    "right",
    "accurate",
    "pass",
    "passed",
    "1",
    "good",
    "ok",
    "positive",
)
_NAMED: Final = 20
"""Columns not used that a sentence names."""
_MOST_SHOWN: Final = 12
"""Labels of a scale that a sentence lists."""
_FEW_GROUPS: Final = 30
"""With fewer clusters, intervals are wide and their coverage may be off."""
_FEWEST_LEVELS: Final = 3
"""Levels to which decimals are rounded: with fewer, rounding would take away what they say."""
_KINDS: Final = {".tsv": "csv"}
_OPTIONS: Final = {"csv": CsvOptions, "jsonl": JsonlOptions, "parquet": ParquetOptions, "xlsx": XlsxOptions}
_NOT_SETTINGS: Final = ("path", "columns", "labels", "whole_labels")


@frozen(kw_only=True)
class _Labels:
    """What the texts of the label column mean."""

    meant: Mapping[str, str | None]
    """Text -> label, where they differ; None: no label."""
    scale: Scale
    whole: bool = False
    sentences: Sequence[str] = ()


def propose_suite(
    path: Path,
    written: str,
    columns: Mapping[str, str],
    scale: str | None,
    labels: Mapping[str, str] = MappingProxyType({}),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, Sequence[str]]:
    """Guess the `data:` and `task:` of a suite for a table.

    Args:
        path: the file.
        written: its path as the suite writes it.
        columns: target -> column, as the user said, empty for none; the others are guessed.
        scale: `1-6`, `YES,NO` or `ordinal: poor, good`; None: from the labels.
        labels: text of a label -> label of the scale, empty for none; the others are guessed.
        settings: options of the data source, such as `encoding`; the others are guessed.

    Returns:
        The part of the suite, and sentences that say what was guessed.

    Raises:
        JrhError: the file cannot be read, lacks a column, or has no text to judge.
    """
    suffix = path.suffix.lower()
    kind = _KINDS.get(suffix, suffix.removeprefix("."))
    _check_targets(columns, settings, kind)
    problems = Problems(path.name)
    try:
        guessed, remarks = _guess_settings(path, kind, settings)
        rows = list(islice(table_rows(path, kind, problems, **guessed), _ROWS))
    except (OSError, LookupError) as error:
        raise JrhError(f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}") from error
    problems.raise_any()
    known = read_columns(rows)
    if not known:
        raise JrhError(f"'{path}' has no rows")
    chosen = choose_columns(known, columns)
    said = [*_columns_said(rows, known, chosen, columns), *remarks]
    said += _sheets_said(path, settings) if kind == "xlsx" else []
    try:
        check_judged(path, known, chosen, columns)
        mode = Mode.PAIRWISE if PAIR[0] in chosen else Mode.TRANSCRIPT if "transcript" in chosen else Mode.POINTWISE
        meaning = _read_labels(path, chosen, mode, scale, labels)
    except JrhError as error:
        # Where it stops, the guess shows why.
        raise JrhError("\n".join([str(error), *said])) from None
    return _suite_part(kind, written, known, chosen, guessed, meaning, mode), [*said, *meaning.sentences]


def _check_targets(columns: Mapping[str, str], settings: Mapping[str, str], kind: str) -> None:
    targets = [*STANDARD, *AUTHORS[:3]]
    for target, name in columns.items():
        if target not in (*STANDARD, *AUTHORS):
            few = [target for target in targets if not re.fullmatch("response_[c-z]", target)]
            meant = target_meant(target, few, COLUMN_NAMES)
            hint = f"did you mean --column {meant}={name}? " if meant else ""
            raise JrhError(f"--column: no target '{target}'; {hint}Targets: {', '.join(few)}")
    known = [name for name in fields_dict(_OPTIONS[kind]) if name not in _NOT_SETTINGS]
    for name in settings:
        if name not in known:
            raise JrhError(
                f"--option: no option '{name}' of the data source '{kind}'; it has {', '.join(known) or 'none'}"
            )


def _guess_settings(path: Path, kind: str, given: Mapping[str, str]) -> tuple[dict[str, Any], Sequence[str]]:
    """Return the options of the data source that differ from their defaults, and what is to be said of them."""
    settings, said = dict(given), []
    if kind in ("csv", "jsonl") and "encoding" not in given and (encoding := _guess_encoding(path)) != "utf-8":
        settings["encoding"] = encoding
        said.append(f"The file is not UTF-8: read as {encoding}. Wrong? --option encoding=NAME.")
    if kind == "csv" and "delimiter" not in given and (delimiter := guess_delimiter(path)) != ",":
        settings["delimiter"] = delimiter
    return settings, said


def _sheets_said(path: Path, settings: Mapping[str, str]) -> Sequence[str]:
    """Name the sheet of a workbook that was read, which opened without a mistake, and the other ones."""
    names = sheet_names(path)
    used = settings.get("sheet") or names[0]
    others = [name for name in names if name != used]
    listed = ", ".join(f"'{clean_text(name)}'" for name in others[:_NAMED])
    flag = shlex.quote(f"sheet={others[0]}") if others else ""
    return [f"Read the sheet '{clean_text(used)}'. Another one ({listed})? --option {flag}."] if others else []


def _guess_encoding(path: Path) -> str:
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
    try:
        with path.open(encoding="utf-8") as text:
            while text.read(1_000_000):
                pass
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _read_labels(
    path: Path, chosen: Mapping[str, TextColumn], mode: Mode, written: str | None, given: Mapping[str, str]
) -> _Labels:
    column = chosen.get("label")
    texts = list(dict.fromkeys(column.texts)) if column else []
    meant: dict[str, str | None] = {text: None for text in texts if text.strip().lower() in NO_LABEL}
    said = [f"No label: {', '.join(map(clean_text, meant))}."] if meant else []
    distinct = sorted({text for text in texts if text.strip()} - set(meant))
    scale = infer_scale(written, (), Mode.POINTWISE, path.name) if written is not None else None
    whole = bool(column and column.is_decimal() and mode is not Mode.PAIRWISE)
    if whole and column:
        rounded = {round_label(text) for text in distinct}
        low, high = (end(distinct, key=decimal_number) for end in (min, max))
        if len(rounded) < _FEWEST_LEVELS:
            raise JrhError(
                f"{path.name}: '{clean_text(column.name)}' has decimals from {low} to {high}, and a scale has levels. "
                "Multiply them in the file (by 10 for --scale 0-10), or go on without labels: --column label="
            )
        said.append(f"Labels are decimals from {low} to {high}: rounded to whole numbers.")
        distinct = sorted(rounded)
    if mode is Mode.PAIRWISE:
        winners = {text: None if text in given else winner_meant(text, chosen) for text in distinct}
        meant |= {text: label for text, label in winners.items() if label and label != text}
        if column is None and chosen[PAIR[0]].key.startswith("chosen"):
            meant[""] = "A"
            said.append("Every pair has the label A, the chosen response: a judge that always says A looks perfect.")
    elif scale is not None:
        meant |= {text: same for text in distinct if text not in scale and (same := scale.match(text))}
    meant |= {text: label or None for text, label in given.items()}
    labels = sorted({label for text in ("", *distinct) if (label := meant.get(text, text))})
    scale = _find_scale(path, labels, mode, scale)
    strange = [label for label in labels if label not in scale]
    if strange:
        raise JrhError(
            f"{path.name}: labels that are not on the scale {', '.join(scale.labels)}: "
            f"{', '.join(map(clean_text, strange[:5]))}. Say what they mean: --label {shlex.quote(strange[0])}="
            f"{scale.labels[0]}; or name another column: --column label=NAME"
        )
    mapped = [f"{clean_text(text)} = {label}" for text, label in meant.items() if text and label]
    said += [f"Labels: {', '.join(mapped)}. Wrong? --label TEXT=LABEL."] if mapped else []
    if column and len(labels) == 1:
        said.append(f"All {len(column.contents)} labels are {clean_text(labels[0])}: agreement cannot be measured.")
    if scale.positive_label:
        said.append(f"Positive label: {clean_text(scale.positive_label)}.")
    if written is None and scale.kind is ScaleKind.LABELS and len(labels) >= _FEWEST_LEVELS:
        said.append(f"Are the labels in order? --scale {shlex.quote('ordinal: ' + ', '.join(labels))}, lowest first.")
    listed = [*scale.labels] if len(scale.labels) < _MOST_SHOWN else [scale.labels[0], "...", scale.labels[-1]]
    shown = ", ".join(map(clean_text, listed))
    labelled = len(column.contents) if column else 0
    said.insert(0, f"{count_noun(labelled, 'row')} with a label; scale: {shown}." if column else f"Scale: {shown}.")
    return _Labels(meant=meant, scale=scale, whole=whole, sentences=said)


def _find_scale(path: Path, labels: Sequence[str], mode: Mode, written: Scale | None) -> Scale:
    if mode is Mode.PAIRWISE:
        tied = "tie" in labels or (written is not None and len(written.labels) > len(PAIR))
        return Scale.of_pairs(tie="tie" if tied else None)
    if written is not None:
        return written
    if len(labels) <= 1:
        found = f"all labels are {clean_text(labels[0])}" if labels else "no column looks like labels by people"
        raise JrhError(f"{path.name}: cannot infer the scale: {found}; add --scale 1-6 or --scale YES,NO")
    # 0 and 1 are a code of two labels: no order follows from them.
    positive = [label for label in labels if label.lower() in _POSITIVE]
    if len(labels) == len(PAIR) and (positive or labels == ["0", "1"]):
        return Scale.of_labels(*sorted(labels, key=lambda label: label not in positive))
    return infer_scale(None, labels, mode, path.name)


def _suite_part(
    kind: str,
    written: str,
    known: Sequence[TextColumn],
    chosen: Mapping[str, TextColumn],
    settings: Mapping[str, Any],
    meaning: _Labels,
    mode: Mode,
) -> str:
    """Write the two keys; JSON text is YAML text, whatever the names contain."""
    named: dict[str, str | None] = {target: column.name for target, column in chosen.items() if column.name != target}
    # A run takes a column of such a name for its target, also one that was not chosen.
    used = {column.name for column in chosen.values()}
    named |= {column.name: None for column in known if column.name in {*STANDARD} - {*chosen} - used}
    scale = meaning.scale
    lines = ["data:", f"  source: {kind}", f"  path: {_quote(written)}"]
    lines += [f"  {name}: {_quote(value)}" for name, value in settings.items()]
    lines += [f"  columns: {_quote(named)}"] if named else []
    lines += [f"  labels: {_quote(meaning.meant)}"] if meaning.meant else []
    lines += ["  whole_labels: true"] if meaning.whole else []
    lines += ["  # sample: {n: 40, seed: 7}   # fewer items, for a first look"]
    ends = [scale.labels[0], scale.labels[-1]]
    numbered = all(label.isdecimal() for label in scale.labels)
    what = {
        ScaleKind.ORDINAL: f"ordinal: [{', '.join(ends)}]" if numbered else f"ordinal: {_quote(list(scale.labels))}",
        ScaleKind.PAIRWISE: "pairwise: {tie: " + _quote(scale.tie) + "}" if scale.tie else "pairwise: {tie: null}",
    }.get(scale.kind, f"labels: {_quote(list(scale.labels))}")
    return "\n".join(
        [
            "# Guessed from the file: change what is wrong.",
            *lines,
            "",
            "# The question the judge answers about each item: write here what you tell your judge.",
            "task:",
            *(["  mode: transcript"] if mode is Mode.TRANSCRIPT else []),
            f"  instruction: {_quote(_instruction(scale, mode, 'request' in chosen))}",
            f"  scale: {{{what}}}",
            *_rubric_lines(scale),
        ]
    )


def _rubric_lines(scale: Scale) -> Sequence[str]:
    """Write a rubric to complete, as comments: the judge knows of the labels no more than their names."""
    if scale.kind is ScaleKind.PAIRWISE or len(scale.labels) > _MOST_SHOWN:
        return []
    return [
        "  # rubric: |   # what each label means, as people are instructed; or: {file: rubric.txt}",
        *(f"  #   {clean_text(label)}: ..." for label in scale.labels),
    ]


def _instruction(scale: Scale, mode: Mode, asked: bool) -> str:
    if mode is Mode.PAIRWISE:
        return f"Decide which response {'answers the request' if asked else 'is'} better."
    whole = "transcript" if mode is Mode.TRANSCRIPT else "response to the request" if asked else "response"
    if scale.kind is ScaleKind.ORDINAL:
        return f"Grade the {whole} from {scale.labels[0]} (worst) to {scale.labels[-1]} (best)."
    return f"Decide which label fits the {whole}."


def _columns_said(
    rows: Sequence[Row], known: Sequence[TextColumn], chosen: Mapping[str, TextColumn], columns: Mapping[str, str]
) -> Sequence[str]:
    uses = ", ".join(f"{target} = {clean_text(column.name)}" for target, column in chosen.items())
    more = " (the first ones)" if len(rows) == _ROWS else ""
    said = [f"Read {count_noun(len(rows), 'row')}{more}: {uses}."]
    unused = [column for column in known if column.name not in {used.name for used in chosen.values()}]
    shown = [clean_text(column.name) for column in unused[:_NAMED]]
    shown += [f"{len(unused) - _NAMED:,} more"] if len(unused) > _NAMED else []
    said += [f"Not used: {', '.join(shown)}."] if unused else []
    if "label" not in chosen and "label" not in columns:
        like = like_labels(unused)
        names = " or ".join(clean_text(column.name) for column in like)
        several = f" Perhaps {names}? Name it: --column label=NAME." if like else ""
        said.append(
            "No labels by people: no agreement with them can be measured. `jrh label` collects labels." + several
        )
    if "id" not in chosen:
        ids = [column for column in unused if column.key in COLUMN_NAMES["id"].split()]
        said.append(_repeats(ids[0]) if ids else "No id column: rows are numbered.")
    if "group" in chosen and "group" not in columns:
        number, name = len(set(chosen["group"].contents)), clean_text(chosen["group"].name)
        if number < _FEW_GROUPS:
            said.append(
                f"Rows of one {name} count as dependent: {count_noun(number, 'group')} make wide intervals. "
                f"Independent? --column group= --column {shlex.quote(f'stratum={name}')}"
            )
    return said


def _repeats(column: TextColumn) -> str:
    """Say why a column does not name the rows."""
    ((text, count),) = Counter(column.texts).most_common(1)
    # Every text once and not empty: some stand for nothing, such as 'null'.
    empty = count == 1 or not text.strip()
    why = "is empty in some rows" if empty else f"repeats ('{clean_text(text)}' {count} times)"
    return f"{clean_text(column.name)} {why}: rows are numbered."


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
