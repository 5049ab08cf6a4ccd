"""Paired-prompt files: items and templates; and what is wrong with a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jrh_prompts.plugin
import pytest
from jrh import JrhError, Mode, Scale, Task
from jrh_authoring import render
from jrh_testing import build, prompt_pair_row

REAL = Path(__file__).parents[4] / "shared" / "data" / "judgesense"
LEVELS = Task(name="coherence", scale=Scale.of_levels(1, 5))
PAIRS = Task(name="relevance", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
YES_NO = Task(name="facts", scale=Scale.of_labels("YES", "NO"))


def write(path, rows):
    path.write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")
    return path.name


def read(base, rows, task=YES_NO, **options):
    name = write(base / "pairs.jsonl", rows)
    return build(jrh_prompts.plugin, "paired-prompts", options={"path": name, **options}, task=task, base=base).read()


def test_rows_about_one_text_are_one_item_with_its_prompts(tmp_path):
    rows = [
        prompt_pair_row(1),
        prompt_pair_row(1, pair_id="again", prompt_a="text 1\nTrue or not?", prompt_b="Right?\ntext 1"),
        prompt_pair_row(2),
    ]
    first, second = read(tmp_path, rows)
    assert (first.id, first.gold, first.fields["response"], first.metadata["rows"]) == ("p1", "YES", "text 1", 2)
    assert first.metadata["prompts"] == {
        "prompt-1": "Right?\n{{ response }}",
        "prompt-2": "{{ response }}\nTrue or not?",
    }
    assert first.metadata["prompts"] == second.metadata["prompts"]
    assert first.metadata["pairs"] == [["prompt-1", "prompt-2"]]
    assert first.origin == "pairs.jsonl:1"


def test_a_label_in_one_of_its_rows_is_that_of_the_text(tmp_path):
    rows = [prompt_pair_row(ground_truth_label=label) for label in ("", "NO")]
    assert [item.gold for item in read(tmp_path, rows, YES_NO)] == ["NO"]


def test_what_all_prompts_of_an_item_ask_about_becomes_the_request(tmp_path):
    rows = [
        prompt_pair_row(
            number,
            text=f"A: {good} | B: {bad}",
            prompt_a=f"Which fits \u201c{query}\u201d?\nA: {good}\nB: {bad}",
            prompt_b=f"\u201c{query}\u201d: A or B?\nA: {good}\nB: {bad}",
            ground_truth_label="A",
        )
        for number, (query, good, bad) in enumerate(
            [("how do fish breathe", "gills", "cars"), ("why is the sky blue", "air", "tea")]
        )
    ]
    first, second = read(tmp_path, rows, PAIRS)
    assert dict(first.fields) == {"request": "how do fish breathe", "response_a": "gills", "response_b": "cars"}
    assert second.fields["request"] == "why is the sky blue"
    assert (
        next(iter(first.metadata["prompts"].values()))
        == "Which fits \u201c{{ request }}\u201d?\nA: {{ response_a }}\nB: {{ response_b }}"
    )
    assert first.metadata["prompts"] == second.metadata["prompts"]


@pytest.mark.parametrize(("name", "task"), [("coherence", LEVELS), ("relevance", PAIRS)])
def test_the_real_benchmark_is_five_items_asked_with_five_templates_to_the_byte(name, task):
    if not REAL.exists():
        pytest.skip("the real benchmark is not here (../shared/data/judgesense)")
    items = build(jrh_prompts.plugin, "paired-prompts", options={"path": f"{name}.jsonl"}, task=task, base=REAL).read()
    assert len(items) == 5
    assert all(sorted(item.metadata["prompts"]) == [f"prompt-{n}" for n in range(1, 6)] for item in items)
    assert len({json.dumps(item.metadata["prompts"], sort_keys=True) for item in items}) == 1
    rendered = {render(source, dict(item.fields)) for item in items for source in item.metadata["prompts"].values()}
    written = [json.loads(line) for line in (REAL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rendered == {each[column] for each in written for column in ("prompt_a", "prompt_b")}
    assert sum(item.metadata["rows"] for item in items) == 125
    assert sum(len(item.metadata["pairs"]) for item in items) == 25


def test_a_csv_file_reads_the_same(tmp_path):
    target = io.StringIO()
    writer = csv.DictWriter(target, fieldnames=list(prompt_pair_row()))
    writer.writeheader()
    writer.writerows([prompt_pair_row(1), prompt_pair_row(2)])
    (tmp_path / "pairs.csv").write_text(target.getvalue(), encoding="utf-8")
    options = {"path": "pairs.csv"}
    found = build(jrh_prompts.plugin, "paired-prompts", options=options, task=YES_NO, base=tmp_path).read()
    assert [item.fields for item in found] == [
        item.fields for item in read(tmp_path, [prompt_pair_row(1), prompt_pair_row(2)])
    ]


def test_scores_and_declared_labels_become_the_scales(tmp_path):
    rows = [
        prompt_pair_row(1, ground_truth_label="score_4"),
        prompt_pair_row(2, ground_truth_label="top"),
        prompt_pair_row(3, ground_truth_label=""),
    ]
    found = read(tmp_path, rows, LEVELS, labels={"top": "5"})
    assert [item.gold for item in found] == ["4", "5", None]


@pytest.mark.parametrize(
    ("rows", "task", "said"),
    [
        (
            [{k: v for k, v in prompt_pair_row().items() if k != "prompt_b"}],
            YES_NO,
            "pairs.jsonl: no column 'prompt_b'; did you mean 'prompt_a'?",
        ),
        (
            [prompt_pair_row(1), {k: v for k, v in prompt_pair_row(2).items() if k != "pair_id"}],
            YES_NO,
            "pairs.jsonl:2: the row has no 'pair_id'",
        ),
        (
            [prompt_pair_row(text="only one", ground_truth_label="A")],
            PAIRS,
            "pairs.jsonl:1: a pairwise task needs two responses, `A: ... | B: ...`; this row has one",
        ),
        (
            [prompt_pair_row(prompt_a="Right?")],
            YES_NO,
            "pairs.jsonl:1: `prompt_a` does not show response, which it should ask the judge about",
        ),
        (
            [prompt_pair_row(prompt_b="Right?\ntext 1")],
            YES_NO,
            "pairs.jsonl:1: `prompt_a` and `prompt_b` have the same text",
        ),
        (
            [prompt_pair_row(ground_truth_label="MAYBE")],
            YES_NO,
            "pairs.jsonl:1: the label 'MAYBE' is not on the scale YES, NO",
        ),
        (
            [prompt_pair_row(), prompt_pair_row(ground_truth_label=""), prompt_pair_row(ground_truth_label="NO")],
            YES_NO,
            "the same text has several labels in the file: YES (line 1), NO (line 3)",
        ),
        ([prompt_pair_row(response_being_judged=" ")], YES_NO, "`response_being_judged` is empty"),
        (
            [prompt_pair_row(), prompt_pair_row(2, task_type="other")],
            YES_NO,
            "has several task types (facts, other); choose one",
        ),
    ],
)
def test_a_broken_file_gets_one_clear_message(tmp_path, rows, task, said):
    with pytest.raises(JrhError) as caught:
        read(tmp_path, rows, task)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path):
    with pytest.raises(JrhError) as caught:
        read(tmp_path, [prompt_pair_row(number, prompt_a="?") for number in range(30)])
    assert len(str(caught.value).splitlines()) == 21
    assert str(caught.value).endswith("and 10 more problems of these kinds")


def test_a_line_that_is_no_json_and_a_file_that_is_not_there(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"pair_id": 1', encoding="utf-8")
    source = build(jrh_prompts.plugin, "paired-prompts", options={"path": "pairs.jsonl"}, task=YES_NO, base=tmp_path)
    with pytest.raises(JrhError, match=r"pairs\.jsonl:1:14: invalid JSON"):
        source.read()
    source = build(jrh_prompts.plugin, "paired-prompts", options={"path": "none.jsonl"}, task=YES_NO, base=tmp_path)
    with pytest.raises(JrhError, match=r"none\.jsonl: cannot be read: No such file"):
        source.read()


def test_a_renamed_column_and_a_chosen_task_type(tmp_path):
    rows = [
        {"id": each["pair_id"], **{k: v for k, v in each.items() if k != "pair_id"}}
        for each in (prompt_pair_row(1), prompt_pair_row(2, task_type="other"))
    ]
    found = read(tmp_path, rows, columns={"pair_id": "id"}, task_type="other")
    assert [item.id for item in found] == ["p2"]
