"""Turn a configuration of the Judge Reliability Harness (RAND) into a suite to start from.

The format is that of its repository, `RANDCorporation/judge-reliability-harness`, `inputs/configs/*.yml`. What has no
counterpart is said in the comments of the suite.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from jrh import JrhError
from jrh.text import clean_text
from jrh_measuring import escape_controls

from jrh_import.harness_file import Config
from jrh_import.mapping import Format
from jrh_import.tables import read_table

_SOURCES: Final = {".csv": "csv", ".xlsx": "xlsx", ".jsonl": "jsonl", ".parquet": "parquet", ".eval": "inspect"}
_TARGETS: Final = {"request": "request", "response": "response", "expected": "label", "original_idx": "id"}
_FORMATS: Final = {
    "format_invariance_1": "blank-lines",
    "format_invariance_2": "spaces",
    "format_invariance_3": "indent",
}
_FIRST: Final = ("1", "1.0", "true", "yes")
"""Labels that come first on a scale of two: they are the positive ones."""
_TWO: Final = 2
_COMMENT: Final = 300
"""Characters of a comment in the suite."""
_WRITER, _CHECKER = "writer", "checker"
_UNUSED: Final = {
    "admin": {
        "time_stamp": "the run directory is named with --run-dir",
        "test_debug_mode": "`jrh plan` makes no call",
        "output_file_format": "reports: [csv, parquet, papers]",
    },
    "perturbation_config": {"use_HITL_process": "review cases with `jrh review`"},
    "evaluation_config": {
        "overwrite_results": "a paid call is never repeated",
        "max_workers": "`concurrency` of a model",
        "metric": "`jrh plugins list` shows the metrics",
        "bootstrap_size": "intervals are clustered by item; metric compat-jrh has theirs",
        "bootstrap_repetitions": "as for bootstrap_size",
        "get_cost_curves": "the reporter papers has them where models have a `price`",
        "aggregation_method": "metric panel-by-test",
        "aggregation_reference_column": "the majority is compared with the label",
        "template": "jrh asks with a template of its own; give a judge another one with `template: {file: ...}`",
    },
    "synthetic_data_params": {
        "max_workers": "`concurrency` of a model",
        "rescore_sample_size": "the grader is asked once per response",
    },
    "test_agent_perturbation_config": {
        "max_summary_messages": "`max_characters` of the test",
        "trace_messages": "every draft records its plan, edits and calls",
        "output": "jrh export-transcripts",
        "sampling_seed": "`sample` of the test",
        "transcript_preprocessors": "`preprocess` of the source inspect, a function of yours",
        "transcript_preprocessor": "`preprocess` of the source inspect, a function of yours",
    },
}


class _Written(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Write every sample out: anchors are hard to edit."""
        return True


def suite_of(config: Config, target: Path) -> str:
    """Write the suite, with paths relative to the file it is for."""
    base = target.resolve().parent

    def relative(name: str) -> str:
        return Path(os.path.relpath(config.file(name).resolve(), base)).as_posix()

    dataset = config.part("admin", "dataset_config")
    suite: dict[str, Any] = {"name": str(config.part("admin").get("module_name") or config.path.stem)}
    suite["data"] = _data(config, relative)
    suite["task"] = _task(config, relative)
    suite["models"] = {}
    judges = _judges(config, suite["models"])
    if dataset.get("use_original_data_as_expected"):
        suite["data"]["gold_from"] = judges[0]["name"]
    suite["tests"] = _tests(config, suite["models"])
    suite["judges"] = judges
    suite["reports"] = ["terminal", "json", "csv", "papers"]
    suite["seed"] = config.part("synthetic_data_params").get("seed", 87)
    told = [
        f"Made from {config.path.name}, a configuration of the Judge Reliability Harness.",
        *(f"To do: {each}." for each in dict.fromkeys(config.todo)),
        *_left_out(config),
    ]
    lines = [f"# {clean_text(each, _COMMENT)}" for each in told]
    # A direction mark would show a reader of the file another suite than the one jrh reads.
    readable = escape_controls(_dumped(suite)) == _dumped(suite)
    return "\n".join([*lines, "", _dumped(suite, allow_unicode=readable)])


def _dumped(suite: Mapping[str, Any], *, allow_unicode: bool = True) -> str:
    return yaml.dump(
        suite, Dumper=_Written, sort_keys=False, allow_unicode=allow_unicode, width=110, default_flow_style=None
    )


