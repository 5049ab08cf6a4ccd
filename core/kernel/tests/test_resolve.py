"""A suite file and the installed plugins to a suite that can be run."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import field, frozen
from attrs import validators as v
from jrh.errors import SuiteError
from jrh.plugins.registry import Entry, LoadProblem, Plugins, Registry
from jrh.plugins.specs import (
    DataSourceSpec,
    JudgeKind,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ParserSpec,
    PerturberSpec,
    ReporterSpec,
    ValidatorSpec,
)
from jrh.suite.definition import Budget, Limits, OnMismatch, Price, Sample
from jrh.suite.resolve import load_suite
from jrh.suite.resolved import references
from jrh.values.cases import Sampling
from jrh.values.items import Mode
from jrh.values.option_values import ModelName, ParserName, ValidatorName
from jrh.values.scales import Scale


@frozen(kw_only=True)
class CsvOptions:
    path: Path = Path("data.csv")
    columns: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class FormatOptions:
    variants: tuple[str, ...] = ("crlf",)
    strength: int = field(default=1, validator=v.gt(0))


@frozen(kw_only=True)
class StochasticOptions:
    repeats: int = 3


@frozen(kw_only=True)
class LlmOptions:
    model: ModelName = ModelName("writer")
    parser: ParserName = ParserName("json")
    fallbacks: tuple[ModelName, ...] = ()
    by_task: Mapping[str, ModelName | None] = field(factory=dict)
    checked_by: ValidatorName | None = None


@frozen(kw_only=True)
class ProviderOptions:
    model: str = "m"
    seed: int = 0
    through: ModelName | None = None


def no_factory(options, context):
    raise AssertionError("loading a suite builds nothing")


def entry(cls, name, distribution="jrh-std", **settings):
    spec = cls(name=name, summary=f"the {name}", factory=no_factory, **settings)
    return Entry(spec=spec, distribution=distribution, version="1.0", plugin=name)


BROKEN = LoadProblem(
    plugin="acme", distribution="acme-jrh", version="0.3", message="ImportError: No module named 'torch'"
)


def plugins(problems=()):
    return Plugins(
        data_sources=Registry("data source", [entry(DataSourceSpec, "csv", options=CsvOptions)]),
        perturbers=Registry(
            "perturber",
            [
                entry(PerturberSpec, "format", options=FormatOptions, validators=("same-words",)),
                entry(PerturberSpec, "stochastic", options=StochasticOptions),
                entry(PerturberSpec, "option-order", modes=frozenset({Mode.PAIRWISE})),
                entry(PerturberSpec, "acme-own", "acme", validators=("twice",)),
            ],
            problems,
        ),
        validators=Registry(
            "validator",
            [
                entry(ValidatorSpec, "same-words"),
                entry(ValidatorSpec, "length", options=FormatOptions),
                entry(ValidatorSpec, "twice"),
                entry(ValidatorSpec, "twice", "acme"),
            ],
        ),
        judges=Registry(
            "judge",
            [
                entry(JudgeSpec, "llm", options=LlmOptions),
                entry(JudgeSpec, "baseline", kind=JudgeKind.TRAINED),
                entry(JudgeSpec, "dice", kind=JudgeKind.SIMULATED),
                entry(JudgeSpec, "twice"),
                entry(JudgeSpec, "twice", "acme"),
                entry(JudgeSpec, "pairs-only", modes=frozenset({Mode.PAIRWISE})),
            ],
        ),
        parsers=Registry("parser", [entry(ParserSpec, "json"), entry(ParserSpec, "label")]),
        metrics=Registry("metric", [entry(MetricSpec, "kappa"), entry(MetricSpec, "flip-rate")]),
        models=Registry(
            "model provider",
            [
                entry(ModelSpec, "litellm", options=ProviderOptions),
                entry(ModelSpec, "scripted", options=ProviderOptions, simulated=True),
            ],
        ),
        reporters=Registry("reporter", [entry(ReporterSpec, "markdown", filename="report.md")]),
    )


HEAD = """\
name: essays
data: {source: csv}
task: {scale: {ordinal: [1, 6]}}
"""
LEAST = HEAD + "judges: [baseline]\n"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load the text as `s.yaml` in the current directory."""
    monkeypatch.chdir(tmp_path)

    def load(text, **settings):
        Path("s.yaml").write_text(text, encoding="utf-8")
        return load_suite(Path("s.yaml"), settings.pop("plugins", plugins()), **settings)

    return load


