"""Read paired-prompt files: rows with two prompts about one text become items that carry their prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from attrs import Factory, frozen
from jrh.errors import JrhError
from jrh.values.items import Item, Mode, Task
from jrh.values.json_values import Json
from jrh.values.scales import Scale

from jrh_interchange.prompt_templates import literal, requests_of, template_of
from jrh_interchange.row_files import Mistakes, Row, read_rows
from jrh_interchange.scale_inference import infer_scale

PAIR_COLUMNS: Final = (
    "pair_id",
    "task_type",
    "prompt_a",
    "prompt_b",
    "response_being_judged",
    "ground_truth_label",
)
"""The columns of a paired-prompt file."""
_TWO: Final = re.compile(r"\s*A:\s*(?P<a>.*?)\s*\|\s*B:\s*(?P<b>.*?)\s*", re.DOTALL)
_SCORE: Final = re.compile(r"score[_ -]?(\d+)", re.IGNORECASE)
_MOST_LEVELS: Final = 100


@frozen(kw_only=True)
class PairedPrompts:
    """Read the items of a paired-prompt file: one per judged text, however many rows repeat it."""

    path: Path
    shown: str
    """The path as the suite writes it."""
    task: Task
    task_type: str | None = None
    """The task type to read; None where the file has one only."""
    labels: Mapping[str, str] = Factory(dict)
    """Label in the file -> label of the scale."""
    columns: Mapping[str, str] = Factory(dict)
    """Standard column -> column of this file, where they differ."""

    def read(self) -> Sequence[Item]:
        """Return the items in the order in which their texts first appear.

        Raises:
            SuiteError: lists all mistakes of the file, each with its line.
            JrhError: the file cannot be read, or holds several task types and none was chosen.
        """
        rows = read_rows(self.path, self.shown, self.columns, PAIR_COLUMNS)
        mistakes = Mistakes(self.shown)
        chosen = _of_type(rows, self.task_type, self.shown)
        groups = _by_response(chosen)
        judged = [self._judged(members[0], mistakes) for members in groups]
        for members, texts in zip(groups, judged, strict=True):
            _check_prompts(members, texts, mistakes)
        golds = [self._gold(members, mistakes) for members in groups]
        mistakes.raise_any()
        prompts = [_prompts_of(members) for members in groups]
        requests = requests_of(prompts, [tuple(texts.values()) for texts in judged])
        names: dict[str, str] = {}
        return [
            self._item(members, {"request": request, **texts}, gold, names)
            for members, texts, request, gold in zip(groups, judged, requests, golds, strict=True)
        ]

    def _judged(self, row: Row, mistakes: Mistakes) -> dict[str, str]:
        try:
            return judged_fields(row["response_being_judged"], self.task.mode)
        except JrhError as error:
            mistakes.add(row.line, str(error))
            return {}

    def _gold(self, rows: Sequence[Row], mistakes: Mistakes) -> str | None:
        labels = dict.fromkeys(row["ground_truth_label"] for row in rows)
        if len(labels) > 1:
            mistakes.add(rows[0].line, f"the same text has several labels in the file: {', '.join(labels)}")
        label = label_of(next(iter(labels)), self.task.scale, self.labels)
        if label is not None and label not in self.task.scale:
            known = ", ".join(self.task.scale.labels)
            mistakes.add(
                rows[0].line,
                f"the label '{label}' is not on the scale {known}; map it with `labels: {{{label}: ...}}`",
            )
        return label

    def _item(self, rows: Sequence[Row], fields: Mapping[str, str], gold: str | None, names: dict[str, str]) -> Item:
        sources = {prompt: _source(prompt, fields) for prompt in _prompts_of(rows)}
        for source in sources.values():
            names.setdefault(source, f"prompt-{len(names) + 1}")
        own = {prompt: names[source] for prompt, source in sources.items()}
        pairs: dict[frozenset[str], list[Json]] = {}
        for row in rows:  # in the order of the row: JudgeSense's kappa tells prompt_a from prompt_b
            pair = own[row["prompt_a"]], own[row["prompt_b"]]
            pairs.setdefault(frozenset(pair), list(pair))
        metadata: dict[str, Json] = {
            "rows": len(rows),
            "pair_ids": [row["pair_id"] for row in rows],
            "pairs": list(pairs.values()),
            "prompts": {own[prompt]: source for prompt, source in sources.items()},
        }
        return Item(
            id=rows[0]["pair_id"] or f"row-{rows[0].line}",
            fields=dict(fields),
            gold=gold,
            metadata=metadata,
            origin=f"{self.shown}:{rows[0].line}",
        )


def _of_type(rows: Sequence[Row], task_type: str | None, shown: str) -> list[Row]:
    """Return the rows of a task type; raise `JrhError` where there is none, or there are several to choose from."""
    types = ", ".join(dict.fromkeys(row["task_type"] for row in rows))
    if task_type is None:
        if "," in types:
            raise JrhError(f"{shown}: the file has several task types ({types}); choose one with `task_type: ...`")
        return list(rows)
    found = [row for row in rows if row["task_type"] == task_type]
    if not found:
        raise JrhError(f"{shown}: no row has the task type '{task_type}'; available: {types}")
    return found


def _by_response(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each text that is judged, in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["response_being_judged"], []).append(row)
    return list(groups.values())


def judged_fields(text: str, mode: Mode) -> dict[str, str]:
    """Return what is judged as fields; two options are written `A: ... | B: ...`.

    Raises:
        JrhError: the text is empty, or a pairwise task finds no two options in it.
    """
    if not text.strip():
        raise JrhError("`response_being_judged` is empty")
    if mode is not Mode.PAIRWISE:
        return {mode.judged_fields[0]: text}
    found = _TWO.fullmatch(text)
    if found is None or not (found["a"] and found["b"]):
        raise JrhError("a pairwise task needs two responses, `A: ... | B: ...`; this row has one")
    return {"response_a": found["a"], "response_b": found["b"]}


def label_of(text: str, scale: Scale, labels: Mapping[str, str]) -> str | None:
    """Return the scale's label for one of the file; None where there is none; the text itself where nothing fits."""
    bare = text.strip()
    if not bare:
        return None
    if bare in labels:
        return labels[bare]
    score = _SCORE.fullmatch(bare)
    if score is not None and score[1] in scale:
        return score[1]
    return scale.match(bare) or bare


