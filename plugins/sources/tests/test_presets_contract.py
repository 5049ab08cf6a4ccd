"""Every preset keeps one contract: columns, task, rubric, licence, a suite that plans, a missing column named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jrh_sources.plugin
import pytest
import yaml
from benchmark_files import write
from jrh import JrhError, Mode, Scale, Task
from jrh_sources.presets.catalogue import PRESETS
from jrh_testing import DataSourceContract, Inside, Project, build, call
from pyarrow import parquet

pytestmark = pytest.mark.inside

COLUMNS = {
    "agentharm": "id prompt",
    "fortress": "ID adversarial_prompt",
    "harmbench": "behavior_id behavior_description generation human_consensus",
    "judge-bias-bench": "question label original_response1 original_response2 rewritten_response1 rewritten_response2",
    "judgebench": "pair_id question response_A response_B label",
    "judgesense": "prompt_a prompt_b task_type",
    "judgesense-factuality": "prompt_a prompt_b task_type",
    "judgesense-preference": "prompt_a prompt_b task_type",
    "judgesense-relevance": "prompt_a prompt_b task_type",
    "llmbar": "input output_1 output_2 label",
    "mt-bench": "question_id model_a model_b winner conversation_a conversation_b turn",
    "persuade": "essay_id_comp full_text holistic_essay_score",
    "reward-bench-2": "id prompt chosen rejected",
}
"""The columns without which a file is not the benchmark's, as its publisher names them."""
PARAMETERS = [pytest.param(each, id=each.name) for each in PRESETS]


def task_of(preset: Any) -> Task:
    """Return the task that the preset's suite has."""
    written = yaml.safe_load(preset.task)["task"]
    ((kind, asked),) = written["scale"].items()
    mode = Mode.PAIRWISE if kind == "pairwise" else Mode(written.get("mode", "pointwise"))
    pairs = asked if isinstance(asked, dict) else {}
    makers = {"pairwise": lambda: Scale.of_pairs(**pairs), "ordinal": lambda: Scale.of_levels(*asked)}
    scale = makers.get(kind, lambda: Scale.of_labels(*asked))()
    return Task(name="t", instruction=written["instruction"], rubric=written["rubric"], scale=scale, mode=mode)


def options_of(preset: Any) -> dict[str, Any]:
    return {"path": preset.name, **({"answers": "answers.jsonl"} if preset.answers else {})}


def contract(preset: Any) -> type:
    """Return the contract tests of data sources for one benchmark, with files of its shape."""
    with TemporaryDirectory() as folder:
        write(Path(folder), preset.name)
        found = [each for each in Path(folder).rglob("*") if each.is_file()]
        files = {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}
    body = {
        "plugin": jrh_sources.plugin,
        "component": preset.name,
        "files": files,
        "options": options_of(preset),
        "task": task_of(preset),
    }
    return type(f"Test{preset.name.title().replace('-', '')}", (DataSourceContract,), body)


for _preset in PRESETS:
    _made = contract(_preset)
    globals()[_made.__name__] = _made


def without(folder: Path, column: str) -> None:
    """Write the files again without a column."""
    for file in [each for each in folder.rglob("*") if each.is_file()]:
        if file.suffix == ".parquet":
            parquet.write_table(parquet.read_table(file).drop_columns([column]), file)
        elif file.suffix == ".csv":
            rows = list(csv.DictReader(file.read_text().splitlines()))
            kept = [name for name in rows[0] if name != column]
            lines = [kept, *([row[name] for name in kept] for row in rows)]
            file.write_text("".join(",".join(line) + "\n" for line in lines))
        elif file.suffix == ".jsonl":
            rows = [json.loads(line) for line in file.read_text().splitlines()]
            file.write_text("".join(json.dumps(_less(row, column)) + "\n" for row in rows))
        else:
            read = json.loads(file.read_text())
            rows = read["behaviors"] if isinstance(read, dict) else read
            file.write_text(json.dumps([_less(row, column) for row in rows]))


def _less(row: dict[str, Any], column: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != column}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Inside(tmp_path_factory.mktemp("contract"))


def test_every_preset_is_here() -> None:
    assert sorted(COLUMNS) == [each.name for each in PRESETS]


@pytest.mark.parametrize("preset", PARAMETERS)
def test_a_missing_column_is_named_with_its_file(tmp_path: Path, preset: Any) -> None:
    for column in COLUMNS[preset.name].split():
        base = tmp_path / column
        without(write(base, preset.name), column)
        source = build(jrh_sources.plugin, preset.name, options=options_of(preset), task=task_of(preset), base=base)
        with pytest.raises(JrhError) as caught:
            list(source.read())
        assert column in str(caught.value).splitlines()[0].partition("Columns:")[0]


@pytest.mark.parametrize("preset", PARAMETERS)
def test_init_writes_task_rubric_and_licence_and_the_suite_plans(project: Project, preset: Any) -> None:
    write(project.path / preset.name, preset.name)
    suite = f"{preset.name}/suite.yaml"
    made = call(project, "init", suite, "--preset", preset.name, "--data", f"{preset.name}/{preset.name}")
    assert made.exit_code == 0, made.output
    text = (project.path / suite).read_text()
    assert preset.licence
    assert f"# {preset.title}. Licence: {preset.licence}." in text
    written = yaml.safe_load(text)["task"]
    assert written["instruction"]
    assert written["rubric"]
    labels = task_of(preset).scale.labels
    assert all(label in str(written["rubric"]) for label in labels) or len(labels) > 3
    planned = call(project, "plan", suite, "--set", "judges=[simulated]")
    assert planned.exit_code == 0, planned.output
    assert "items" in planned.output
