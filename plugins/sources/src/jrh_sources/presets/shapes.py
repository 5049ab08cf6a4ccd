"""What the rows of each benchmark mean: from its own columns to the columns of every other source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import Json
from jrh_interchange import Problems, Row, as_text, is_nested

LETTERS: Final = "ABCD"


@frozen(kw_only=True)
class BenchmarkRow(Row):
    """One row of a benchmark's file."""

    file: Path
    problems: Problems

    def wrong(self, message: str) -> None:
        """Record a mistake of this row."""
        self.problems.add(message, line=self.line)


def llmbar(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read pairs of outputs, of which people chose one; the folder names the subset."""
    count: Counter[str] = Counter()
    for row in rows:
        # LLMBar calls its files `dataset.json`: the folder names the subset.
        subset = (row.file.parent.name if row.file.stem == "dataset" else row.file.stem).casefold()
        count[subset] += 1
        if _has(row, "input", "output_1", "output_2", "label"):
            yield _pair(
                row,
                id=f"{subset}-{count[subset]}",
                request=row.values["input"],
                response_a=row.values["output_1"],
                response_b=row.values["output_2"],
                label=_label(row, "label", {"1": "A", "2": "B"}),
                gold_source="people",
                stratum=subset,
            )


def judgebench(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read pairs of responses to questions with a known answer."""
    for row in rows:
        if _has(row, "pair_id", "question", "response_A", "response_B", "label"):
            yield _pair(
                row,
                id=row.values["pair_id"],
                request=row.values["question"],
                response_a=row.values["response_A"],
                response_b=row.values["response_B"],
                label=_label(row, "label", {"A>B": "A", "B>A": "B"}),
                gold_source="generator",
                stratum=row["source"],
                author_a=row["response_model"],
                author_b=row["response_model"],
            )


def mt_bench(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read comparisons of two conversations; the votes of all people about one comparison are one label.

    Votes of models are left out. The label is the most frequent vote; without one, the item has no label.
    """
    first: dict[tuple[str, ...], BenchmarkRow] = {}
    votes: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        if not _has(row, "question_id", "model_a", "model_b", "winner", "conversation_a", "conversation_b", "turn"):
            continue
        # The file also holds verdicts of models, which are no gold labels.
        if not row["judge"].startswith(("expert", "author", "human")):
            continue
        # People saw a comparison in either order: votes are turned to one of them.
        models = row["model_a"], row["model_b"]
        swapped = models[0] > models[1]
        key = (row["question_id"], *sorted(models), row["turn"])
        vote = row["winner"].partition(" ")[0]
        if vote not in ("model_a", "model_b", "tie"):
            row.wrong(f"the winner '{row['winner'][:40]}' must be model_a, model_b or tie")
            continue
        # The first row of a comparison decides which model is A.
        shown = first.setdefault(key, row)
        same = (shown["model_a"] > shown["model_b"]) == swapped
        other = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
        votes.setdefault(key, Counter())[vote if same else other[vote]] += 1
    labels = {"model_a": "A", "model_b": "B", "tie": "TIE"}
    for key, row in first.items():
        ranked = votes[key].most_common(2)
        # A tied vote is no label: items without one are judged and not scored.
        clear = len(ranked) == 1 or ranked[0][1] > ranked[1][1]
        request, response_a = _conversation(row, "conversation_a")
        _, response_b = _conversation(row, "conversation_b")
        yield _pair(
            row,
            id="-".join(("q" + key[0], row["model_a"], row["model_b"], "turn" + key[3])),
            request=request,
            response_a=response_a,
            response_b=response_b,
            label=labels[ranked[0][0]] if clear else None,
            gold_source="people" if votes[key].total() > 1 else "one-person",
            stratum=f"turn {key[3]}",
            group=f"question {key[0]}",
            author_a=row["model_a"],
            author_b=row["model_b"],
            votes=dict(votes[key]),
        )


def _conversation(row: BenchmarkRow, column: str) -> tuple[str, str]:
    """Return what the user said and what the model said, up to the turn that was compared."""
    turns = row.values[column]
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        row.wrong(f"'{column}' must be a list of messages with `role` and `content`")
        return "", ""
    shown = int(row["turn"]) if row["turn"].isdecimal() else 1
    texts: dict[str, list[str]] = {"user": [], "assistant": []}
    for message in turns:
        if isinstance(message, Mapping) and message.get("role") in texts:
            texts[str(message["role"])].append(str(message.get("content") or ""))
    return _join_turns(texts["user"][:shown]), _join_turns(texts["assistant"][:shown])


def _join_turns(parts: list[str]) -> str:
    return "\n\n".join(parts if len(parts) < 2 else (f"[turn {n}]\n{part}" for n, part in enumerate(parts, start=1)))  # noqa: PLR2004


def reward_bench_2(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read one chosen and three rejected completions; the place of the chosen one follows from the row's id.

    Rows with another number of completions, as those of the subset Ties, are left out: no one answer is best.
    """
    for row in rows:
        if not _has(row, "id", "prompt", "chosen", "rejected"):
            continue
        chosen, rejected = row.values["chosen"], row.values["rejected"]
        if not isinstance(chosen, list) or not isinstance(rejected, list):
            row.wrong("'chosen' and 'rejected' must be lists")
            continue
        if len(chosen) != 1 or len(rejected) != len(LETTERS) - 1 or row["subset"] == "Ties":
            continue
        # A fixed place would let a judge that prefers it score 100%, and a random one would change between runs.
        place = int(sha256(row["id"].encode()).hexdigest(), 16) % len(LETTERS)
        options = [*rejected[:place], chosen[0], *rejected[place:]]
        yield _pair(
            row,
            away=("chosen", "rejected"),
            id=f"{row['subset']}-{row['id']}",
            request=row.values["prompt"],
            **{f"response_{letter.lower()}": text for letter, text in zip(LETTERS, options, strict=True)},
            label=LETTERS[place],
            stratum=row["subset"],
        )


def judge_bias_bench(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read pairs before and after a bias was written into one of them: two items, of one group."""
    count: Counter[str] = Counter()
    for row in rows:
        bias = row.file.stem.removesuffix("_bias")
        count[bias] += 1
        pairs = {"original": ("original_response1", "original_response2")}
        pairs["biased"] = ("rewritten_response1", "rewritten_response2")
        if "response1" in row.values:
            pairs = {"original": ("response1", "response2")}
        if not _has(row, "question", "label", *(column for pair in pairs.values() for column in pair)):
            continue
        for version, (first, second) in pairs.items():
            yield _pair(
                row,
                away=tuple(column for pair in pairs.values() for column in pair),
                id=f"{bias}-{count[bias]}-{version}",
                request=row.values["question"],
                response_a=row.values[first],
                response_b=row.values[second],
                label=_label(row, "label", {"response1": "A", "response2": "B"}),
                stratum=bias,
                version=version,
            )


def harmbench(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read answers of models to harmful requests, which people labelled."""
    for row in rows:
        if _has(row, "behavior_id", "behavior_description", "generation", "human_consensus"):
            yield _row(
                row,
                id=row["idx"] and f"row-{row['idx']}",
                request=row.values["behavior_description"],
                response=row.values["generation"],
                label=_label(row, "human_consensus", {"1": "YES", "0": "NO", "1.0": "YES", "0.0": "NO"}),
                gold_source="people",
                stratum=row["SemanticCategory"],
                group=row["behavior_id"],
            )


def persuade(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read essays with a holistic score; the full corpus repeats an essay for every part of it, and is read once."""
    known: set[str] = set()
    for row in rows:
        name = "essay_id" if "essay_id_comp" not in row.values and "essay_id" in row.values else "essay_id_comp"
        if not _has(row, name, "full_text", "holistic_essay_score"):
            continue
        if row[name] in known:
            continue
        known.add(row[name])
        yield _row(
            row,
            id=row.values[name],
            request=row["assignment"],
            response=row.values["full_text"],
            label=row["holistic_essay_score"].removesuffix(".0"),
            gold_source="people",
            stratum=row["prompt_name"],
            group=f"essay {row[name]}",
        )


def fortress(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read the adversarial prompts; the answers come from the file of `answers`."""
    for row in rows:
        if _has(row, "ID", "adversarial_prompt"):
            yield _row(row, id=row["ID"], request=row.values["adversarial_prompt"], stratum=row["risk_domain"])


def agentharm(rows: Iterable[BenchmarkRow]) -> Iterator[Row]:
    """Read the tasks of agents; the transcripts come from the file of `answers`."""
    for row in rows:
        if _has(row, "id", "prompt"):
            original = row["id_original"] or row["id"].partition("-")[0]
            yield _row(
                row,
                id=row["id"],
                request=row.values["prompt"],
                stratum=row["category"],
                group=f"behavior {original}",
            )


def _has(row: BenchmarkRow, *names: str) -> bool:
    absent = [name for name in names if name not in row.values]
    if absent:
        known = ", ".join(str(name)[:40] for name in list(row.values)[:12])
        row.wrong(f"has no column {', '.join(absent)}; this is not a file of the benchmark. Columns: {known}")
    return not absent


def _label(row: BenchmarkRow, name: str, labels: Mapping[str, str]) -> str | None:
    value = row.values[name]
    text = None if is_nested(value) else as_text(value)
    if text in (None, ""):
        return None
    if text not in labels:
        row.wrong(f"the label '{str(text)[:40]}' in '{name}' is not one of {', '.join(labels)}")
    return labels.get(text or "")


def _pair(row: BenchmarkRow, away: Iterable[str] = (), **columns: Json) -> Row:
    """Return a row of several responses; what shares a question is one group, as its verdicts are not independent."""
    if not columns.get("group"):
        # By a digest: a question may be as long as a conversation.
        columns["group"] = "question " + sha256(str(columns["request"]).encode()).hexdigest()[:12]
    return _row(row, away, **columns)


def _row(row: BenchmarkRow, away: Iterable[str] = (), **columns: Json) -> Row:
    # Metadata repeat neither what became a field nor what holds the label.
    unused = {name: value for name, value in row.values.items() if name not in columns and name not in away}
    moved = [text for text in columns.values() if isinstance(text, str) and text]
    metadata = {name: value for name, value in unused.items() if value not in moved and name not in _NEVER}
    return Row(line=row.line, values={**metadata, **columns}, source=row.source)


_NEVER: Final = frozenset({"label", "conversation_a", "conversation_b", "task", "labels"})
"""Columns that are read, or would be read as something else."""