@pytest.fixture
def mistakes(load):
    """Load a text that is wrong and return what is said about it."""

    def mistakes(text, **settings):
        with pytest.raises(SuiteError) as caught:
            load(text, **settings)
        return [str(problem) for problem in caught.value.problems]

    return mistakes


def test_a_whole_suite_is_read(load, tmp_path):
    (tmp_path / "ask.txt").write_text("Grade it.\n", encoding="utf-8")
    resolved = load(
        """\
name: essays
data: {source: csv, path: essays.csv, columns: {id: essay_id}, sample: {n: 40, seed: 7, stratify: prompt_name}}
task: {instruction: {file: ask.txt}, rubric: Six is best., scale: {ordinal: [1, 6]}}
models:
  writer:
    {provider: litellm, model: x, temperature: 0.7, max_tokens: 9, timeout: 3, concurrency: 2,
     price: {input: 1, output: 2}}
tests:
  - format
  - stochastic: {repeats: 5}
  - {test: format, name: wide, strength: 2, repeats: 4, on_mismatch: keep, validate: [length: {strength: 3}]}
judges:
  - baseline
  - {name: mini, judge: llm, model: writer, parser: label, folds: 3}
metrics: [kappa]
budget: {usd: 5, calls: 100}
seed: 11
reference: {repeats: 3}
level: 0.9
resamples: 500
"""
    )
    suite = resolved.suite
    (task,) = suite.tasks
    assert (task.task.name, task.task.instruction, task.task.rubric) == ("essays", "Grade it.\n", "Six is best.")
    assert task.task.scale == Scale.of_levels(1, 6)
    assert task.task.mode is Mode.POINTWISE
    assert task.data.sample == Sample(n=40, seed=7, stratify="prompt_name")
    assert resolved.sources[0].options == CsvOptions(path=Path("essays.csv"), columns={"id": "essay_id"})
    writer = suite.models["writer"]
    assert writer.sampling == Sampling(temperature=0.7, max_tokens=9)
    assert writer.limits == Limits(concurrency=2, timeout=3.0)
    assert writer.price == Price(input=1.0, output=2.0)
    assert resolved.models["writer"].options == ProviderOptions(model="x")
    assert [test.use.name for test in resolved.tests] == ["format", "stochastic", "wide"]
    assert [test.use.repeats for test in resolved.tests] == [None, None, 4]
    assert resolved.tests[1].steps[0].component.options == StochasticOptions(repeats=5)
    wide = resolved.tests[2]
    assert wide.use.on_mismatch is OnMismatch.KEEP
    assert wide.steps[0].component.options == FormatOptions(strength=2)
    assert [each.use.name for each in wide.steps[0].validators] == ["same-words", "length"]
    assert wide.steps[0].validators[1].options == FormatOptions(strength=3)
    assert [judge.use.name for judge in resolved.judges] == ["baseline", "mini"]
    assert [judge.folds for judge in suite.judges] == [5, 3]
    assert resolved.judges[1].options == LlmOptions(parser=ParserName("label"))
    assert [metric.entry.qualified for metric in resolved.metrics] == ["jrh-std/kappa"]
    assert [reporter.use.name for reporter in resolved.reporters] == ["markdown"]
    assert suite.budget == Budget(usd=5.0, calls=100)
    assert (suite.seed, suite.reference_repeats, suite.level, suite.resamples) == (11, 3, 0.9, 500)
    assert (suite.base, suite.source, resolved.limit) == (Path(), "s.yaml", None)


