"""JSON Schemas generated from the classes that read and write."""

import importlib.util
import json
from pathlib import Path

import pytest
from jrh.document.convert import to_json
from jrh.document.yaml_reader import parse_document
from jrh.errors import SuiteError
from jrh.plugins.registry import Plugins, Registry
from jrh.suite.resolve import load_suite
from jrh.values.items import Task
from jrh.values.measures import Interval, Measure
from jrh.values.records import RecordTable
from jrh.values.report import Attrition, ComponentUsed, CostLine, FaultLine, RunReport, TaskSummary
from jrh.values.scales import Scale
from jrh.values.verdicts import Record, Status
from jrh_authoring.suite_schema import FILES, record_schema, results_schema, suite_schema, write_schemas


def _neighbour(name):
    spec = importlib.util.spec_from_file_location(f"_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_RESOLVE = _neighbour("test_resolve")
PLUGINS = _RESOLVE.plugins()
HEAD = _RESOLVE.HEAD
LEAST = _RESOLVE.LEAST


@pytest.fixture(scope="module")
def suite():
    from jsonschema import Draft202012Validator

    return Draft202012Validator(suite_schema(PLUGINS))


def loads(text):
    try:
        load_suite(parse_document(text, "s.yaml").value, PLUGINS)
    except SuiteError:
        return False
    return True


def test_the_schemas_are_valid_schemas():
    from jsonschema import Draft202012Validator

    for schema in (suite_schema(PLUGINS), record_schema(), results_schema(PLUGINS)):
        Draft202012Validator.check_schema(schema)
    nothing = Plugins(**{name: Registry(name) for name in REGISTRIES})
    Draft202012Validator.check_schema(suite_schema(nothing))


REGISTRIES = ("data_sources", "perturbers", "validators", "judges", "parsers", "metrics", "models", "reporters")


@pytest.mark.parametrize(
    "text",
    [
        LEAST,
        LEAST.replace("[baseline]", "[jrh-std/baseline, acme/twice, dice: {folds: 3}]"),
        LEAST
        + "models: {w: {provider: litellm, model: x, temperature: 0, timeout: 3, price: {input: 1, output: 2}}}\n",
        LEAST
        + "tests: [format, stochastic: {repeats: 3}, {test: format, name: b, validate: [{length: {strength: 2}}]}]\n",
        LEAST + "tests: [{format: {repeats: 3, on_mismatch: relabel}}, acme-own: ]\n",
        LEAST + "metrics: [kappa, {metric: flip-rate}]\nbudget: {usd: 1}\nreference: {repeats: 3}\nlevel: 0.9\n",
        LEAST.replace("csv}", "csv, path: x.csv, columns: {id: a}, sample: {n: 3, stratify: true}}"),
        LEAST.replace("{ordinal: [1, 6]}", "{pairwise: {tie: C}}, rubric: r, instruction: i"),
        "name: x\ntasks: [{name: a, data: {source: csv}, task: {scale: {labels: [A, B]}}}]\njudges: [baseline]\n",
    ],
)
def test_a_suite_that_loads_fits_the_schema(suite, text):
    assert loads(text)
    assert list(suite.iter_errors(parse_document(text, "s.yaml").value)) == []


@pytest.mark.parametrize(
    "text",
    [
        LEAST + "sed: 1\n",
        LEAST.replace("csv}", "csv, pth: x}"),
        LEAST.replace("source: csv", "source: cvs"),
        LEAST.replace("scale", "scael"),
        LEAST.replace("name: essays\n", ""),
        LEAST.replace("[baseline]", "[]"),
        LEAST.replace("[baseline]", "[twice]"),
        LEAST.replace("[baseline]", "[baseline: {fold: 3}]"),
        LEAST + "tests: [fromat]\n",
        LEAST + "tests: [format: {strenth: 2}]\n",
        LEAST + "tests: [{test: format, strenth: 2}]\n",
        LEAST + "tests: [{format: , strength: 2}]\n",
        LEAST + "tests: [format: {strength: x}]\n",
        LEAST + "tests: [format: {on_mismatch: x}]\n",
        LEAST + "tests: [format: {validate: [lenth]}]\n",
        LEAST + "models: {w: {provider: litellm, temprature: 0}}\n",
        LEAST + "models: {w: {model: x}}\n",
        LEAST + "budget: {usd: -1}\n",
        LEAST + "level: 1\n",
        LEAST + "resamples: 10\n",
        LEAST + "tasks: []\n",
        HEAD,
    ],
)
def test_a_suite_that_does_not_load_does_not_fit(suite, text):
    assert not loads(text)
    assert list(suite.iter_errors(parse_document(text, "s.yaml").value)) != []


def test_options_are_described_by_their_help_and_fields_by_the_text_below_them():
    schema = suite_schema(PLUGINS)
    assert schema["$defs"]["WrittenTask"]["properties"]["rubric"]["description"] == "What the labels mean."
    assert schema["$defs"]["Sample"]["properties"]["stratify"]["description"].startswith("Keep the shares")
    (data,) = schema["$defs"]["data"]["anyOf"]
    assert data["description"] == "the csv"
    assert data["properties"]["source"] == {"enum": ["csv", "jrh-std/csv"]}


def test_an_ambiguous_name_is_offered_only_with_its_distribution():
    names = suite_schema(PLUGINS)["$defs"]["judge"]["anyOf"][0]["enum"]
    assert "twice" not in names
    assert {"jrh-std/twice", "acme/twice", "baseline"} <= set(names)


RECORD = Record(
    **dict.fromkeys(("trial_id", "case_id", "item_id", "task", "test", "family", "variant", "template"), "a"),
    **dict.fromkeys(("option_order", "polarity", "language", "stratum", "group", "judge", "detail", "rationale"), "b"),
    **dict.fromkeys(("temperature", "gold", "expected", "presented", "canonical", "probability", "cost"), None),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "latency", "expectation"), None),
    strength=0.5,
    simulated=False,
    repeat=0,
    status=Status.REFUSED,
    attempts=1,
)


