"""Turn a configuration of the Judge Reliability Harness (RAND) into a suite to start from.

The format is that of its repository, `RANDCorporation/judge-reliability-harness`, `inputs/configs/*.yml`. What has no
counterpart is listed in the comments of the suite.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from attrs import field, frozen
from jrh import JrhError
from jrh.text import clean_text
from jrh_interchange import check_table_file
from jrh_measuring import escape_controls

from jrh_import.mapping import Format
from jrh_import.tables import Table, read_table

_LARGEST: Final = 1_000_000
"""Bytes of a configuration."""
# Counted with every use of an alias: ten lines of aliases of aliases are billions of values.
_MOST_VALUES: Final = 100_000
_SOURCES: Final = {".csv": "csv", ".xlsx": "xlsx", ".jsonl": "jsonl", ".parquet": "parquet", ".eval": "inspect"}
_TARGETS: Final = {"request": "request", "response": "response", "expected": "label", "original_idx": "id"}
_FORMATS: Final = {
    "format_invariance_1": "blank-lines",
    "format_invariance_2": "spaces",
    "format_invariance_3": "indent",
}
_FIRST: Final = ("1", "1.0", "true", "yes")
"""Labels that come first on a scale of two: they are the positive ones."""
_COMMENT: Final = 300
"""Characters of a comment in the suite."""
_WRITER, _CHECKER = "writer", "checker"
_AGENT_TESTS: Final = ("agent_perturbation", "agent_positives")
_NO_TOOLS: Final = {"roles": ["system", "user", "assistant"]}
_PREPROCESSORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "drop_reasoning_traces": {"reasoning": False},
    "drop_tool_messages": _NO_TOOLS,
    "strip_tool_call_outputs": _NO_TOOLS,
    "keep_assistant_comment_lines": {"code": "comments"},
}
"""The preprocessors that the harness ships, as options of the source `inspect`."""
_STAGES: Final = {"planner": "planner", "editor": "editor", "summary": "summarizer", "verifier": "verifier"}
_ROUNDS: Final = 3
"""Edits of a plan where the configuration names no number, as in the harness."""
_DATASET, _EVALUATION, _COLUMNS = (
    ("admin", "dataset_config"),
    ("admin", "evaluation_config"),
    ("admin", "perturbation_config", "preprocess_columns_map"),
)
_SYNTHETIC, _AGENTIC, _STOCHASTIC = (
    "synthetic_data_params",
    "test_agent_perturbation_config",
    "test_stochastic_stability_config",
)


@frozen
class Config:
    """A configuration and its file."""

    path: Path
    written: Mapping[str, Any]
    todo: list[str] = field(factory=list)
    """What has to be completed by hand, or was not found."""
    _read: set[tuple[str, ...]] = field(factory=set)

    def get(self, *names: str) -> Any:
        """Return a setting by the names of its sections and its own; None where it is not written.

        Raises:
            JrhError: a section is not a mapping.
        """
        # What is never asked for has no counterpart in a suite and is listed in its comments.
        self._read.add(names)
        value: Any = self.written
        for name in names:
            if not isinstance(value or {}, Mapping):
                raise JrhError(f"{self.path}: the section of '{'.'.join(names)}' is not a mapping")
            value = (value or {}).get(name)
        return value

    def unread(self, names: tuple[str, ...] = ()) -> Iterator[str]:
        """Yield the settings that nothing has asked for, with their values."""
        for key, value in (self.get(*names) if names else self.written).items():
            path = (*names, str(key))
            # A setting without a value sets nothing.
            if path in self._read or value is None:
                continue
            if isinstance(value, Mapping) and any(read[: len(path)] == path for read in self._read):
                yield from self.unread(path)
            else:
                shown = value if isinstance(value, str | int | float | bool) else "..."
                yield f"{'.'.join(path)}: {shown}"

    def file(self, name: str) -> Path:
        """Find a file that the configuration names: next to it, or where that program looks for inputs."""
        module, bare = str(self.get("admin", "module_name") or ""), Path(name).name
        near = self.path.parent
        # A path with folders starts where that program is started, two folders above its configurations.
        expected = near.parent / "data" / module / name if bare == name else near.parent.parent / name
        inputs = Path("inputs") / "data" / module / bare
        places = [near / bare, expected, near.parent / "data" / module / bare, inputs, Path(name)]
        existing = next((place for place in places if place.is_file()), None)
        if existing is None:
            self.todo.append(f"'{bare}' was not found; put it at the path below")
        return existing or expected


def read_config(path: Path) -> Config:
    """Read a configuration.

    Raises:
        JrhError: it is no YAML, or none of that program.
    """
    try:
        check_table_file(path, _LARGEST)
        written = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise JrhError(f"cannot read '{path}': {error.strerror or error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise JrhError(f"'{path}' is not a YAML file: {error}") from error
    if _more_than(_MOST_VALUES, written):
        raise JrhError(f"'{path}' has more than {_MOST_VALUES:,} values, counting expanded aliases")
    config = Config(path, written if isinstance(written, Mapping) else {})
    # Every configuration has it: without it, this is some other YAML file.
    if not config.get(*_DATASET, "dataset_name"):
        raise JrhError(f"'{path}' is not a configuration of the harness: it has no admin.dataset_config.dataset_name")
    return config


def _more_than(most: int, written: object) -> bool:
    """Tell whether there are more values than this: aliases of aliases make any number of a few lines."""
    values, count = [written], 0
    while values and count <= most:
        value = values.pop()
        count += 1
        values += value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return count > most


class _Written(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Write every sample out: anchors are hard to edit."""
        return True