def test_what_is_left_out_has_the_documented_defaults(load):
    resolved = load(LEAST)
    assert (resolved.suite.reference_repeats, resolved.suite.level, resolved.suite.budget) == (2, 0.95, Budget())
    assert resolved.tests == ()
    assert [metric.use.name for metric in resolved.metrics] == ["kappa", "flip-rate"]


@pytest.mark.parametrize(
    ("written", "scale"),
    [
        ("{ordinal: [1, 6]}", Scale.of_levels(1, 6)),
        ("{ordinal: [0, 1]}", Scale.of_levels(0, 1)),
        ("{ordinal: [1, 3, 5]}", Scale(kind=Scale.of_levels(1, 2).kind, labels=("1", "3", "5"))),
        ("{ordinal: [poor, fair, good]}", Scale(kind=Scale.of_levels(1, 2).kind, labels=("poor", "fair", "good"))),
        ("{ordinal: [low, high]}", Scale(kind=Scale.of_levels(1, 2).kind, labels=("low", "high"))),
        ("{labels: [YES, NO]}", Scale.of_labels("YES", "NO")),
        ("{labels: [yes, no, NA]}", Scale.of_labels("yes", "no", "NA")),
        ("{labels: [0, 1]}", Scale.of_labels("0", "1")),
        ("{labels: [001, 002]}", Scale.of_labels("001", "002")),
        ("{pairwise: true}", Scale.of_pairs()),
        ("{pairwise: {tie: C}}", Scale.of_pairs(tie="C")),
        ("{pairwise: {tie: 0}}", Scale.of_pairs(tie="0")),
    ],
)
def test_scales_are_read_with_labels_as_text(load, written, scale):
    resolved = load(f"name: x\ndata: {{source: csv}}\ntask: {{scale: {written}}}\njudges: [baseline]\n")
    assert resolved.suite.tasks[0].task.scale == scale


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{labels: [YES, YES]}", "scale: a scale needs distinct labels, got YES, YES"),
        ("{labels: [1, '1']}", "scale: a scale needs distinct labels, got 1, 1"),
        ("{labels: [' YES', NO]}", "scale: a label is text without white space around it"),
        ("{labels: ['', NO]}", "scale: a label is text without white space around it"),
        ("{ordinal: [6, 1]}", "scale: an ordinal scale goes from a lower to a higher number, got [6, 1]"),
        ("{ordinal: [1, 100000000]}", "scale: an ordinal scale has at most 1000 levels, got 100000000"),
        ("{ordinal: [1]}", "scale: the length must be at least 2, got 1"),
        ("{pairwise: {tie: A}}", "scale: a scale needs distinct labels, got A, B, A"),
        ("{pairwise: false}", "scale: write `pairwise: true`, or another scale"),
        ("{}", "scale: give one of `ordinal: [1, 6]`, `labels: [YES, NO]` and `pairwise: true`"),
        (
            "{labels: [A, B], pairwise: true}",
            "scale: give one of `ordinal: [1, 6]`, `labels: [YES, NO]` and `pairwise: true`",
        ),
    ],
)
def test_labels_that_make_no_scale_are_refused(mistakes, written, message):
    text = f"name: x\ndata: {{source: csv}}\ntask:\n  scale: {written}\njudges: [baseline]\n"
    (found,) = mistakes(text)
    assert found.startswith(f"s.yaml:4:3: {message}")


def test_a_label_that_yaml_reads_as_something_else_is_not_guessed(mistakes):
    text = "name: x\ndata: {source: csv}\ntask:\n  scale:\n    labels: [true, 1.5]\njudges: [baseline]\n"
    assert mistakes(text) == [
        "s.yaml:5:14: labels[0]: expected text or a whole number, got true; write it in quotes",
        "s.yaml:5:20: labels[1]: expected text or a whole number, got the number 1.5; write it in quotes",
    ]


