"""The `data:` and `task:` of a suite for a table that was never described, guessed from names and contents."""

from __future__ import annotations

import codecs
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from attrs import fields_dict, frozen
from jrh import JrhError, Mode, Scale, ScaleKind
from jrh.text import clean_text, count_noun
from jrh_interchange import Problems, Row, guess_delimiter, infer_scale, label_text, table_rows

from jrh_sources.items import AUTHORS, STANDARD, did_you_mean, round_label
from jrh_sources.options import CsvOptions, JsonlOptions, ParquetOptions, XlsxOptions

_ROWS: Final = 20_000
"""Rows that are read; the run reads and checks all."""
_NAMES: Final = {
    "id": "id item_id example_id uid uuid key qid idx index nr row",
    "response_a": "response_a",
    "response_b": "response_b",
    "transcript": "transcript messages conversation trace",
    "response": "response answer output completion essay full_text generation model_output prediction reply text "
    "assistant",
    "request": "request prompt question instruction query assignment input user",
    "label": "label gold gold_label human human_label human_score score rating grade winner preference correct "
    "is_correct verdict pass",
    "group": "group prompt_id document_id doc_id topic",
    "stratum": "stratum category subset domain difficulty prompt_name",
}
"""Target -> names of columns, the likeliest first; targets in the order in which they choose."""
_TEXT: Final = "(?:response|answer|output|completion|generation|reply|text)"
_WHO: Final = "(?:(?:model|assistant|system|bot)_?)?"
_LIKE: Final = {
    "id": r".*_id",
    "label": r".*_(label|score|rating|grade)",
    "response": r"response_.*|.*_(response|answer)",
    "response_a": rf"{_WHO}(a|1|first)_{_TEXT}|{_TEXT}_?{_WHO}(a|1|first)|chosen(_{_TEXT})?|{_TEXT}_chosen",
    "response_b": rf"{_WHO}(b|2|second)_{_TEXT}|{_TEXT}_?{_WHO}(b|2|second)|rejected(_{_TEXT})?|{_TEXT}_rejected",
}
"""Target -> what further names look like."""
_PAIR: Final = ("response_a", "response_b")
_OTHER_HALF: Final = {"a": "b", "1": "2", "first": "second", "left": "right", "chosen": "rejected"}
_WINNERS: Final = {
    "A": "a 1 first left model_a model_1 assistant_a response_a response_1 answer_1 output_1 chosen",
    "B": "b 2 second right model_b model_2 assistant_b response_b response_2 answer_2 output_2 rejected",
    "tie": "tie 0 both equal same draw neither tie_bothbad bothbad",
}
"""Label of a comparison -> what people write for it."""
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
_MISSING: Final = ("n/a", "#n/a", "na", "nan", "null", "-")
"""Texts that mean a missing label, in lower case."""
_JUDGED: Final = ("response", "transcript", _PAIR[0])
"""What a judge reads: one of them is needed."""
_NAMED: Final = 20
"""Columns not used that a sentence names."""
_SHORT: Final = 40
"""Characters of a label."""
_MOST_LABELS: Final = 50
_MOST_SHOWN: Final = 12
"""Labels of a scale that a sentence lists."""
_FEW_LABELS: Final = 12
"""Distinct texts of a column that is taken for the label whatever its name."""
_FEWEST_LEVELS: Final = 3
"""Levels to which decimals are rounded: with fewer, rounding would take away what they say."""
_KINDS: Final = {".tsv": "csv"}
_OPTIONS: Final = {"csv": CsvOptions, "jsonl": JsonlOptions, "parquet": ParquetOptions, "xlsx": XlsxOptions}
_NOT_SETTINGS: Final = ("path", "columns", "labels", "whole_labels")