def suite_of(config: Config, target: Path) -> str:
    """Write the suite, with paths relative to the file it is for."""
    base = target.resolve().parent

    def relative(name: str) -> str:
        return Path(os.path.relpath(config.file(name).resolve(), base)).as_posix()

    names = _test_names(config)
    agentic = tuple(name for name in names if name in _AGENT_TESTS)
    plain = tuple(name for name in names if name not in agentic)
    suite: dict[str, Any] = {"name": str(config.get("admin", "module_name") or config.path.stem)}
    models: dict[str, Any] = {}
    judges = _judges(config, models)
    # Tables and logs of agents are two tasks: each with its own data and tests.
    parts = [_part(config, relative, chosen, judges) for chosen in (plain, agentic) if chosen or not names]
    if len(parts) == 1 or not names:
        suite |= parts[0]
    else:
        suite["tasks"] = [{"name": kind} | part for kind, part in zip(("items", "agents"), parts, strict=True)]
    tests = [test for part in parts for test in part["tests"]]
    suite["models"] = models | _used_models(config, tests)
    if any(part["data"].get("prompts") for part in parts):
        suite["models"]["target"], suite["responses"] = _model(None), {"model": "target"}
    if config.get("admin", "perturbation_config", "use_HITL_process"):
        # Their people decide about generated cases; the same question asked again has nothing to decide.
        reviewed = [name for test in tests for name in test if name != "stochastic"]
        suite |= {"review": {"tests": reviewed}} if reviewed else {}
    suite["judges"] = judges
    suite["reports"] = ["terminal", "json", "csv", "papers"]
    config.get(*_EVALUATION, "get_cost_curves")  # always made: they are among the tables of `papers`
    suite["seed"] = config.get(_SYNTHETIC, "seed") or 87
    remarks = [
        f"Made from {config.path.name}, a configuration of the Judge Reliability Harness.",
        *(f"To do: {entry}." for entry in dict.fromkeys(config.todo)),
        *(f"Not mapped: {setting}." for setting in config.unread()),
    ]
    lines = [f"# {clean_text(remark, _COMMENT)}" for remark in remarks]
    # A direction mark would show a reader of the file another suite than the one jrh reads.
    readable = escape_controls(_dump(suite)) == _dump(suite)
    return "\n".join([*lines, "", _dump(suite, allow_unicode=readable)])


def _dump(suite: Mapping[str, Any], *, allow_unicode: bool = True) -> str:
    return yaml.dump(
        suite, Dumper=_Written, sort_keys=False, allow_unicode=allow_unicode, width=110, default_flow_style=None
    )