def test_a_pairwise_scale_makes_a_pairwise_task_and_refuses_another_mode(load, mistakes):
    text = "name: x\ndata: {source: csv}\ntask: {scale: {pairwise: true}}\njudges: [baseline]\ntests: [option-order]\n"
    assert load(text).suite.tasks[0].task.mode is Mode.PAIRWISE
    assert mistakes(text.replace("true}}", "true}, mode: pointwise}")) == [
        "s.yaml:3:33: mode: a pairwise scale compares two responses; leave `mode` out"
    ]


def test_several_tasks_have_names_of_their_own(load, mistakes):
    task = "{name: %s, data: {source: csv}, task: {scale: {labels: [A, B]}}}"
    text = f"name: x\ntasks:\n  - {task % 'facts'}\n  - {task % 'style'}\njudges: [baseline]\n"
    assert [use.task.name for use in load(text).suite.tasks] == ["facts", "style"]
    assert len(load(text).sources) == 2
    assert mistakes(text.replace("style", "facts")) == [
        "s.yaml:4:6: name: two tasks are named 'facts'; give one of them another `name:`"
    ]
    assert mistakes(text + "data: {source: csv}\n") == [
        "s.yaml:6:1: data: cannot be combined with `tasks`; move it into one of the tasks"
    ]
    assert mistakes("name: x\ntasks: []\njudges: [baseline]\n") == ["s.yaml:2:1: tasks: name at least one task"]


def test_a_components_own_option_wins_over_the_suites_key_of_the_same_name(load):
    resolved = load(LEAST + "tests:\n  - {test: stochastic, repeats: 9}\n  - format: {repeats: 9}\n")
    own, ours = resolved.tests
    assert (own.use.repeats, own.steps[0].component.options) == (None, StochasticOptions(repeats=9))
    assert (ours.use.repeats, ours.steps[0].component.options) == (9, FormatOptions())
    model = load(LEAST + "models: {m: {provider: litellm, seed: 4}}\n").models["m"]
    assert (model.use.sampling.seed, model.options.seed) == (None, 4)


def test_a_component_without_options_may_be_written_with_a_colon(load):
    resolved = load(LEAST + "tests:\n  - format:\n  - jrh-std/stochastic:\n")
    assert [test.use.name for test in resolved.tests] == ["format", "stochastic"]


def test_the_perturbers_own_validators_come_first_and_from_its_own_distribution(load):
    resolved = load(LEAST + "tests: [acme-own, {format: {validate: [length, same-words]}}]\n")
    assert [each.entry.qualified for each in resolved.tests[0].steps[0].validators] == ["acme/twice"]
    assert [each.use.name for each in resolved.tests[1].steps[0].validators] == ["length", "same-words"]