def _data(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    agentic = config.part("test_agent_perturbation_config")
    name = str(agentic.get("input_log_path") or config.part("admin", "dataset_config")["dataset_name"])
    name = Path(name).name
    source = _SOURCES.get(Path(name).suffix.lower())
    if source is None:
        raise JrhError(f"{config.path}: jrh reads {', '.join(_SOURCES)}, not '{name}'")
    data: dict[str, Any] = {"source": source, "path": relative(name)}
    if source == "inspect":
        config.todo.append("name the score that is the gold label: `gold` of the source inspect")
        return data
    columns = config.part("admin", "perturbation_config").get("preprocess_columns_map") or {}
    data["columns"] = {_TARGETS.get(target, target): column for target, column in columns.items()}
    return data


def _task(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    dataset = config.part("admin", "dataset_config")
    texts = dataset.get("default_params_path") or {}
    task: dict[str, Any] = {}
    if texts.get("instruction"):
        task["instruction"] = {"file": relative(texts["instruction"])}
    agentic = config.part("test_agent_perturbation_config")
    rubric = agentic.get("rubric_path") or texts.get("rubric")
    if rubric and str(rubric).endswith(".json"):
        task |= {"mode": "transcript", "criteria": {"file": relative(Path(rubric).name)}}
        if agentic.get("target_rubric_ids"):
            task["criteria"]["targets"] = [str(each) for each in agentic["target_rubric_ids"]]
        return task
    if rubric:
        task["rubric"] = {"file": relative(str(rubric))}
    task["scale"] = _scale(config)
    return task


def _scale(config: Config) -> dict[str, Any]:
    """Take the levels of the template's parameters, or the two labels of the data where the template has none."""
    given = config.part("admin", "dataset_config").get("default_params") or {}
    template = str(config.part("admin", "evaluation_config").get("template", ""))
    low = given.get("lowest_score", given.get("min_score"))
    high = given.get("highest_score", given.get("max_score"))
    if "autograder" in template and low is not None and high is not None:
        return {"ordinal": [int(low), int(high)]}
    labels = _labels(config)
    if len(labels) != _TWO:
        found = "those of the data" if labels else "a guess"
        config.todo.append(f"the labels of the scale are {found}: check them")
    return {"labels": labels or ["1", "0"]}


def _labels(config: Config) -> list[str]:
    columns = config.part("admin", "perturbation_config").get("preprocess_columns_map") or {}
    path = config.file(str(config.part("admin", "dataset_config")["dataset_name"]))
    kind = next((each for each in Format if f".{each.value}" == path.suffix.lower()), None)
    if not path.is_file() or kind is None:
        return []
    rows = read_table(path, kind, ",").rows
    found = sorted({row.cells.get(str(columns.get("expected", "expected")), "") for row in rows} - {""})
    return sorted(found, key=lambda label: (label.lower() not in _FIRST, label))


def _judges(config: Config, models: dict[str, Any]) -> list[dict[str, Any]]:
    evaluation = config.part("admin", "evaluation_config")
    listed = evaluation.get("judges") or [{"name": "judge", "model": evaluation.get("autograder_model_name")}]
    for each in listed:
        models[str(each["name"])] = _model(each.get("model"), 0.0)
    return [{"name": str(each["name"]), "judge": "llm", "model": str(each["name"])} for each in listed]


def _model(name: Any, temperature: float | None = None, tokens: Any = None) -> dict[str, Any]:
    made = {"provider": "litellm", "model": str(name or "openai/gpt-4o-mini")}
    return made | {
        key: value for key, value in (("temperature", temperature), ("max_tokens", tokens)) if value is not None
    }


def _tests(config: Config, models: dict[str, Any]) -> list[dict[str, Any]]:
    """Translate the tests to run and to evaluate, each once; the models they need are added."""
    names = [
        str(name)
        for section, key in (("perturbation_config", "tests_to_run"), ("evaluation_config", "tests_to_evaluate"))
        for name in config.part("admin", section).get(key) or ()
    ]
    given = config.part("synthetic_data_params")
    made = list(_translated(config, tuple(dict.fromkeys(names))))
    used = str(made)
    for role, stage in ((_WRITER, "generation"), (_CHECKER, "validation")):
        if f"'{role}'" in used:
            models[role] = _model(given.get(f"{stage}_model_name"), None, given.get(f"max_tokens_{stage}"))
    for stage in ("planner", "editor", "summary", "verifier"):
        own = config.part("test_agent_perturbation_config").get(stage)
        if f"'{stage}'" in used.replace(f"'{stage}':", "") and own:
            models[stage] = _model(own.get("model"), own.get("temperature"))
    if not made:
        config.todo.append("name a test: the configuration has none that jrh knows")
        made = [{"stochastic": {"repeats": 5}}]
    return made


def _translated(config: Config, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    given = config.part("synthetic_data_params")
    sample = _sample(given)
    formats = [_FORMATS[name] for name in names if name in _FORMATS]
    if formats:
        yield {"format": {"variants": formats, **sample}}
    verbosity = [name.rpartition("_")[2] for name in names if name.startswith("verbosity_bias_")]
    if verbosity or "verbosity_bias" in names:
        yield {"verbosity": {"model": _WRITER, "variants": verbosity or ["long", "short"], **sample}}
    made: Mapping[str, tuple[str, dict[str, Any]]] = {
        "label_flip": ("label-flip", {"model": _WRITER, "validate": [{"llm-label": {"model": _CHECKER}}], **sample}),
        "semantic_paraphrase": ("paraphrase", {"model": _WRITER, **sample}),
        "answer_ambiguity": ("answer-again", {"model": _WRITER, **sample}),
        "synthetic_ordinal": ("synthetic-ordinal", _ordinal(given)),
        "stochastic_stability": ("stochastic", _stochastic(config)),
        "agent_perturbation": ("agent-perturbation", _agentic(config)),
        "agent_positives": ("agent-positives", _agentic(config)),
    }
    for name in names:
        if name in made:
            yield dict([made[name]])
        elif name not in _FORMATS and not name.startswith("verbosity_bias"):
            config.todo.append(f"jrh has no test '{name}'")


def _sample(given: Mapping[str, Any]) -> dict[str, Any]:
    number = given.get("sample_num_from_orig")
    return {"sample": {"n": int(number), "seed": int(given.get("seed", 0))}} if number else {}


def _ordinal(given: Mapping[str, Any]) -> dict[str, Any]:
    """Their bucket is a level, ours a level of an item: as many items as responses per level, one response each."""
    options: dict[str, Any] = {"model": _WRITER, "grader": _CHECKER}
    for theirs, ours in (
        ("num_seed_examples_per_generation", "examples"),
        ("initial_temp", "initial_temperature"),
        ("temp_increment", "temperature_step"),
        ("max_temp_cap", "max_temperature"),
        ("max_consecutive_failures", "attempts_per_temperature"),
    ):
        if theirs in given:
            options[ours] = given[theirs]
    limit = given.get("similarity_threshold", 0.9) if given.get("use_similarity_filter", True) else None
    options |= {"max_to_seeds": limit, "max_to_kept": limit}
    number = given.get("target_num_per_bucket")
    return options | ({"sample": {"n": int(number), "seed": int(given.get("seed", 0))}} if number else {})


def _stochastic(config: Config) -> dict[str, Any]:
    given = config.part("test_stochastic_stability_config")
    seeds, repeats = int(given.get("number_of_seeds", 1)), int(given.get("repetitions", 1))
    # One seed and one repetition show no change.
    return {"seeds": seeds, "repeats": max(repeats, _TWO if seeds == 1 else 1), **_sample(given)}


def _agentic(config: Config) -> dict[str, Any]:
    given = config.part("test_agent_perturbation_config")
    own = {"planner": "planner", "editor": "editor", "summary": "summarizer", "verifier": "verifier"}
    options: dict[str, Any] = {"model": _WRITER} | {ours: theirs for theirs, ours in own.items() if given.get(theirs)}
    if given.get("max_edit_rounds"):
        options["max_rounds"] = min(int(given["max_edit_rounds"]), 20)
    number = given.get("sample_num_from_orig")
    return options | (
        _sample({"sample_num_from_orig": number, "seed": given.get("sampling_seed", 8234)}) if number else {}
    )


def _left_out(config: Config) -> Iterator[str]:
    """Yield a comment for every setting that the suite does not have."""
    for section, known in _UNUSED.items():
        path = (section,) if section == "admin" or section in config.written else ("admin", section)
        for key, reason in known.items():
            value = config.part(*path).get(key)
            if value is not None:
                shown = value if isinstance(value, str | int | float | bool) else "..."
                yield f"Not mapped: {section}.{key}: {shown} ({reason})."
    for setting in config.unread():
        yield f"Not mapped: {setting} (nothing here needs it)."
    if "answer_ambiguity" in str(config.written):
        yield "answer_ambiguity: its code lets a model answer again. Its documentation asks twice: `stochastic`."
