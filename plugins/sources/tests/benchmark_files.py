"""Files in the shapes of the benchmarks, with texts of our own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

QUESTIONS = [f"What is {n} plus {n}?" for n in range(1, 9)]


def write(root: Path, name: str) -> Path:
    """Write the files of a benchmark, eight questions each, and return the folder."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    _WRITERS[name](folder)
    return folder


def _lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _llmbar(folder: Path) -> None:
    for subset, first in (("Natural", 0), ("Adversarial/Neighbor", 4)):
        rows = [
            {"input": text, "output_1": f"It is {2 * n}.", "output_2": f"It is {2 * n + 1}.", "label": 1}
            if n % 2
            else {"input": text, "output_1": f"It is {2 * n + 1}.", "output_2": f"It is {2 * n}.", "label": 2}
            for n, text in enumerate(QUESTIONS[first : first + 4], start=first + 1)
        ]
        file = folder / subset / "dataset.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows))
    apart = folder / "CaseStudy" / "Base-9" / "dataset.json"
    apart.parent.mkdir(parents=True)
    apart.write_text("[]")


def _judgebench(folder: Path) -> None:
    rows = [
        {"pair_id": f"pair-{n}", "original_id": str(n // 2), "source": "sums", "question": QUESTIONS[n // 2],
         "response_model": "m-1", "response_A": f"right {n}", "response_B": f"wrong {n}",
         "label": "A>B" if n % 2 else "B>A"}
        for n in range(8)
    ]  # fmt: skip
    _lines(folder / "gpt.jsonl", rows)


def _mt_bench(folder: Path) -> None:
    def talk(question: int, model: str) -> list[dict[str, str]]:
        return [
            {"role": "user", "content": QUESTIONS[question]},
            {"role": "assistant", "content": f"{model} says {question}"},
            {"role": "user", "content": "And twice that?"},
            {"role": "assistant", "content": f"{model} says more of {question}"},
        ]

    def vote(question: int, one: str, two: str, winner: str, judge: str, turn: int) -> dict[str, Any]:
        return {
            "question_id": question, "model_a": one, "model_b": two, "winner": winner, "judge": judge,
            "conversation_a": talk(question, one), "conversation_b": talk(question, two), "turn": turn,
        }  # fmt: skip

    rows = [
        vote(1, "x", "y", "model_a", "expert_1", 1),
        vote(1, "y", "x", "model_b", "expert_2", 1),  # the other way round: x won again
        vote(1, "x", "y", "tie", "author_1", 1),
        vote(1, "x", "y", "model_b", "gpt-4", 1),  # a model: left out
        vote(2, "x", "y", "model_a", "expert_1", 2),
        vote(2, "x", "y", "model_b", "expert_2", 2),  # one each: no label
        *(vote(n, "x", "y", ("model_a", "model_b", "tie")[n % 3], "expert_3", 1) for n in range(3, 8)),
    ]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "human-00000-of-00001.parquet")


def _reward_bench_2(folder: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": str(n), "prompt": text, "chosen": [f"good {n}"], "rejected": [f"bad {n} {k}" for k in range(3)],
         "num_correct": 1, "num_incorrect": 3, "total_completions": 4, "models": ["m"], "subset": "Focus"}
        for n, text in enumerate(QUESTIONS)
    ]  # fmt: skip
    rows.append({**rows[0], "id": "t", "subset": "Ties", "chosen": ["red", "blue"], "rejected": ["one", "two"]})
    parquet.write_table(pa.Table.from_pylist(rows), folder / "test-00000-of-00001.parquet")


def _judgesense(folder: Path) -> None:
    rows = [
        {"pair_id": f"c-{n}", "task_type": "coherence", "source_benchmark": "own",
         "prompt_a": f"Rate it.\n\nText: {text}", "prompt_b": f"Give 1 to 5.\n\nText: {text}",
         "response_being_judged": text, "ground_truth_label": f"score_{n % 5 + 1}", "semantic_equivalence_score": 1.0}
        for n, text in enumerate(QUESTIONS)
    ]  # fmt: skip
    _lines(folder / "coherence.jsonl", rows)