def _part(
    config: Config, relative: Callable[[str], str], names: tuple[str, ...], judges: list[dict[str, Any]]
) -> dict[str, Any]:
    """Write data, task and tests of the tests that share one kind of data."""
    agentic = bool(names) and names[0] in _AGENT_TESTS
    data = _log(config, relative) if agentic else _table(config, relative)
    if config.get(*_DATASET, "use_original_data_as_expected"):
        if data.get("prompts"):
            config.todo.append("responses that a model writes have no labels before the run: `jrh label` adds them")
        else:
            data["gold_from"] = judges[0]["name"]
    task = _agent_task(config, relative) if agentic else _task(config, relative)
    tests = list(_translate(config, names))
    if not tests:
        config.todo.append("name a test: the configuration has none that jrh knows")
        tests = [{"stochastic": {"repeats": 5}}]
    return {"data": data, "task": task, "tests": tests}


def _source(config: Config, name: str) -> str:
    source = _SOURCES.get(Path(name).suffix.lower())
    if source is None:
        raise JrhError(f"{config.path}: jrh reads {', '.join(_SOURCES)}, not '{Path(name).name}'")
    return source


def _table(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    name = str(config.get(*_DATASET, "dataset_name"))
    columns = dict(config.get(*_COLUMNS) or {})
    known = _read_dataset(config)
    # Their `expected` is optional: a table without it has no gold labels.
    if known and columns.get("expected", "expected") not in known.columns:
        columns.pop("expected", None)
    prompts = {}
    # Prompts alone, as FORTRESS publishes them: a model writes what is judged.
    if known and columns.get("response", "response") not in known.columns:
        columns.pop("response", None)
        prompts = {"prompts": True}
        config.todo.append("name the model whose responses are judged: `target` in `models`")
    return prompts | {
        "source": _source(config, name),
        "path": relative(name),
        "columns": {_TARGETS.get(target, target): column for target, column in columns.items()},
    }


def _log(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    name = str(config.get(_AGENTIC, "input_log_path") or config.get(*_DATASET, "dataset_name"))
    data: dict[str, Any] = {"source": _source(config, name), "path": relative(name)}
    # Logs have no columns, and several scores.
    if data["source"] == "inspect":
        config.todo.append("name the score that is the gold label: `gold` of the source inspect")
        for key in ("transcript_preprocessors", "transcript_preprocessor"):
            written = config.get(_AGENTIC, key) or ()
            for entry in (written,) if isinstance(written, str) else written:
                options = _PREPROCESSORS.get(str(entry).rpartition(".")[2])
                data |= options or {}
                if options is None:
                    config.todo.append(f"write the preprocessor {entry} as `preprocess` of the source inspect")
    return data


def _task(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    texts = config.get(*_DATASET, "default_params_path") or {}
    task = {key: {"file": relative(str(texts[key]))} for key in ("instruction", "rubric") if texts.get(key)}
    return task | {"scale": _scale(config)}


def _agent_task(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    texts = config.get(*_DATASET, "default_params_path") or {}
    task: dict[str, Any] = {"mode": "transcript"}
    if texts.get("instruction"):
        task["instruction"] = {"file": relative(str(texts["instruction"]))}
    rubric = str(config.get(_AGENTIC, "rubric_path") or texts.get("rubric") or "")
    targets = config.get(_AGENTIC, "target_rubric_ids")
    if rubric.endswith(".json"):
        task["criteria"] = {"file": relative(rubric)}
        task["criteria"] |= {"targets": [str(target) for target in targets]} if targets else {}
    else:
        task |= {"rubric": {"file": relative(rubric)}} if rubric else {}
        task["scale"] = {"labels": ["satisfies", "violates"], "positive": "violates"}
    template = config.get(_AGENTIC, "autograder_template") or config.get(*_EVALUATION, "template")
    levels = _levels(config, (_AGENTIC, "autograder_default_params")) or _levels(config)
    # Entries with `score_levels` keep their own; the others take the lowest and highest score.
    if template == "agent_autograder" and levels:
        task["scale"] = levels
    return task


def _levels(config: Config, place: tuple[str, ...] = (*_DATASET, "default_params")) -> dict[str, Any]:
    """Take the levels of a template's parameters; empty where there are none."""
    parameters = config.get(*place) or {}
    low = parameters.get("lowest_score", parameters.get("min_score"))
    high = parameters.get("highest_score", parameters.get("max_score"))
    return {} if low is None or high is None else {"ordinal": [int(low), int(high)]}


def _scale(config: Config) -> dict[str, Any]:
    """Take the levels of the template's parameters, or the two labels of the data where the template has none."""
    levels = _levels(config)
    # Only templates with a score use these parameters; the others answer with the labels of the data.
    if levels and "autograder" in str(config.get(*_EVALUATION, "template")):
        return levels
    labels = _labels(config)
    if len(labels) != 2:  # noqa: PLR2004 - one negative, one positive
        source = "those of the data" if labels else "a guess"
        config.todo.append(f"the labels of the scale are {source}: check them")
    return {"labels": labels or ["1", "0"]}


def _read_dataset(config: Config) -> Table | None:
    """Read the table of items; None where it is not there, or is none."""
    path = config.file(str(config.get(*_DATASET, "dataset_name")))
    kind = next((known for known in Format if f".{known.value}" == path.suffix.lower()), None)
    return read_table(path, kind) if path.is_file() and kind else None


def _labels(config: Config) -> list[str]:
    table = _read_dataset(config)
    column = str((config.get(*_COLUMNS) or {}).get("expected", "expected"))
    labels = sorted({row[column] for row in table.rows} - {""}) if table and column in table.columns else []
    return sorted(labels, key=lambda label: (label.lower() not in _FIRST, label))


def _judges(config: Config, models: dict[str, Any]) -> list[dict[str, Any]]:
    alone = {"name": "judge", "model": config.get(*_EVALUATION, "autograder_model_name")}
    judges = config.get(*_EVALUATION, "judges") or [alone]
    for judge in [judges] if isinstance(judges, Mapping) else judges:
        models[str(judge["name"])] = _model(
            judge.get("model") or alone["model"], 0.0, workers=config.get(*_EVALUATION, "max_workers")
        )
        others = [key for key in judge if key not in ("name", "model")]
        if others:
            config.todo.append(f"judge '{judge['name']}' has settings without a counterpart: {', '.join(others)}")
    return [{"name": name, "judge": "llm", "model": name} for name in models]


def _model(name: Any, temperature: float | None = None, tokens: Any = None, workers: Any = None) -> dict[str, Any]:
    model = {"provider": "litellm", "model": str(name or "openai/gpt-4o-mini")}
    return model | _without_none({"temperature": temperature, "max_tokens": tokens, "concurrency": workers})


def _without_none(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _test_names(config: Config) -> tuple[str, ...]:
    """Return the tests to run and to evaluate, each once, by the names that jrh translates."""
    names = [
        str(name)
        for section, key in (("perturbation_config", "tests_to_run"), ("evaluation_config", "tests_to_evaluate"))
        for name in config.get("admin", section, key) or ()
    ]
    if config.get(_AGENTIC, "objective") == "pass":
        names = ["agent_positives" if name == "agent_perturbation" else name for name in names]
    return tuple(dict.fromkeys(names))


def _used_models(config: Config, tests: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the models that the translated tests name, and no others."""
    used, models = str(tests), {}
    for role, stage in ((_WRITER, "generation"), (_CHECKER, "validation")):
        model, tokens = (config.get(_SYNTHETIC, key) for key in (f"{stage}_model_name", f"max_tokens_{stage}"))
        if f"'{role}'" in used:
            models[role] = _model(model, None, tokens, config.get(_SYNTHETIC, "max_workers"))
    for stage in dict.fromkeys(
        str(options.get(ours)) for test in tests for options in test.values() for ours in _STAGES.values()
    ):
        if stage in _STAGES:
            models[stage] = _stage_model(config, stage)
    return models


def _stage_model(config: Config, stage: str) -> dict[str, Any]:
    # Asked for one by one: `prompt_path` and `system_prompt` have no counterpart and become comments.
    model, temperature = (config.get(_AGENTIC, stage, key) for key in ("model", "temperature"))
    editor = config.get(_AGENTIC, "editor", "model") if stage in ("summary", "verifier") else None
    return _model(model or editor or config.get(_SYNTHETIC, "generation_model_name"), temperature)


def _translate(config: Config, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    sample = _sample(config, _SYNTHETIC)
    formats = [_FORMATS[name] for name in names if name in _FORMATS]
    if formats:
        yield {"format": {"variants": formats, **sample}}
    verbosity = [name.rpartition("_")[2] for name in names if name.startswith("verbosity_bias_")]
    if verbosity or "verbosity_bias" in names:
        yield {"verbosity": {"model": _WRITER, "variants": verbosity or ["long", "short"], **sample}}
    written = {"model": _WRITER, **sample}
    known: Mapping[str, tuple[str, dict[str, Any]]] = {
        "label_flip": ("label-flip", {"model": _WRITER, "validate": [{"llm-label": {"model": _CHECKER}}], **sample}),
        "semantic_paraphrase": ("paraphrase", written),
        "answer_ambiguity": ("answer-again", written),
        "synthetic_ordinal": ("synthetic-ordinal", _ordinal(config)),
        "stochastic_stability": ("stochastic", _stochastic(config)),
        "agent_perturbation": ("agent-perturbation", _agentic(config)),
        "agent_positives": ("agent-positives", _agentic(config)),
    }
    for name in names:
        if name in known:
            yield dict([known[name]])
        elif name not in _FORMATS and not name.startswith("verbosity_bias"):
            config.todo.append(f"jrh has no test '{name}'")
    if "answer_ambiguity" in names:
        # Its code lets a model answer again; its documentation speaks of asking twice.
        config.todo.append("choose between answer-again, as the code of answer_ambiguity does, and stochastic")


def _sample(config: Config, section: str, size: str = "sample_num_from_orig", seed: str = "seed") -> dict[str, Any]:
    number, drawn = config.get(section, size), config.get(section, seed)
    return {"sample": {"n": int(number), "seed": int(drawn or 0)}} if number else {}


def _ordinal(config: Config) -> dict[str, Any]:
    """Their bucket is a level, ours a level of an item: as many items as responses per level, one response each."""
    limit = None
    if config.get(_SYNTHETIC, "use_similarity_filter") is not False:
        limit = config.get(_SYNTHETIC, "similarity_threshold") or 0.9
    theirs = {
        "examples": "num_seed_examples_per_generation",
        "initial_temperature": "initial_temp",
        "temperature_step": "temp_increment",
        "max_temperature": "max_temp_cap",
        "attempts_per_temperature": "max_consecutive_failures",
    }
    return {
        "model": _WRITER,
        "grader": _CHECKER,
        **_without_none({ours: config.get(_SYNTHETIC, name) for ours, name in theirs.items()}),
        "max_to_seeds": limit,
        "max_to_kept": limit,
        **_sample(config, _SYNTHETIC, "target_num_per_bucket"),
    }


def _stochastic(config: Config) -> dict[str, Any]:
    seeds, repeats = (int(config.get(_STOCHASTIC, key) or 1) for key in ("number_of_seeds", "repetitions"))
    # One seed and one repetition show no change.
    return {"seeds": seeds, "repeats": max(repeats, 2 if seeds == 1 else 1), **_sample(config, _STOCHASTIC)}


def _agentic(config: Config) -> dict[str, Any]:
    own = config.written.get(_AGENTIC) or {}
    options: dict[str, Any] = {"model": _WRITER}
    options |= {ours: theirs for theirs, ours in _STAGES.items() if own.get(theirs)}
    # Without a model of its own, their summary is written by the editor's.
    if "editor" in options:
        options.setdefault("summarizer", "editor")
    # Their rounds are the edits of a plan; after a rejection jrh plans again, up to `max_rounds` times.
    options["max_steps"] = int(config.get(_AGENTIC, "max_edit_rounds") or _ROUNDS)
    levels = config.get(_AGENTIC, "score_targets")
    if levels:
        options["levels"] = [str(level) for level in levels]
    return options | (_sample(config, _AGENTIC, seed="sampling_seed") or _sample(config, _SYNTHETIC))
