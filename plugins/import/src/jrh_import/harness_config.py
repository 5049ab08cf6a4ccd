"""Turn a configuration of the Judge Reliability Harness (RAND) into a suite to start from.

The format is that of its repository, `RANDCorporation/judge-reliability-harness`, `inputs/configs/*.yml`. What has no
counterpart is listed in the comments of the suite.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from attrs import field, frozen
from jrh import JrhError
from jrh.text import clean_text
from jrh_interchange import check_table_file
from jrh_measuring import escape_controls

from jrh_import.mapping import Format
from jrh_import.tables import read_table

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
            if path in self._read:
                continue
            if isinstance(value, Mapping) and any(read[: len(path)] == path for read in self._read):
                yield from self.unread(path)
            else:
                shown = value if isinstance(value, str | int | float | bool) else "..."
                yield f"{'.'.join(path)}: {shown}"

    def file(self, name: str) -> Path:
        """Find a file that the configuration names: next to it, or where that program looks for inputs."""
        module = str(self.get("admin", "module_name") or "")
        near = self.path.parent
        expected = near.parent / "data" / module / name
        places = [near / name, expected, Path("inputs") / "data" / module / name, Path(name)]
        existing = next((place for place in places if place.is_file()), None)
        if existing is None:
            self.todo.append(f"'{name}' was not found; put it at the path below")
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
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
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

    suite: dict[str, Any] = {"name": str(config.get("admin", "module_name") or config.path.stem)}
    suite["data"] = _data(config, relative)
    suite["task"] = _task(config, relative)
    suite["models"] = {}
    judges = _judges(config, suite["models"])
    if config.get(*_DATASET, "use_original_data_as_expected"):
        suite["data"]["gold_from"] = judges[0]["name"]
    suite["tests"] = _tests(config, suite["models"])
    suite["judges"] = judges
    suite["reports"] = ["terminal", "json", "csv", "papers"]
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


def _data(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    name = Path(str(config.get(_AGENTIC, "input_log_path") or config.get(*_DATASET, "dataset_name"))).name
    source = _SOURCES.get(Path(name).suffix.lower())
    if source is None:
        raise JrhError(f"{config.path}: jrh reads {', '.join(_SOURCES)}, not '{name}'")
    data: dict[str, Any] = {"source": source, "path": relative(name)}
    # Logs have no columns, and several scores.
    if source == "inspect":
        config.todo.append("name the score that is the gold label: `gold` of the source inspect")
    else:
        columns = config.get(*_COLUMNS) or {}
        data["columns"] = {_TARGETS.get(target, target): column for target, column in columns.items()}
    return data


def _task(config: Config, relative: Callable[[str], str]) -> dict[str, Any]:
    texts = config.get(*_DATASET, "default_params_path") or {}
    task: dict[str, Any] = {}
    if texts.get("instruction"):
        task["instruction"] = {"file": relative(texts["instruction"])}
    rubric = config.get(_AGENTIC, "rubric_path") or texts.get("rubric")
    if rubric and str(rubric).endswith(".json"):
        task |= {"mode": "transcript", "criteria": {"file": relative(Path(rubric).name)}}
        targets = config.get(_AGENTIC, "target_rubric_ids")
        if targets:
            task["criteria"]["targets"] = [str(target) for target in targets]
        return task
    if rubric:
        task["rubric"] = {"file": relative(str(rubric))}
    task["scale"] = _scale(config)
    return task


def _scale(config: Config) -> dict[str, Any]:
    """Take the levels of the template's parameters, or the two labels of the data where the template has none."""
    parameters = config.get(*_DATASET, "default_params") or {}
    low = parameters.get("lowest_score", parameters.get("min_score"))
    high = parameters.get("highest_score", parameters.get("max_score"))
    # Only templates with a score use these parameters; the others answer with the labels of the data.
    if "autograder" in str(config.get(*_EVALUATION, "template")) and low is not None and high is not None:
        return {"ordinal": [int(low), int(high)]}
    labels = _labels(config)
    if len(labels) != 2:  # noqa: PLR2004 - one negative, one positive
        source = "those of the data" if labels else "a guess"
        config.todo.append(f"the labels of the scale are {source}: check them")
    return {"labels": labels or ["1", "0"]}


def _labels(config: Config) -> list[str]:
    path = config.file(str(config.get(*_DATASET, "dataset_name")))
    kind = next((known for known in Format if f".{known.value}" == path.suffix.lower()), None)
    if not path.is_file() or kind is None:
        return []
    column = str((config.get(*_COLUMNS) or {}).get("expected", "expected"))
    labels = sorted({row[column] for row in read_table(path, kind).rows} - {""})
    return sorted(labels, key=lambda label: (label.lower() not in _FIRST, label))


def _judges(config: Config, models: dict[str, Any]) -> list[dict[str, Any]]:
    alone = {"name": "judge", "model": config.get(*_EVALUATION, "autograder_model_name")}
    judges = config.get(*_EVALUATION, "judges") or [alone]
    for judge in judges:
        models[str(judge["name"])] = _model(judge.get("model"), 0.0)
    return [{"name": str(judge["name"]), "judge": "llm", "model": str(judge["name"])} for judge in judges]


def _model(name: Any, temperature: float | None = None, tokens: Any = None) -> dict[str, Any]:
    model = {"provider": "litellm", "model": str(name or "openai/gpt-4o-mini")}
    return model | _without_none({"temperature": temperature, "max_tokens": tokens})


def _without_none(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _tests(config: Config, models: dict[str, Any]) -> list[dict[str, Any]]:
    """Translate the tests to run and to evaluate, each once; the models they need are added."""
    names = [
        str(name)
        for section, key in (("perturbation_config", "tests_to_run"), ("evaluation_config", "tests_to_evaluate"))
        for name in config.get("admin", section, key) or ()
    ]
    tests = list(_translate(config, tuple(dict.fromkeys(names))))
    used = str(tests)
    for role, stage in ((_WRITER, "generation"), (_CHECKER, "validation")):
        model, tokens = (config.get(_SYNTHETIC, key) for key in (f"{stage}_model_name", f"max_tokens_{stage}"))
        # Models are declared for the tests that were translated only.
        if f"'{role}'" in used:
            models[role] = _model(model, None, tokens)
    for stage in ("planner", "editor", "summary", "verifier"):
        settings = config.get(_AGENTIC, stage)
        if f"'{stage}'" in used.replace(f"'{stage}':", "") and settings:
            models[stage] = _model(settings.get("model"), settings.get("temperature"))
    if not tests:
        config.todo.append("name a test: the configuration has none that jrh knows")
        tests = [{"stochastic": {"repeats": 5}}]
    return tests


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
    stages = {"planner": "planner", "editor": "editor", "summary": "summarizer", "verifier": "verifier"}
    options: dict[str, Any] = {"model": _WRITER}
    options |= {ours: theirs for theirs, ours in stages.items() if config.get(_AGENTIC, theirs)}
    rounds = config.get(_AGENTIC, "max_edit_rounds")
    if rounds:
        # The most that the option allows: with a larger number, the suite would be refused.
        options["max_rounds"] = min(int(rounds), 10)
    return options | _sample(config, _AGENTIC, seed="sampling_seed")