def paired_task(
    rows: Sequence[Row], scale: str | None, path: Path, labels: Mapping[str, str] = MappingProxyType({})
) -> Task:
    """Return the task for rows of one task type; its scale is the given one, or inferred from the mapped labels."""
    written = rows[0]["response_being_judged"].lstrip()
    mode = Mode.PAIRWISE if written.startswith("A:") and "| B:" in written else Mode.POINTWISE
    golds = [label_of(row["ground_truth_label"], Scale.of_levels(0, _MOST_LEVELS), labels) for row in rows]
    return Task(name=rows[0]["task_type"] or path.stem, scale=infer_scale(scale, golds, mode, path.name), mode=mode)


def _prompts_of(rows: Sequence[Row]) -> list[str]:
    """Return the distinct prompts of some rows, in order of first appearance."""
    return list(dict.fromkeys(row[column] for row in rows for column in ("prompt_a", "prompt_b")))


def _check_prompts(rows: Sequence[Row], texts: Mapping[str, str], mistakes: Mistakes) -> None:
    for row in rows:
        for column in ("prompt_a", "prompt_b"):
            unseen = [name for name, text in texts.items() if text not in row[column]]
            if unseen:
                mistakes.add(
                    row.line, f"`{column}` does not show {' and '.join(unseen)}, which it should ask the judge about"
                )
        if row["prompt_a"] == row["prompt_b"]:
            mistakes.add(row.line, "`prompt_a` and `prompt_b` have the same text, so the pair measures nothing")


def _source(prompt: str, fields: Mapping[str, str]) -> str:
    """Return the template of a prompt: with the request if it is there, else without, else the prompt as it is."""
    shown = {name: text for name, text in fields.items() if text}
    judged = {name: text for name, text in shown.items() if name != "request"}
    return template_of(prompt, shown) or template_of(prompt, judged) or literal(prompt)