@frozen(kw_only=True)
class _Column:
    """A column, with its texts in the order of the rows."""

    name: str
    texts: Sequence[str]

    @property
    def key(self) -> str:
        """Return the name in lower case with underscores."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")

    @property
    def contents(self) -> Sequence[str]:
        """Return the texts that are not blank and do not stand for nothing."""
        return [text for text in self.texts if text.strip() and text.strip().lower() not in _MISSING]

    def is_label(self, most: int = _MOST_LABELS, least: int = 1) -> bool:
        """Tell whether the texts are few and short."""
        distinct = set(self.contents)
        return least <= len(distinct) <= most and max(map(len, distinct)) <= _SHORT and not self.is_decimal()

    def is_decimal(self) -> bool:
        """Tell whether the texts are numbers and not all of them whole."""
        numbers = [re.fullmatch(r"-?\d*(\.?)\d+", text.strip()) for text in self.contents]
        return all(numbers) and any(number[1] for number in numbers if number)

    def names_rows(self) -> bool:
        """Tell whether every row has a text of its own."""
        return len(self.contents) == len(self.texts) == len(set(self.texts))

    def repeats(self) -> str:
        """Say why it does not name the rows."""
        ((text, count),) = Counter(self.texts).most_common(1)
        # Every text once and not empty: some stand for nothing, such as 'null'.
        empty = count == 1 or not text.strip()
        why = "is empty in some rows" if empty else f"repeats ('{clean_text(text)}' {count} times)"
        return f"{clean_text(self.name)} {why}: rows are numbered."


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
    known = _read_columns(rows)
    if not known:
        raise JrhError(f"'{path}' has no rows")
    chosen = _choose_columns(known, columns)
    said = [*_columns_said(rows, known, chosen, columns), *remarks]
    try:
        _check_judged(path, known, chosen, columns)
        mode = Mode.PAIRWISE if _PAIR[0] in chosen else Mode.TRANSCRIPT if "transcript" in chosen else Mode.POINTWISE
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
            close = get_close_matches(target, few, n=1)
            hint = f"did you mean --column {close[0]}={name}? " if close else ""
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


def _read_columns(rows: Sequence[Row]) -> Sequence[_Column]:
    names = dict.fromkeys(name for row in rows for name in row.values)
    return [_Column(name=name, texts=[label_text(row.values.get(name)) or row[name] for row in rows]) for name in names]


def _choose_columns(known: Sequence[_Column], columns: Mapping[str, str]) -> dict[str, _Column]:
    """Return the column of each target that has one."""
    by_name = {column.name: column for column in known}
    for target, name in columns.items():
        if name and name not in by_name:
            raise JrhError(f"no column '{name}' (--column {target}={name}){did_you_mean(name, list(by_name))}")
    chosen = {target: by_name[name] for target, name in columns.items() if name}
    fits: Mapping[str, Callable[[_Column], bool]] = {
        "id": _Column.names_rows,
        "label": lambda column: column.is_label() or column.is_decimal(),
    }
    for target, names in _NAMES.items():
        # A comparison has no single response, and who names a single response has no comparison.
        if (
            target in columns
            or (target == "response" and _PAIR[0] in chosen)
            or (target in _PAIR and "response" in chosen)
        ):
            continue
        taken = [column.name for column in chosen.values()]
        left = [column for column in known if column.name not in taken and fits.get(target, bool)(column)]
        like = _LIKE.get(target, "")
        column = next((column for name in names.split() for column in left if column.key == name), None)
        column = column or next((column for column in left if re.fullmatch(like, column.key)), None)
        if column is not None:
            chosen[target] = column
    return _by_content(known, chosen, columns)


def _by_content(known: Sequence[_Column], chosen: dict[str, _Column], columns: Mapping[str, str]) -> dict[str, _Column]:
    """Add a response and a label whose columns have unusual names."""
    left = [column for column in known if column.name not in {used.name for used in chosen.values()}]
    if not any(target in chosen for target in (*_JUDGED, _PAIR[1])):
        texts = [
            column
            for column in left
            if column.contents and not column.is_label() and len(max(column.contents, key=len)) > _SHORT
        ]
        if texts:
            # The text that is judged is the longest: questions are shorter than answers.
            chosen["response"] = max(texts, key=lambda column: sum(map(len, column.texts)))
            left.remove(chosen["response"])
    labels = _like_labels(left)
    if _PAIR[0] in chosen:
        labels = [column for column in labels if all(_winner(text, chosen) for text in column.contents)]
    if "label" not in chosen and "label" not in columns and len(labels) == 1:
        chosen["label"] = labels[0]
    return chosen


def _like_labels(columns: Sequence[_Column]) -> Sequence[_Column]:
    # Texts that never repeat are names of rows.
    return [column for column in columns if column.is_label(min(_FEW_LABELS, len(column.contents) - 1), least=2)]


def _check_judged(
    path: Path, known: Sequence[_Column], chosen: Mapping[str, _Column], columns: Mapping[str, str]
) -> None:
    """Refuse a table without a text to judge, and half a pair: a single response is another question."""
    halves = [target for target in _PAIR if target in chosen]
    if len(halves) == 1:
        (half,), (missing,) = halves, [target for target in _PAIR if target not in chosen]
        name = clean_text(chosen[half].name)
        single = "" if half in columns else f', or --column "response={name}" if it is a single response'
        raise JrhError(f"{path.name}: {half} = {name}, but {missing} is missing: --column {missing}=NAME{single}")
    response = chosen.get("response")
    if response is not None and "response" not in columns:
        words = [*_OTHER_HALF.items(), *((second, first) for first, second in _OTHER_HALF.items())]
        keys = [re.sub(rf"(?<![a-z0-9]){first}(?![a-z0-9])", second, response.key) for first, second in words]
        other = next((column for column in known if column.key in keys and column is not response), None)
        if other is not None:
            one, two = sorted(clean_text(column.name) for column in (response, other))
            raise JrhError(
                f'{path.name}: {one} and {two} look like a pair: --column "response_a={one}" --column '
                f'"response_b={two}", or --column response=NAME for a single response'
            )
    if not any(target in chosen for target in _JUDGED):
        names = ", ".join(clean_text(column.name) for column in known)
        raise JrhError(
            f"{path.name}: no column looks like a response; say which: --column response=NAME. Columns: {names}"
        )


def _winner(text: str, chosen: Mapping[str, _Column]) -> str | None:
    """Return the label of a comparison that a text means."""
    key = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    named = {chosen[_PAIR[0]].key: "A", chosen[_PAIR[1]].key: "B"}
    return named.get(key) or next((label for label, texts in _WINNERS.items() if key in texts.split()), None)


def _read_labels(
    path: Path, chosen: Mapping[str, _Column], mode: Mode, written: str | None, given: Mapping[str, str]
) -> _Labels:
    column = chosen.get("label")
    texts = list(dict.fromkeys(column.texts)) if column else []
    meant: dict[str, str | None] = {text: None for text in texts if text.strip().lower() in _MISSING}
    said = [f"No label: {', '.join(map(clean_text, meant))}."] if meant else []
    distinct = sorted({text for text in texts if text.strip()} - set(meant))
    scale = infer_scale(written, (), Mode.POINTWISE, path.name) if written is not None else None
    whole = bool(column and column.is_decimal() and mode is not Mode.PAIRWISE)
    if whole and column:
        rounded = {round_label(text) for text in distinct}
        low, high = min(distinct, key=float), max(distinct, key=float)
        if len(rounded) < _FEWEST_LEVELS:
            raise JrhError(
                f"{path.name}: '{clean_text(column.name)}' has decimals from {low} to {high}, and a scale has levels. "
                "Multiply them in the file (by 10 for --scale 0-10), or go on without labels: --column label="
            )
        said.append(f"Labels are decimals from {low} to {high}: rounded to whole numbers.")
        distinct = sorted(rounded)
    if mode is Mode.PAIRWISE:
        winners = {text: None if text in given else _winner(text, chosen) for text in distinct}
        meant |= {text: label for text, label in winners.items() if label and label != text}
        if column is None and chosen[_PAIR[0]].key.startswith("chosen"):
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
        tied = "tie" in labels or (written is not None and len(written.labels) > len(_PAIR))
        return Scale.of_pairs(tie="tie" if tied else None)
    if written is not None:
        return written
    if len(labels) <= 1:
        found = f"all labels are {clean_text(labels[0])}" if labels else "no column looks like labels by people"
        raise JrhError(f"{path.name}: cannot infer the scale: {found}; add --scale 1-6 or --scale YES,NO")
    # 0 and 1 are a code of two labels: no order follows from them.
    positive = [label for label in labels if label.lower() in _POSITIVE]
    if len(labels) == len(_PAIR) and (positive or labels == ["0", "1"]):
        return Scale.of_labels(*sorted(labels, key=lambda label: label not in positive))
    return infer_scale(None, labels, mode, path.name)


def _suite_part(
    kind: str,
    written: str,
    known: Sequence[_Column],
    chosen: Mapping[str, _Column],
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
        ]
    )


def _instruction(scale: Scale, mode: Mode, asked: bool) -> str:
    if mode is Mode.PAIRWISE:
        return f"Decide which response {'answers the request' if asked else 'is'} better."
    whole = "transcript" if mode is Mode.TRANSCRIPT else "response to the request" if asked else "response"
    if scale.kind is ScaleKind.ORDINAL:
        return f"Grade the {whole} from {scale.labels[0]} (worst) to {scale.labels[-1]} (best)."
    return f"Decide which label fits the {whole}."


def _columns_said(
    rows: Sequence[Row], known: Sequence[_Column], chosen: Mapping[str, _Column], columns: Mapping[str, str]
) -> Sequence[str]:
    uses = ", ".join(f"{target} = {clean_text(column.name)}" for target, column in chosen.items())
    more = " (the first ones)" if len(rows) == _ROWS else ""
    said = [f"Read {count_noun(len(rows), 'row')}{more}: {uses}."]
    unused = [column for column in known if column.name not in {used.name for used in chosen.values()}]
    shown = [clean_text(column.name) for column in unused[:_NAMED]]
    shown += [f"{len(unused) - _NAMED:,} more"] if len(unused) > _NAMED else []
    said += [f"Not used: {', '.join(shown)}."] if unused else []
    if "label" not in chosen and "label" not in columns:
        like = _like_labels(unused)
        names = " or ".join(clean_text(column.name) for column in like)
        several = f" Perhaps {names}? Name it: --column label=NAME." if like else ""
        said.append("No labels by people: no agreement with people can be measured." + several)
    if "id" not in chosen:
        ids = [column for column in unused if column.key in _NAMES["id"].split()]
        said.append(ids[0].repeats() if ids else "No id column: rows are numbered.")
    return said


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