def _judgesense_of(kind: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        # Labels and texts in the shapes that the published files have.
        labels = ("accurate", "inaccurate") if kind == "factuality" else ("A", "B")
        rows = []
        for n, text in enumerate(QUESTIONS):
            judged = text if kind == "factuality" else f"A: {text} | B: It is {n}."
            shown = judged.replace(" | ", "\n")
            rows.append(
                {"pair_id": f"{kind}-{n}", "task_type": kind, "source_benchmark": "own",
                 "prompt_a": f"Which?\n\n{shown}", "prompt_b": f"Tell which.\n\n{shown}",
                 "response_being_judged": judged, "ground_truth_label": labels[n % 2]}
            )  # fmt: skip
        _lines(folder / f"{kind}.jsonl", rows)

    return write


def _table(file: Path, columns: list[str], rows: list[list[str]]) -> None:
    file.write_text("\n".join(",".join(cells) for cells in [columns, *rows]) + "\n")


def _harmbench(folder: Path) -> None:
    columns = ["idx", "behavior_id", "behavior_description", "SemanticCategory", "test_case", "generation",
               "human_consensus", "human_mean", "human_sum"]  # fmt: skip
    rows = [
        [str(n), f"b-{n // 2}", f"Do the bad thing {n // 2}", "own", f"please {n}", f"answer {n}", str(n % 2), "1", "3"]
        for n in range(8)
    ]
    _table(folder / "harmbench.csv", columns, rows)


def _persuade(folder: Path) -> None:
    columns = ["essay_id_comp", "prompt_name", "assignment", "full_text", "holistic_essay_score", "discourse_id"]
    # Two rows for each essay, as the corpus has one for every part of an essay.
    rows = [
        [f"e{n // 2}", "Cars", "Write about cars", f"Essay {n // 2} about cars", f"{n // 2 % 6 + 1}.0", f"d{n}"]
        for n in range(16)
    ]
    _table(folder / "persuade.csv", columns, rows)


def _fortress(folder: Path) -> None:
    rows = [
        {"ID": n, "adversarial_prompt": f"Help me with harm {n}", "benign_prompt": "Help", "rubric": '["Is it?"]',
         "risk_domain": "own"}
        for n in range(9)
    ]  # fmt: skip
    _lines(folder / "fortress.jsonl", rows)
    answers = [{"id": n, "response": f"No, {n}.", "label": ["YES", "NO"][n % 2], "author": "m"} for n in range(8)]
    _lines(folder.parent / "answers.jsonl", answers)


def _agentharm(folder: Path) -> None:
    rows = [
        {"id": f"{n // 4}-{n % 4}", "id_original": f"{n // 4}-1", "category": "own", "prompt": f"Do harm {n}",
         "target_functions": ["f"], "detailed_prompt": True}
        for n in range(8)
    ]  # fmt: skip
    (folder / "harmful_behaviors_test_public.json").write_text(json.dumps({"behaviors": rows}))
    answers = [
        {"id": row["id"], "label": ["YES", "NO"][n % 2],
         "transcript": [{"role": "user", "content": row["prompt"]}, {"role": "assistant", "content": f"No {n}"}]}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    _lines(folder.parent / "answers.jsonl", answers)


def _judge_bias_bench(folder: Path) -> None:
    rows = [
        {"question": text, "original_response1": f"a {n}", "original_response2": f"b {n}",
         "rewritten_response1": f"a {n}", "rewritten_response2": f"As a doctor: b {n}",
         "label": f"response{n % 2 + 1}"}
        for n, text in enumerate(QUESTIONS)
    ]  # fmt: skip
    _lines(folder / "authority_bias.jsonl", rows)
    pairs = [{"question": text, "response1": "c", "response2": f"d {n}", "label": "response1"}
             for n, text in enumerate(QUESTIONS[:2])]  # fmt: skip
    _lines(folder / "position_bias.jsonl", pairs)
    _lines(folder / "reward_bench" / "gender_bias.jsonl", [{"other": 1}])


_WRITERS = {
    "llmbar": _llmbar,
    "judgebench": _judgebench,
    "mt-bench": _mt_bench,
    "reward-bench-2": _reward_bench_2,
    "judgesense": _judgesense,
    **{f"judgesense-{kind}": _judgesense_of(kind) for kind in ("factuality", "preference", "relevance")},
    "harmbench": _harmbench,
    "persuade": _persuade,
    "fortress": _fortress,
    "agentharm": _agentharm,
    "judge-bias-bench": _judge_bias_bench,
}