def test_all_mistakes_of_a_suite_are_shown_at_once_in_the_order_of_the_file(mistakes):
    text = """\
nam: essays
data: {source: csv, pth: e.csv, sample: {n: 40.5}}
task: {instruction: {file: no.txt}, scale: {labels: [YES]}}
models:
  w: {provider: litellm, temprature: 0.7, timeout: 0}
tests:
  - fromat
  - stochastic: {repeats: x}
  - format: {strenth: 2, repeats: 0}
  - format:
    strength: 2
  - {test: format, name: v, validate: [same-word]}
judges:
  - twice
  - {name: mini, judge: llm, model: W, parser: xml, folds: 1}
metrics: kappa
budget: {usd: -5}
"""
    assert mistakes(text) == [
        (
            "s.yaml:1:1: nam: unknown key\nDid you mean 'name'? Known keys: name, data, task, tasks, models, parsers, "
            "tests, judges, allocate, metrics, reports, budget, seed, reference, level, resamples, findings."
        ),
        "s.yaml:1:1: missing key 'name'",
        (
            "s.yaml:2:21: pth: unknown key\n"
            "Did you mean 'path'? Known keys: path, columns, source, name, sample, gold_source, covariates."
        ),
        "s.yaml:2:42: n: expected a whole number, got the number 40.5",
        "s.yaml:3:22: file: cannot read 'no.txt': No such file or directory",
        "s.yaml:3:37: scale: the length must be at least 2, got 1",
        (
            "s.yaml:5:26: temprature: unknown key\n"
            "Did you mean 'temperature'? Known keys: model, seed, through, provider, "
            "temperature, top_p, max_tokens, reasoning_effort, concurrency, requests_per_minute, tokens_per_minute, "
            "timeout, max_attempts, max_wait, system, price."
        ),
        "s.yaml:5:43: timeout: must be more than 0, got 0.0",
        (
            "s.yaml:7:5: unknown perturber 'fromat' in tests[0]\n"
            "Did you mean 'format'? Installed: acme-own, format, option-order, stochastic."
        ),
        "s.yaml:8:18: repeats: expected a whole number, got the text 'x'",
        (
            "s.yaml:9:14: strenth: unknown key\n"
            "Did you mean 'strength'? Known keys: variants, strength, test, name, validate, on_mismatch, "
            "repeats, sample, ids, allow_empty."
        ),
        "s.yaml:9:26: repeats: must be more than 0, got 0",
        (
            "s.yaml:10:5: tests[3]: no key 'test' says which test this is; "
            "should the options of 'format' be indented further?\n"
            "Write `test: NAME` with the options next to it, or `NAME: {options}`."
        ),
        (
            "s.yaml:12:40: unknown validator 'same-word' in tests[4].validate[0]\n"
            "Did you mean 'same-words'? Installed: length, same-words, twice."
        ),
        "s.yaml:14:5: ambiguous judge 'twice' in judges[0]: write one of acme/twice, jrh-std/twice",
        "s.yaml:15:30: model: unknown model 'W'\nDid you mean 'w'? Models of the suite: w.",
        "s.yaml:15:40: parser: unknown parser 'xml'\nInstalled: json, label.",
        "s.yaml:15:53: folds: must be at least 2, got 1",
        "s.yaml:16:1: metrics: expected a list, got the text 'kappa'",
        "s.yaml:17:10: usd: must be at least 0, got -5.0",
    ]


