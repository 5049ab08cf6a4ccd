"""Plain values to typed ones and back."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import attrs
import pytest
from attrs import field, frozen
from attrs import validators as v
from hypothesis import given
from hypothesis import strategies as st
from jrh.document.convert import collect, expectation_kind, from_json, structure, to_json, unstructure
from jrh.document.positions import unknown_key
from jrh.document.yaml_reader import in_order, parse_document
from jrh.errors import JrhError, PluginError, SuiteError
from jrh.values.cases import (
    Case,
    Changes,
    Condition,
    Draft,
    Equals,
    NotAbove,
    NotBelow,
    Polarity,
    Prompt,
    Provenance,
    Same,
    Sampling,
    Skip,
    Validation,
)
from jrh.values.items import Item, Mode, Task
from jrh.values.json_values import Json
from jrh.values.measures import Measure
from jrh.values.option_values import ModelName, ParserName, Text
from jrh.values.scales import Scale
from jrh.values.verdicts import Record, Reply, Status, Usage, Verdict
from jrh_testing import loop_over


@frozen(kw_only=True)
class Inner:
    """Nested options."""

    n: int = 3
    share: float = field(default=1.0, validator=[v.ge(0), v.le(1)])


@frozen(kw_only=True)
class Options:
    """One option of every type a plugin may declare."""

    count: int = field(default=1, validator=v.gt(0))
    ratio: float = 1.0
    flag: bool = False
    name: str = field(default="a", validator=v.in_(("a", "b")))
    path: Path | None = None
    text: Text | None = None
    modes: tuple[Mode, ...] = ()
    pair: tuple[int, str] = (1, "x")
    unit: Literal["x", 1] = "x"
    model: ModelName | None = None
    parsers: tuple[ParserName, ...] = ()
    inner: Inner = Inner()
    shares: Mapping[str, float] = field(factory=dict)
    anything: Json = None
    table: Mapping[str, Json] = field(factory=dict)
    stratify: bool | str = False
    limit: float | None = None
    words: tuple[str, ...] = field(default=("w",), validator=v.min_len(1))


def mistakes(value, cls=Options, base=Path()):
    with pytest.raises(SuiteError) as caught:
        structure(value, cls, base=base)
    return [str(problem) for problem in caught.value.problems]


def test_every_option_type_is_read(tmp_path):
    (tmp_path / "r.txt").write_bytes(b"\xef\xbb\xbfwhy\n")
    options = structure(
        {
            "count": 2,
            "ratio": 3,
            "flag": True,
            "path": "../x.csv",
            "text": {"file": "r.txt"},
            "modes": ["pairwise"],
            "pair": [3, "y"],
            "unit": 1,
            "model": "writer",
            "parsers": ["json", "label"],
            "inner": {"n": 4, "share": 0},
            "shares": {"a": 1},
            "anything": [1, {"b": None}],
            "table": {"k": [1.5, "t", False]},
            "stratify": "topic",
            "limit": 3,
        },
        Options,
        base=tmp_path,
    )
    assert options == Options(
        count=2,
        ratio=3.0,
        flag=True,
        path=tmp_path / "../x.csv",
        text=Text(content="why\n", source="r.txt"),
        modes=(Mode.PAIRWISE,),
        pair=(3, "y"),
        unit=1,
        model=ModelName("writer"),
        parsers=(ParserName("json"), ParserName("label")),
        inner=Inner(n=4, share=0.0),
        shares={"a": 1.0},
        anything=[1, {"b": None}],
        table={"k": [1.5, "t", False]},
        stratify="topic",
        limit=3.0,
    )
    assert type(options.ratio) is float
    assert type(options.limit) is float


@loop_over(
    ("value", "message"),
    [
        ({"count": 2.9}, "count: expected a whole number, got the number 2.9"),
        ({"count": 2.0}, "count: expected a whole number, got the number 2.0"),
        ({"count": "3"}, "count: expected a whole number, got the text '3'"),
        ({"count": True}, "count: expected a whole number, got true"),
        ({"count": None}, "count: expected a whole number, got nothing"),
        ({"count": 0}, "count: must be more than 0, got 0"),
        ({"ratio": False}, "ratio: expected a number, got false"),
        ({"ratio": "1.5"}, "ratio: expected a number, got the text '1.5'"),
        ({"ratio": float("nan")}, "ratio: expected a finite number, got nan"),
        ({"limit": float("-inf")}, "limit: expected a finite number, got -inf"),
        ({"ratio": 10**400}, "ratio: the number is too large"),
        ({"flag": 1}, "flag: expected true or false, got the whole number 1"),
        ({"flag": "yes"}, "flag: expected true or false, got the text 'yes'"),
        ({"name": 3}, "name: expected text, got the whole number 3; write it in quotes"),
        ({"name": False}, "name: expected text, got false; write it in quotes"),
        ({"name": "c"}, "name: must be in ('a', 'b') (got 'c')"),
        ({"path": 3}, "path: expected a path, got the whole number 3"),
        ({"path": ""}, "path: expected a path, got the empty text"),
        ({"text": 3}, "text: expected text or `{file: name}`, got the whole number 3"),
        ({"text": {"fiel": "x"}}, "text: expected text or `{file: name}`, got a mapping"),
        ({"text": {"file": 3}}, "text.file: expected the name of a file, got the whole number 3"),
        ({"text": {"file": "no.txt"}}, "text.file: cannot read 'no.txt': No such file or directory"),
        ({"text": {"file": "a\0b"}}, "text.file: cannot read 'a\0b': a file name cannot contain a NUL character"),
        ({"modes": "pairwise"}, "modes: expected a list, got the text 'pairwise'"),
        (
            {"modes": ["pointwise", "pairwis"]},
            (
                "modes[1]: expected one of pointwise, pairwise, transcript, got the text 'pairwis'\n"
                "Did you mean 'pairwise'?"
            ),
        ),
        ({"pair": [1]}, "pair: expected a list of 2, got 1"),
        ({"pair": ["1", "x"]}, "pair[0]: expected a whole number, got the text '1'"),
        ({"unit": True}, "unit: expected one of x, 1, got true"),
        ({"unit": "1"}, "unit: expected one of x, 1, got the text '1'"),
        ({"model": 4}, "model: expected the name of a model, got the whole number 4"),
        ({"parsers": [4]}, "parsers[0]: expected the name of a parser, got the whole number 4"),
        ({"inner": 4}, "inner: expected a mapping, got the whole number 4"),
        ({"inner": {"share": 2}}, "inner.share: must be at most 1, got 2.0"),
        ({"inner": {"m": 2}}, "inner.m: unknown key\nKnown keys: n, share."),
        ({"shares": {"a": "x"}}, "shares.a: expected a number, got the text 'x'"),
        ({"shares": []}, "shares: expected a mapping, got a list"),
        ({"anything": [{"a": float("inf")}]}, "anything[0].a: expected a finite number, got inf"),
        ({"stratify": 3}, "stratify: expected true or false or text, got the whole number 3; write it in quotes"),
        ({"words": []}, "words: the length must be at least 1, got 0"),
        ({"words": "w"}, "words: expected a list, got the text 'w'"),
        (["count"], "expected a mapping, got a list"),
    ],
)
def test_a_wrong_value_is_refused_in_words(value, message):
    assert mistakes(value) == [message]


def test_an_unknown_key_gets_the_closest_known_one_and_all_of_them():
    (message,) = mistakes({"Cuont": 3})
    assert message.startswith("Cuont: unknown key\nDid you mean 'count'? Known keys: count, ratio, flag, ")


def test_a_long_text_is_shortened_in_the_message():
    (message,) = mistakes({"count": "x" * 500})
    assert message == f"count: expected a whole number, got the text '{'x' * 57}...'"


def test_all_mistakes_are_reported_with_the_line_and_column_of_their_keys():
    text = "count: 0\nratio: x\ninner:\n  n: 2.5\n  share: 7\nmodes: [pairwise, none]\n"
    document = parse_document(text, "o.yaml")
    instance, problems = collect(document.value, Options, base=Path(), document=document)
    assert instance is None
    assert [str(problem).partition("\n")[0] for problem in in_order(problems)] == [
        "o.yaml:1:1: count: must be more than 0, got 0",
        "o.yaml:2:1: ratio: expected a number, got the text 'x'",
        "o.yaml:4:3: n: expected a whole number, got the number 2.5",
        "o.yaml:5:3: share: must be at most 1, got 7.0",
        "o.yaml:6:19: modes[1]: expected one of pointwise, pairwise, transcript, got the text 'none'",
    ]


def test_a_missing_key_is_reported_at_its_mapping():
    @frozen(kw_only=True)
    class Sample:
        n: int

    @frozen(kw_only=True)
    class Data:
        sample: Sample

    assert mistakes({"sample": {}}, Data) == ["sample: missing key 'n'"]


def test_a_validator_that_looks_at_other_fields_is_asked_when_all_are_there():
    @frozen(kw_only=True)
    class Range:
        low: int = 0
        high: int = field(default=9)

        @high.validator
        def _above(self, attribute, value):
            if value < self.low:
                raise ValueError("high is below low")

    assert mistakes({"low": 3, "high": 2}, Range) == ["high is below low"]
    assert structure({"low": 2, "high": 3}, Range) == Range(low=2, high=3)


def test_an_error_of_the_class_itself_is_reported_at_the_whole():
    assert mistakes({"kind": "labels", "labels": ["A", "A"]}, Scale) == ["a scale needs distinct labels, got A, A"]


def test_a_validator_with_a_bug_shows_itself_instead_of_a_message_about_the_suite():
    @frozen(kw_only=True)
    class Broken:
        n: int = field(default=1, validator=lambda instance, attribute, value: {}["lost"])

    with pytest.raises(KeyError, match="lost"):
        structure({"n": 3}, Broken)


def test_options_with_a_type_no_suite_can_write_are_the_plugins_fault():
    @frozen(kw_only=True)
    class Odd:
        when: complex = 0j

    assert "a type that a suite cannot express" in mistakes({"when": 3}, Odd)[0]


def test_an_options_class_that_names_a_missing_type_is_the_plugins_fault():
    @frozen(kw_only=True)
    class Lost:
        when: "Nowhere" = None  # noqa: F821

    with pytest.raises(PluginError, match=r"Lost cannot be used: name 'Nowhere' is not defined"):
        structure({}, Lost)


def test_json_options_need_no_imports_of_the_types_json_is_made_of():
    namespace = {"frozen": frozen, "Json": Json}
    exec(
        "from __future__ import annotations\n"
        "from collections.abc import Mapping\n"
        "@frozen(kw_only=True)\nclass Loose:\n    extra: Json = None\n    more: Mapping[str, Json] = {}\n",
        namespace | {"__name__": __name__},
        scope := {},
    )
    cls = scope["Loose"]
    cls.__module__ = __name__
    assert structure({"extra": [1, {"a": "b"}]}, cls).extra == [1, {"a": "b"}]


def test_a_home_path_is_expanded_and_an_absolute_path_stays(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert structure({"path": "~/x"}, Options, base=Path("b")).path == tmp_path / "x"
    assert structure({"path": str(tmp_path / "y")}, Options, base=Path("b")).path == tmp_path / "y"


def test_options_are_stored_as_they_were_written(tmp_path):
    (tmp_path / "r.txt").write_text("why", encoding="utf-8")
    written = {"path": "../data/x.csv", "text": {"file": "r.txt"}, "modes": ["pairwise"], "unit": 1}
    options = structure(written, Options, base=tmp_path)
    stored = json.loads(json.dumps(unstructure(options, base=tmp_path)))
    assert stored["path"] == "../data/x.csv"
    assert stored["text"] == "why"
    assert stored["modes"] == ["pairwise"]
    again = structure(stored, Options, base=tmp_path)
    assert again == attrs.evolve(options, text=Text(content="why"))


def test_a_path_outside_the_suite_is_stored_whole(tmp_path):
    assert unstructure(Options(path=tmp_path), base=tmp_path / "elsewhere")["path"] == tmp_path.as_posix()


def round_trip(value):
    return from_json(type(value), json.loads(json.dumps(to_json(value))))


TASK = Task(name="t", instruction="i", rubric="r", scale=Scale.of_pairs(tie="C"), mode=Mode.PAIRWISE)
CASE = Case(
    id="c",
    task="t",
    test="format",
    item_id="1",
    condition=Condition(family="format", variant="crlf", polarity=Polarity.INVERTED, strength=0.5),
    fields={"response_a": "x", "nested": {"a": [1, 2.5, None, True, {"b": "c"}]}},
    prompt=Prompt(name="p", user="{{ request }}"),
    presented_task=TASK,
    expectation=Equals(label="A"),
    label_map={"A": "B", "B": "A", "C": "C"},
    sampling=Sampling(temperature=0.0, seed=3),
    gold="A",
    provenance=Provenance(component="jrh-format/format", seed=1, details={"edits": [1, 2]}),
)
RECORD = Record(
    **dict.fromkeys(("trial_id", "case_id", "item_id", "task", "test", "family", "variant", "template"), "a" * 32),
    **dict.fromkeys(("option_order", "polarity", "language", "stratum", "group", "judge", "detail", "rationale"), "b"),
    strength=0.5,
    temperature=None,
    simulated=True,
    repeat=1,
    gold="YES",
    expectation="same",
    expected=None,
    status=Status.OFF_SCALE,
    presented=None,
    canonical=None,
    probability=0.25,
    cost=None,
    prompt_tokens=12,
    completion_tokens=None,
    latency=0.1,
    attempts=1,
)


@loop_over(
    "value",
    [
        TASK,
        CASE,
        RECORD,
        Item(id="001", fields={"transcript": [{"role": "user", "content": "hi"}]}, gold="NA", metadata={"a": None}),
        Draft(fields={"response": "x"}, expectation=NotBelow(), label_map={"1": "6"}, task=TASK),
        Skip(reason="too short", details={"words": 3}),
        Validation(accepted=False, score=0.5, reason="other words", label="NO"),
        Reply(status=Status.OK, usage=Usage(prompt_tokens=3), token_probabilities=({"A": 0.75, "B": 0.25},)),
        Verdict(status=Status.OK, presented="A", probabilities={"A": 1.0}),
        Measure(
            name="kappa", judge="j", estimate=None, missing={"refused": 2}, bounds=(0.0, 1.0), flags=("degenerate",)
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_kernels_values_survive_json(value):
    assert round_trip(value) == value


@loop_over(
    ("expectation", "written"),
    [
        (Same(), {"kind": "same"}),
        (Changes(), {"kind": "changes"}),
        (NotAbove(), {"kind": "not_above"}),
        (NotBelow(), {"kind": "not_below"}),
        (Equals(label="YES"), {"kind": "equals", "label": "YES"}),
    ],
)
def test_expectations_are_told_apart_by_their_kind(expectation, written):
    case = attrs.evolve(CASE, expectation=expectation)
    assert to_json(case)["expectation"] == written
    assert round_trip(case) == case
    assert expectation_kind(expectation) == written["kind"]
    draft = attrs.evolve(Draft(), expectation=expectation)
    assert round_trip(draft) == draft
    assert round_trip(attrs.evolve(CASE, expectation=None)).expectation is None


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
number = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.builds(
        Case,
        id=text,
        task=text,
        test=text,
        item_id=text,
        condition=st.builds(Condition, family=text, strength=number, polarity=st.sampled_from(Polarity)),
        fields=st.dictionaries(text, st.none() | text | number | st.booleans() | st.lists(st.integers(), max_size=2)),
        expectation=st.none() | st.builds(Equals, label=text) | st.just(NotAbove()),
        label_map=st.dictionaries(text, text, max_size=3),
        sampling=st.builds(Sampling, temperature=st.none() | number, seed=st.none() | st.integers()),
        gold=st.none() | text,
    )
)
def test_any_case_survives_json(case):
    assert round_trip(case) == case


def test_an_error_of_structure_is_a_suite_error_that_keeps_its_problems():
    with pytest.raises(JrhError) as caught:
        structure({"count": 0, "flag": 1}, Options)
    assert [problem.source for problem in caught.value.problems] == ["count", "flag"]


def test_a_key_known_twice_is_listed_once():
    assert unknown_key("x", ["review", "judge", "review"]) == "unknown key\nKnown keys: review, judge."
