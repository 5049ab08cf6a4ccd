"""Read paired-prompt files: two prompts about one text become an item with fields and templates."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from attrs import Factory, frozen
from jrh import Item, JrhError, Json, Mode, Scale, Task
from jrh_authoring import render

from jrh_interchange.row_files import read_rows, rows_by
from jrh_interchange.scale_inference import infer_scale
from jrh_interchange.table_rows import Problems, Row

_SHORTEST: Final = 4
"""Minimum length of text common to all prompts of an item to count as its request."""
# Prompts quote what they ask about; the request is the text between the quotes.
_QUOTES: Final = ("''", '""', "\u2018\u2019", "\u201c\u201d", "\u00ab\u00bb")
_CODE: Final = re.compile(r"\{(?=[{%#\r]|\Z)|\r")
"""Text that Jinja2 would treat as code: a brace before another mark or at the end of the text; and a bare CR."""


def _literal(text: str) -> str:
    """Return the Jinja2 source that renders to exactly this text."""
    return _CODE.sub(lambda found: '{{ "\\r" }}' if found[0] == "\r" else '{{ "{" }}', text)


def _template_of(prompt: str, fields: Mapping[str, str]) -> str | None:
    """Return the Jinja2 source that renders the fields to the prompt, or None if the prompt lacks a field.

    Searches for longer texts first, so that a response that contains the request is not split.
    """
    parts: list[tuple[str, bool]] = [(prompt, False)]
    for name, text in sorted(fields.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if not text or not any(text in part for part, done in parts if not done):
            return None
        parts = [piece for part in parts for piece in _divide(part, name, text)]
    source = "".join(part if done else _literal(part) for part, done in parts)
    try:
        # The proof is the rendering: line ends and braces of a prompt can defeat every rule above.
        return source if render(source, fields) == prompt else None
    except JrhError:
        return None


def _divide(part: tuple[str, bool], name: str, text: str) -> list[tuple[str, bool]]:
    content, done = part
    if done or text not in content:
        return [part]
    pieces: list[tuple[str, bool]] = []
    for place, piece in enumerate(content.split(text)):
        pieces += [(f"{{{{ {name} }}}}", True)] if place else []
        pieces.append((piece, False))
    return pieces


def _requests_of(prompts: Sequence[Sequence[str]], judged: Sequence[Sequence[str]]) -> list[str]:
    """Find the request of each item: the longest text common to all its prompts, apart from the judged texts.

    Args:
        prompts: the prompts of every item.
        judged: the judged texts of every item.

    Returns:
        One text per item. All are empty if an item has none, or if items share one: it then belongs to the templates.
    """
    requests = [_common(_without(texts, shown)) for texts, shown in zip(prompts, judged, strict=True)]
    requests = [text.strip() for text in requests]
    while requests and all(len(text) > 1 and text[0] + text[-1] in _QUOTES for text in requests):
        requests = [text[1:-1].strip() for text in requests]
    if any(len(text) < _SHORTEST for text in requests) or len(dict.fromkeys(requests)) < len(requests):
        return [""] * len(requests)
    return requests


def _without(prompts: Sequence[str], judged: Sequence[str]) -> list[str]:
    # A different private-use character per prompt replaces the rest, so that no common text reaches across the cut.
    cut = []
    for place, prompt in enumerate(prompts):
        for text in sorted(filter(None, judged), key=len, reverse=True):
            head, occurrence, _ = prompt.partition(text)
            prompt = head if occurrence else prompt  # noqa: PLW2901 - cut step by step
        cut.append(f"{prompt}{chr(0xE000 + place)}")
    return cut


def _common(texts: Sequence[str]) -> str:
    """Return the longest text that occurs in all texts; the first one of several."""
    sizes = range(1, min(map(len, texts), default=0) + 1)
    # Where a size is too long for a common text, so are all above it.
    longest = bisect(sizes, False, key=lambda size: _common_of_size(texts, size) is None)
    return _common_of_size(texts, longest) or "" if longest else ""


def _common_of_size(texts: Sequence[str], size: int) -> str | None:
    shared: frozenset[str] | None = None
    for text in texts[1:]:
        # A set of pieces per text: comparing all pairs of places would take quadratic time.
        pieces = frozenset(text[start : start + size] for start in range(len(text) - size + 1))
        shared = pieces if shared is None else shared & pieces
    starts = (texts[0][start : start + size] for start in range(len(texts[0]) - size + 1))
    return next((piece for piece in starts if shared is None or piece in shared), None)


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
            SuiteError: lists all problems of the file, each with its line.
            JrhError: the file cannot be read, or holds several task types and none was chosen.
        """
        rows = read_rows(self.path, self.shown, self.columns, PAIR_COLUMNS)
        return self.items(_of_type(rows, self.task_type, self.shown))

    def items(self, rows: Sequence[Row]) -> list[Item]:
        """Return the items of rows of one task type; raise `SuiteError` with all mistakes."""
        problems = Problems(self.shown)
        groups = list(rows_by(rows, "response_being_judged").values())
        judged = [self._fields(members[0], problems) for members in groups]
        for members, texts in zip(groups, judged, strict=True):
            _check_prompts(members, texts, problems)
        golds = [self._gold(members, problems) for members in groups]
        problems.raise_any()
        prompts = [_prompts_of(members) for members in groups]
        requests = _requests_of(prompts, [tuple(texts.values()) for texts in judged])
        # Over the whole file: the same wording has the same name in every item.
        names: dict[str, str] = {}
        return [
            self._item(members, {"request": request, **texts}, gold, names)
            for members, texts, request, gold in zip(groups, judged, requests, golds, strict=True)
        ]

    def _fields(self, row: Row, problems: Problems) -> dict[str, str]:
        try:
            return _read_judged(row["response_being_judged"], self.task.mode)
        except JrhError as error:
            problems.add(str(error), line=row.line)
            return {}

    def _gold(self, rows: Sequence[Row], problems: Problems) -> str | None:
        # By text, its first line. A label is one of the item: people often write it into the first of its rows only.
        labels: dict[str, int] = {}
        for row in rows:
            if row["ground_truth_label"].strip():
                labels.setdefault(row["ground_truth_label"], row.line)
        # Choosing one of several would hide the contradiction.
        if len(labels) > 1:
            found = ", ".join(f"{label} (line {line})" for label, line in labels.items())
            problems.add(f"the same text has several labels in the file: {found}", line=rows[0].line)
        label = label_of(next(iter(labels), ""), self.task.scale, self.labels)
        if label is not None and label not in self.task.scale:
            known = ", ".join(self.task.scale.labels)
            problems.add(
                f"the label '{label}' is not on the scale {known}; map it with `labels: {{{label}: ...}}`",
                line=rows[0].line,
            )
        return label

    def _item(self, rows: Sequence[Row], fields: Mapping[str, str], gold: str | None, names: dict[str, str]) -> Item:
        sources = {prompt: prompt_source(prompt, fields) for prompt in _prompts_of(rows)}
        for source in sources.values():
            names.setdefault(source, f"prompt-{len(names) + 1}")
        templates = {prompt: names[source] for prompt, source in sources.items()}
        pairs: dict[frozenset[str], list[Json]] = {}
        for row in rows:  # in the order of the row: JudgeSense's kappa tells prompt_a from prompt_b
            pair = templates[row["prompt_a"]], templates[row["prompt_b"]]
            pairs.setdefault(frozenset(pair), list(pair))
        metadata: dict[str, Json] = {
            "rows": len(rows),
            "pair_ids": [row["pair_id"] for row in rows],
            "pairs": list(pairs.values()),
            "prompts": {templates[prompt]: source for prompt, source in sources.items()},
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
    chosen = [row for row in rows if row["task_type"] == task_type]
    if not chosen:
        raise JrhError(f"{shown}: no row has the task type '{task_type}'; available: {types}")
    return chosen


def _read_judged(text: str, mode: Mode) -> dict[str, str]:
    """Return what is judged as fields; two options are written `A: ... | B: ...`.

    Raises:
        JrhError: the text is empty, or a pairwise task finds no two options in it.
    """
    if not text.strip():
        raise JrhError("`response_being_judged` is empty")
    if mode is not Mode.PAIRWISE:
        return {mode.judged_fields[0]: text}
    options = _TWO.fullmatch(text)
    if options is None or not (options["a"] and options["b"]):
        raise JrhError("a pairwise task needs two responses, `A: ... | B: ...`; this row has one")
    return {"response_a": options["a"], "response_b": options["b"]}


def label_of(text: str, scale: Scale, labels: Mapping[str, str]) -> str | None:
    """Return the scale's label for one of the file; None where there is none; the text itself where nothing fits."""
    bare = text.strip()
    if not bare:
        return None
    if bare in labels:
        return labels[bare]
    # Levels are also written as `score_4`.
    score = _SCORE.fullmatch(bare)
    if score is not None and score[1] in scale:
        return score[1]
    return scale.match(bare) or bare


def paired_task(
    rows: Sequence[Row], scale: str | None, path: Path, labels: Mapping[str, str] = MappingProxyType({})
) -> Task:
    """Return the task for rows of one task type; its scale is the given one, or inferred from the mapped labels."""
    # The format has no column for the mode: two options are recognised by how they are written.
    written = rows[0]["response_being_judged"].lstrip()
    mode = Mode.PAIRWISE if written.startswith("A:") and "| B:" in written else Mode.POINTWISE
    golds = [label_of(row["ground_truth_label"], Scale.of_levels(0, _MOST_LEVELS), labels) for row in rows]
    return Task(name=rows[0]["task_type"] or path.stem, scale=infer_scale(scale, golds, mode, path.name), mode=mode)


def _prompts_of(rows: Sequence[Row]) -> list[str]:
    """Return the distinct prompts of some rows, in order of first appearance."""
    return list(dict.fromkeys(row[column] for row in rows for column in ("prompt_a", "prompt_b")))


def _check_prompts(rows: Sequence[Row], texts: Mapping[str, str], problems: Problems) -> None:
    for row in rows:
        for column in ("prompt_a", "prompt_b"):
            unseen = [name for name, text in texts.items() if text not in row[column]]
            if unseen:
                problems.add(
                    f"`{column}` does not show {' and '.join(unseen)}, which it should ask the judge about",
                    line=row.line,
                )
        # It would count as perfect consistency.
        if row["prompt_a"] == row["prompt_b"]:
            problems.add("`prompt_a` and `prompt_b` have the same text, so the pair measures nothing", line=row.line)


def prompt_source(prompt: str, fields: Mapping[str, str]) -> str:
    """Return the template of a prompt: with the request if it is there, else without, else the prompt as it is."""
    shown = {name: text for name, text in fields.items() if text}
    judged = {name: text for name, text in shown.items() if name != "request"}
    return _template_of(prompt, shown) or _template_of(prompt, judged) or _literal(prompt)