def test_an_unknown_component_names_the_plugins_that_did_not_load(mistakes):
    assert mistakes(LEAST + "tests:\n  - paraphase\n", plugins=plugins([BROKEN])) == [
        (
            "s.yaml:6:5: unknown perturber 'paraphase' in tests[0]\n"
            "Installed: acme-own, format, option-order, stochastic.\n"
            "1 plugin did not load fully and may provide it: acme-jrh 0.3 (ImportError: No module named 'torch').\n"
            "Run `jrh plugins list` for details."
        )
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml: the suite is empty; `jrh init` writes one to start from"),
        ("# nothing\n", "s.yaml: the suite is empty; `jrh init` writes one to start from"),
        ("- a\n", "s.yaml:1:1: a suite is a mapping with keys such as name, data and judges; got a list"),
        ("essays\n", "s.yaml:1:1: a suite is a mapping with keys such as name, data and judges; got the text 'essays'"),
        (HEAD, "s.yaml:1:1: missing key 'judges'"),
        (HEAD + "judges:\n", "s.yaml:4:1: judges: expected a list, got nothing"),
        (HEAD + "judges: []\n", "s.yaml:4:1: judges: name at least one judge"),
        (
            HEAD + "judges: [3]\n",
            "s.yaml:4:10: judges[0]: expected the name of a judge or a mapping, got the whole number 3",
        ),
        (HEAD + "judges: [{}]\n", "s.yaml:4:10: judges[0]: no key 'judge' says which judge this is\nWrite "),
        (
            HEAD + "judges: [baseline: 3]\n",
            "s.yaml:4:10: baseline: expected a mapping of options, got the whole number 3",
        ),
        (HEAD + "judges: [{judge: ''}]\n", "s.yaml:4:11: judge: expected the name of a judge, got the text ''"),
        (HEAD + "judges: [baseline: {judge: llm}]\n", "s.yaml:4:21: judge: unknown key\n"),
        (LEAST.replace("essays", "''"), "s.yaml:1:1: name: the name is empty"),
        (LEAST.replace("essays", "a/b"), "s.yaml:1:1: name: the name 'a/b' has a slash, a line break or white space"),
        (
            LEAST.replace("essays", "2024"),
            "s.yaml:1:1: name: expected text, got the whole number 2024; write it in quotes",
        ),
        (LEAST.replace("source: csv", "path: x"), "s.yaml:2:1: data: missing key 'source'"),
        (LEAST.replace("{source: csv}", "csv"), "s.yaml:2:1: data: expected a mapping, got the text 'csv'"),
        (
            LEAST.replace("source: csv", "source: cvs"),
            "s.yaml:2:8: unknown data source 'cvs' in data\nDid you mean 'csv'?",
        ),
        (
            LEAST + "tests: [{format: {name: reference}}]\n",
            "s.yaml:5:10: format: 'reference' is the name of the unperturbed",
        ),
        (LEAST + "tests: [format, format]\n", "s.yaml:5:17: tests[1]: two tests are named 'format'; give one of them"),
        (
            LEAST + "tests: [option-order]\n",
            "s.yaml:5:9: 'option-order' fits no task: 'essays' is pointwise; 'option-order' is for: pairwise",
        ),
        (
            LEAST.replace("baseline", "pairs-only"),
            "s.yaml:4:10: 'pairs-only' fits no task: 'essays' is pointwise; 'pairs-only' is for: pairwise",
        ),
        (LEAST + "models: {w: {}}\n", "s.yaml:5:10: w: missing key 'provider'"),
        (
            LEAST + "models: {w: litellm}\n",
            "s.yaml:5:10: w: expected a mapping with a provider and its options, got the",
        ),
        (LEAST + "models: [w]\n", "s.yaml:5:1: models: expected a mapping from names to models, got a list"),
        (LEAST.replace("baseline", "llm"), "s.yaml:4:10: model: unknown model 'writer'\nDescribe it under `models`."),
        (LEAST + "level: 1.0\n", "s.yaml:5:1: level: must be less than 1, got 1.0"),
        (LEAST + "reference: {repeats: 0}\n", "s.yaml:5:13: repeats: must be at least 1, got 0"),
    ],
)
def test_each_mistake_has_one_clear_message(mistakes, text, message):
    (found,) = mistakes(text)
    assert found.startswith(message)


def test_a_missing_suite_is_named(tmp_path):
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "no.yaml", plugins())
    assert str(caught.value) == f"{tmp_path / 'no.yaml'}: cannot be read: No such file or directory"


def test_paths_start_at_the_suites_directory(tmp_path):
    directory = tmp_path / "suites"
    directory.mkdir()
    (directory / "s.yaml").write_text(LEAST.replace("csv}", "csv, path: ../e.csv}"), encoding="utf-8")
    assert load_suite(directory / "s.yaml", plugins()).sources[0].options.path == directory / "../e.csv"


def test_a_dict_is_a_suite_too_and_its_mistakes_name_the_keys():
    suite = {
        "name": "essays",
        "data": {"source": "csv", "path": Path("x") / "y.csv"},
        "task": {"scale": {"labels": ("YES", "NO")}, "mode": Mode.POINTWISE},
        "judges": ["baseline"],
        "tests": [{"format": {"strength": 2}}],
    }
    resolved = load_suite(suite, plugins())
    assert resolved.sources[0].options.path == Path("x/y.csv")
    assert (resolved.suite.source, resolved.suite.base) == ("suite", Path())
    wrong = {**suite, "tests": [{"format": {"strength": "2"}}, "fromat"], "judges": [], "sed": 1}
    with pytest.raises(SuiteError) as caught:
        load_suite(wrong, plugins())
    assert [str(problem).partition("\n")[0] for problem in caught.value.problems] == [
        "sed: unknown key",
        "judges: name at least one judge",
        "tests[0].format.strength: expected a whole number, got the text '2'",
        "tests[1]: unknown perturber 'fromat'",
    ]


