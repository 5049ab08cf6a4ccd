"""Guess which column of a table is what, from its name and its texts: an item's parts, labels, and verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError
from jrh.text import clean_text

from jrh_interchange.row_files import check_columns
from jrh_interchange.table_rows import Row, label_text

COLUMN_NAMES: Final = {
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
_PEOPLE: Final = "human gold people annotator expert human_label gold_label human_score"
VERDICT_NAMES: Final = {
    "gold": f"{_PEOPLE} label reference truth ground_truth score rating grade",
    "item": COLUMN_NAMES["id"],
    "repeat": "repeat run rerun attempt iteration replicate",
    "group": COLUMN_NAMES["group"],
    "judge": "model judge_model judge_name",
    "label": "verdict prediction judgement decision",
}
"""Target of a table of verdicts -> names of columns, the likeliest first."""
_LIKE_VERDICTS: Final = {
    "gold": r"(.*_)?(human|gold|people|annotator|expert|rater)s?(_.*|\d+)?",
    "item": r"(?!prompt_|document_|doc_).*_id",
}
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
PAIR: Final = ("response_a", "response_b")
"""Targets of a comparison."""
_OTHER_HALF: Final = {"a": "b", "1": "2", "first": "second", "left": "right", "chosen": "rejected"}
_WINNERS: Final = {
    "A": "a 1 first left model_a model_1 assistant_a response_a response_1 answer_1 output_1 chosen",
    "B": "b 2 second right model_b model_2 assistant_b response_b response_2 answer_2 output_2 rejected",
    "tie": "tie 0 both equal same draw neither tie_bothbad bothbad",
}
"""Label of a comparison -> what people write for it."""
NO_LABEL: Final = ("n/a", "#n/a", "na", "nan", "null", "-")
"""Texts that mean a missing label, in lower case."""
_JUDGED: Final = ("response", "transcript", PAIR[0])
"""What a judge reads: one of them is needed."""
_SHORT: Final = 40
"""Characters of a label."""
_MOST_LABELS: Final = 50
_FEW_LABELS: Final = 12
"""Distinct texts of a column that is taken for the label whatever its name."""


@frozen(kw_only=True)
class TextColumn:
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
        return [text for text in self.texts if text.strip() and text.strip().lower() not in NO_LABEL]

    def is_label(self, most: int = _MOST_LABELS, least: int = 1) -> bool:
        """Tell whether the texts are few and short."""
        distinct = set(self.contents)
        return least <= len(distinct) <= most and max(map(len, distinct)) <= _SHORT and not self.is_decimal()

    def is_decimal(self) -> bool:
        """Tell whether the texts are numbers and not all of them whole."""
        # A comma before one or two digits is a decimal comma; before three it may separate thousands.
        numbers = [re.fullmatch(r"-?\d*(\.?)\d+|-?\d+(,)\d{1,2}", text.strip()) for text in self.contents]
        return all(numbers) and any(number[1] or number[2] for number in numbers if number)

    def names_rows(self) -> bool:
        """Tell whether every row has a text of its own."""
        return len(self.contents) == len(self.texts) == len(set(self.texts))


def read_columns(rows: Sequence[Row]) -> Sequence[TextColumn]:
    """Return the columns of a table, by first appearance."""
    names = dict.fromkeys(name for row in rows for name in row.values)
    texts = {name: [label_text(row.values.get(name)) or row[name] for row in rows] for name in names}
    return [TextColumn(name=name, texts=texts[name]) for name in names]


def choose_columns(known: Sequence[TextColumn], columns: Mapping[str, str]) -> dict[str, TextColumn]:
    """Return the column of each target of an item that has one.

    Args:
        known: the columns of the table.
        columns: target -> column, as the user said, empty for none; the others are guessed.

    Raises:
        JrhError: the table lacks a column.
    """
    by_name = {column.name: column for column in known}
    check_columns([(f"--column {target}={name}", name) for target, name in columns.items() if name], [*by_name])
    chosen = {target: by_name[name] for target, name in columns.items() if name}
    fits: Mapping[str, Callable[[TextColumn], bool]] = {
        "id": TextColumn.names_rows,
        "label": lambda column: column.is_label() or column.is_decimal(),
    }
    for target, names in COLUMN_NAMES.items():
        # A comparison has no single response, and who names a single response has no comparison.
        if (
            target in columns
            or (target == "response" and PAIR[0] in chosen)
            or (target in PAIR and "response" in chosen)
        ):
            continue
        left = [column for column in known if column not in chosen.values() and fits.get(target, bool)(column)]
        column = _find_column(left, names, _LIKE.get(target, ""))
        if column is not None:
            chosen[target] = column
    return _by_content(known, chosen, columns)


def _find_column(columns: Sequence[TextColumn], names: str, like: str) -> TextColumn | None:
    """Return the column with the likeliest name, or else the first whose name looks like it."""
    named = (column for name in names.split() for column in columns if column.key == name)
    return next(named, None) or next((column for column in columns if re.fullmatch(like, column.key)), None)


def _by_content(
    known: Sequence[TextColumn], chosen: dict[str, TextColumn], columns: Mapping[str, str]
) -> dict[str, TextColumn]:
    """Add a response and a label whose columns have unusual names."""
    left = [column for column in known if column.name not in {used.name for used in chosen.values()}]
    if not any(target in chosen for target in (*_JUDGED, PAIR[1])):
        texts = [
            column
            for column in left
            if column.contents and not column.is_label() and len(max(column.contents, key=len)) > _SHORT
        ]
        if texts:
            # The text that is judged is the longest: questions are shorter than answers.
            chosen["response"] = max(texts, key=lambda column: sum(map(len, column.texts)))
            left.remove(chosen["response"])
    labels = like_labels(left)
    if PAIR[0] in chosen:
        labels = [column for column in labels if all(winner_meant(text, chosen) for text in column.contents)]
    if "label" not in chosen and "label" not in columns and len(labels) == 1:
        chosen["label"] = labels[0]
    return chosen


def like_labels(columns: Sequence[TextColumn]) -> Sequence[TextColumn]:
    """Return the columns with few and short texts that repeat: texts that never do are names of rows."""
    return [column for column in columns if column.is_label(min(_FEW_LABELS, len(column.contents) - 1), least=2)]


def choose_verdict_columns(
    known: Sequence[TextColumn], columns: Mapping[str, str]
) -> tuple[dict[str, TextColumn], list[TextColumn]]:
    """Return the column of each target of a table of verdicts that has one, and the columns with verdicts.

    A column has verdicts if most of its texts are labels that people gave.

    Args:
        known: the columns of the table.
        columns: target of `VERDICT_NAMES` -> column, as the user said; the others are guessed.
    """
    chosen = {target: next(column for column in known if column.name == name) for target, name in columns.items()}
    for target in ("gold", "item", "repeat", "group"):
        if target not in chosen:
            left = [column for column in known if column not in chosen.values()]
            if target == "gold":
                left = [column for column in left if column.is_label()]
            column = _find_column(left, VERDICT_NAMES[target], _LIKE_VERDICTS.get(target, ""))
            if column is not None:
                chosen[target] = column
    labels = {_bare(text) for text in chosen["gold"].contents} if "gold" in chosen else set()
    left = [column for column in known if column not in chosen.values()]
    # A second annotator is no judge.
    left = [column for column in left if not re.fullmatch(_LIKE_VERDICTS["gold"], column.key)]
    return chosen, [column for column in left if _share(column, labels) > 1 / 2]


def _share(column: TextColumn, labels: Collection[str]) -> float:
    return sum(_bare(text) in labels for text in column.contents) / max(len(column.contents), 1)


def _bare(text: str) -> str:
    # 4.0 is 4, as tables with empty cells write it.
    return text.strip().casefold().removesuffix(".0")


def target_meant(name: str, targets: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the target that an unknown name means, such as `label` for `gold`; empty if none is likely.

    Args:
        name: what the user wrote.
        targets: those that there are.
        names: target -> names that columns for it have, such as `COLUMN_NAMES`.
    """
    same = [target for target, others in names.items() if target in targets and name.lower() in others.split()]
    return next(iter([*same, *get_close_matches(name, targets, n=1)]), "")


def check_judged(
    path: Path, known: Sequence[TextColumn], chosen: Mapping[str, TextColumn], columns: Mapping[str, str]
) -> None:
    """Refuse a table without a text to judge, and half a pair: a single response is another question."""
    halves = [target for target in PAIR if target in chosen]
    if len(halves) == 1:
        (half,), (missing,) = halves, [target for target in PAIR if target not in chosen]
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


def winner_meant(text: str, chosen: Mapping[str, TextColumn]) -> str | None:
    """Return the label of a comparison that a text means."""
    key = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    named = {chosen[PAIR[0]].key: "A", chosen[PAIR[1]].key: "B"}
    return named.get(key) or next((label for label, texts in _WINNERS.items() if key in texts.split()), None)