def test_a_record_as_written_fits_its_schema_and_a_shortened_one_does_not():
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(record_schema())
    written = json.loads(json.dumps(to_json(RECORD)))
    assert list(validator.iter_errors(written)) == []
    assert list(validator.iter_errors({**written, "status": "lost"})) != []
    assert list(validator.iter_errors({key: value for key, value in written.items() if key != "cost"})) != []


def test_results_as_written_fit_their_schema():
    from jsonschema import Draft202012Validator

    task = Task(name="t", scale=Scale.of_levels(1, 6))
    report = RunReport(
        suite="s",
        run_id="r",
        version="0.1.0",
        seed=0,
        level=0.95,
        tasks=(TaskSummary(task=task, items=2, labelled=1, gold={"1": 1}),),
        judges=("b", "a"),
        simulated=frozenset({"b", "a"}),
        tests=("reference",),
        measures=(
            Measure(
                name="kappa",
                judge="a",
                estimate=0.5,
                interval=Interval(low=0.25, high=0.75, method="wilson"),
                bounds=(0.0, 1.0),
                missing={"refused": 1},
            ),
            Measure(name="kappa", judge="b", estimate=None, flags=("degenerate",)),
        ),
        attrition=(Attrition(task="t", test="format", items=2, drafted=2, kept=1, rejected={"v: r": 1}),),
        costs=(
            CostLine(
                judge="a",
                task="t",
                test="format",
                trials=1,
                cost=0.0,
                unknown=1,
                prompt_tokens=1,
                completion_tokens=1,
                tokens_unknown=0,
            ),
        ),
        faults=(FaultLine(model="m", kind="timeout", attempts=2, final=1),),
        components=(ComponentUsed(role="judge", name="a", component="d/a", version="1", options={"x": [1, None]}),),
        planned=4,
        missing_records=0,
        notes=("one",),
        records=RecordTable.from_records([RECORD]),
    )
    plain = {name: value for name, value in to_json(report).items() if name not in RunReport.NOT_IN_RESULTS}
    written = json.loads(json.dumps(plain))
    assert written["simulated"] == ["a", "b"]
    assert list(Draft202012Validator(results_schema(PLUGINS)).iter_errors(written)) == []


def test_writing_the_schemas_twice_gives_the_same_bytes(tmp_path):
    first = {path.name: path.read_bytes() for path in write_schemas(tmp_path / "a", PLUGINS)}
    second = {path.name: path.read_bytes() for path in write_schemas(tmp_path / "b", PLUGINS)}
    assert tuple(first) == FILES
    assert first == second
    assert str(tmp_path).encode() not in b"".join(first.values())