def test_settings_override_the_file_and_their_mistakes_name_them(load, mistakes):
    text = LEAST + "tests: [format]\n"
    resolved = load(text, overrides=["data.sample.n=3", "tests.format.strength=7", "seed=5"])
    assert resolved.suite.tasks[0].data.sample == Sample(n=3)
    assert resolved.tests[0].steps[0].component.options.strength == 7
    assert resolved.suite.seed == 5
    assert mistakes(text, overrides=["tests.format.strength=x", "data.sampel.n=3", "judges.baseline.folds=1"]) == [
        "--set judges.baseline.folds: must be at least 2, got 1",
        (
            "--set data.sampel.n: unknown key\n"
            "Did you mean 'sample'? Known keys: path, columns, source, name, sample, gold_source, "
            "covariates."
        ),
        "--set tests.format.strength: expected a whole number, got the text 'x'",
    ]


def test_filters_keep_what_they_name(load):
    text = HEAD + "judges: [baseline, dice]\ntests: [format, stochastic]\n"
    resolved = load(text, judges=["dice"], tests=["stochastic"], limit=4)
    assert [judge.use.name for judge in resolved.judges] == ["dice"]
    assert [use.name for use in resolved.suite.judges] == ["dice"]
    assert [test.use.name for test in resolved.tests] == ["stochastic"]
    assert [use.name for use in resolved.suite.tests] == ["stochastic"]
    assert resolved.limit == 4
    assert load(text, tests=["reference"]).tests == ()


def test_filters_that_name_nothing_are_refused(mistakes):
    text = HEAD + "judges: [baseline, dice]\ntests: [format]\n"
    assert mistakes(text, judges=["basline"], tests=["x"], limit=0) == [
        "--judge: the suite has no judge 'basline'\nDid you mean 'baseline'? It has: baseline, dice.",
        "--test: the suite has no test 'x'\nIt has: reference, format.",
        "--limit: must be at least 1, got 0",
    ]


def test_a_filter_is_not_blamed_for_a_judge_that_could_not_be_read(mistakes):
    (found,) = mistakes(HEAD + "judges: [baseline: 3]\n", judges=["baseline"])
    assert found.startswith("s.yaml:4:10: baseline: expected a mapping")


def test_references_are_found_wherever_they_stand():
    options = LlmOptions(
        model=ModelName("a"),
        fallbacks=(ModelName("b"), ModelName("c")),
        by_task={"t": ModelName("d"), "u": None},
        checked_by=ValidatorName("length"),
    )
    assert references(options) == [
        ("model", "a"),
        ("parser", "json"),
        ("model", "b"),
        ("model", "c"),
        ("model", "d"),
        ("validator", "length"),
    ]


def test_a_judge_is_simulated_by_itself_or_by_a_model_it_asks_in_the_end(load):
    resolved = load(
        HEAD
        + """\
models:
  writer: {provider: litellm}
  gate: {provider: litellm, through: fake}
  loop: {provider: litellm, through: loop}
  fake: {provider: scripted}
judges:
  - baseline
  - dice
  - {judge: llm, name: real}
  - {judge: llm, name: direct, model: fake}
  - {judge: llm, name: indirect, model: gate}
  - {judge: llm, name: second, fallbacks: [writer, fake]}
  - {judge: llm, name: circle, model: loop}
"""
    )
    assert resolved.simulated_judges == {"dice", "direct", "indirect", "second"}
