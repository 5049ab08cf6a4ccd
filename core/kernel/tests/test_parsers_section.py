"""`parsers:` of a suite: parsers with options, by name, wherever an option names a parser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from jrh import JudgeSpec, ParserName, ParserSpec, SuiteError, ValidatorName, ValidatorSpec
from jrh.plugins.registry import Entry
from jrh.running.building import Builder
from jrh.running.identity import identity, parts_used
from jrh.suite.resolve import load_suite
from jrh.suite.resolved import ResolvedSuite
from jrh_authoring.suite_schema import suite_schema


@frozen(kw_only=True)
class PairOptions:
    comparatives: bool = True


@frozen(kw_only=True)
class NeedyOptions:
    key: str


@frozen(kw_only=True)
class FirstOfOptions:
    parsers: tuple[ParserName, ...] = (ParserName("label"),)


@frozen(kw_only=True)
class LoopOptions:
    rest: ParserName = ParserName("loop")


@frozen(kw_only=True)
class JudgeOptions:
    parser: ParserName = ParserName("pairwise")
    more: tuple[ParserName, ...] = ()
    checked_by: ValidatorName | None = None


@frozen
class Built:
    """A component that shows what it was built from."""

    options: Any
    parsers: Any = field(default=())

    async def judge(self, question: Any) -> Any: ...

    async def validate(self, item: Any, draft: Any) -> Any: ...

    def parse(self, reply: Any, scale: Any) -> Any: ...


def pairwise(version: str = "1.0", distribution: str = "acme") -> Entry[Any]:
    spec = ParserSpec(
        name="pairwise", summary="", options=PairOptions, factory=lambda options, context: Built(options, context.name)
    )
    return Entry(spec=spec, distribution=distribution, version=version, plugin="p")


def make_judge(options: JudgeOptions, context: Any) -> Built:
    return Built(options, [context.parser(name) for name in (options.parser, *options.more)])


def first_of(options: FirstOfOptions, context: Any) -> Built:
    return Built(options, [context.parser(name) for name in options.parsers])


SPECS = (
    JudgeSpec(name="asker", summary="", options=JudgeOptions, factory=make_judge),
    ParserSpec(name="label", summary="", factory=lambda options, context: Built(options, context.name)),
    ParserSpec(name="needy", summary="", options=NeedyOptions, factory=lambda options, context: Built(options)),
    ParserSpec(name="first-of", summary="", options=FirstOfOptions, factory=first_of),
    ParserSpec(name="loop", summary="", options=LoopOptions, factory=lambda options, context: Built(options)),
    ValidatorSpec(name="careful", summary="", options=LoopOptions, factory=lambda options, context: Built(options)),
)
HEAD = """\
name: lab
data: {source: given}
task: {scale: {labels: ["YES", "NO"]}}
"""


@pytest.fixture
def plugins(lab: Any) -> Any:
    return lambda *more: lab.plugins(*SPECS, *(more or (pairwise(),)))


@pytest.fixture
def load(plugins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the text as `s.yaml` in the current directory."""
    monkeypatch.chdir(tmp_path)

    def load(text: str, *more: Any) -> ResolvedSuite:
        Path("s.yaml").write_text(HEAD + text, encoding="utf-8")
        return load_suite(Path("s.yaml"), plugins(*more))

    return load


@pytest.fixture
def mistakes(load: Any) -> Any:
    def mistakes(text: str) -> list[str]:
        with pytest.raises(SuiteError) as caught:
            load(text)
        return [str(problem) for problem in caught.value.problems]

    return mistakes


@pytest.fixture
def build(lab: Any, plugins: Any) -> Any:
    """Build the first judge of a resolved suite."""

    def build(resolved: ResolvedSuite, *more: Any) -> Built:
        builder = Builder(resolved, plugins(*more), lambda **_: lab.log, lambda use, model: model)
        built: Built = builder.build(resolved.judges[0], resolved.suite.tasks[0].task)
        return built

    return build


STRICT = "parsers: {strict: {parser: pairwise, comparatives: false}}\n"


def test_a_judge_gets_the_suites_parser_with_its_options(load: Any, build: Any) -> None:
    built = build(load(STRICT + "judges: [asker: {parser: strict, more: [pairwise]}]\n"))
    assert built.parsers == [
        Built(PairOptions(comparatives=False), "strict"),
        Built(PairOptions(comparatives=True), "pairwise"),
    ]


def test_an_entry_with_a_components_name_stands_in_its_place(load: Any, build: Any) -> None:
    text = STRICT.replace("strict", "pairwise") + "judges: [asker: {more: [acme/pairwise]}]\n"
    assert [parser.options.comparatives for parser in build(load(text)).parsers] == [False, True]


def test_a_parser_may_refer_to_others(load: Any, build: Any) -> None:
    text = """\
parsers:
  chain: {parser: first-of, parsers: [strict, label]}
  strict: {parser: acme/pairwise, comparatives: false}
judges: [asker: {parser: chain}]
"""
    resolved = load(text)
    (chain,) = build(resolved).parsers
    assert [parser.parsers for parser in chain.parsers] == ["strict", "label"]
    assert list(resolved.parsers) == ["chain", "strict"]


def test_a_parser_that_no_judge_uses_is_checked_too(mistakes: Any) -> None:
    text = "parsers:\n  strict:\n    parser: pairwise\n    comparative: false\njudges: [fixed]\n"
    assert mistakes(text) == [
        "s.yaml:7:5: comparative: unknown key\nDid you mean 'comparatives'? Known keys: comparatives, parser."
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parsers: [pairwise]\njudges: [fixed]\n", "s.yaml:4:1: parsers: expected a mapping from names to parsers"),
        ("parsers: {strict: pairwise}\njudges: [fixed]\n", "s.yaml:4:11: strict: expected a mapping with a parser"),
        ("parsers: {strict: {}}\njudges: [fixed]\n", "s.yaml:4:11: strict: missing key 'parser': name the component"),
        (
            "parsers: {strict: {parser: 3}}\njudges: [fixed]\n",
            "s.yaml:4:20: parser: expected the name of a parser, got the whole number 3",
        ),
        (
            "parsers: {strict: {parser: pairwize}}\njudges: [fixed]\n",
            "s.yaml:4:20: unknown parser 'pairwize' in parsers.strict\nDid you mean 'pairwise'? Installed: first-of,",
        ),
        (
            "parsers: {strict: {parser: pairwise, comparatives: 1}}\njudges: [fixed]\n",
            "s.yaml:4:38: comparatives: expected true or false, got the whole number 1",
        ),
        ("parsers: {a/b: {parser: label}}\njudges: [fixed]\n", "s.yaml:4:11: a/b: the name 'a/b' has a slash"),
        (
            "parsers: {strict: {parser: label}}\njudges: [asker: {parser: strikt}]\n",
            (
                "s.yaml:5:18: parser: unknown parser 'strikt'\nInstalled: first-of, label, loop, needy, pairwise.\n"
                "Did you mean 'strict'? Parsers of the suite: strict."
            ),
        ),
        (
            "judges: [asker: {parser: needy}]\n",
            (
                "s.yaml:4:18: parser: parser 'needy' cannot be used by its name alone: it needs key; describe it under "
                "`parsers`"
            ),
        ),
        ("parsers: {x: {parser: needy}}\njudges: [fixed]\n", "s.yaml:4:11: x: missing key 'key'"),
        ("judges: [asker: {parser: loop}]\n", "s.yaml:4:18: rest: parser 'acme/loop' refers to itself"),
        (
            "parsers: {a: {parser: first-of, parsers: [b]}, b: {parser: first-of, parsers: [a]}}\njudges: [fixed]\n",
            "s.yaml:4:80: parsers[0]: parser 'a' refers to itself",
        ),
        ("judges: [asker: {checked_by: careful}]\n", "s.yaml:4:18: rest: parser 'acme/loop' refers to itself"),
    ],
)
def test_each_mistake_has_one_clear_message(mistakes: Any, text: str, message: str) -> None:
    (found,) = mistakes(text)
    assert found.startswith(message)


def test_a_parser_that_cannot_be_read_is_not_called_unknown_as_well(mistakes: Any) -> None:
    (found,) = mistakes("parsers: {strict: {parser: nosuch}}\njudges: [asker: {parser: strict}]\n")
    assert "unknown parser 'nosuch'" in found


def ids(resolved: ResolvedSuite) -> Any:
    return identity(resolved.judges[0], resolved)


def test_a_judge_is_another_one_with_another_parser_behind_the_same_name(load: Any) -> None:
    text = "judges: [asker: {parser: strict}]\n"
    found = [
        ids(load(STRICT + text)),
        ids(load(STRICT.replace("false", "true") + text)),
        ids(load("parsers: {strict: {parser: label}}\n" + text)),
        ids(load("parsers: {strict: {parser: first-of, parsers: [pairwise]}}\n" + text)),
        ids(load(STRICT.replace("strict", "pairwise") + text.replace("strict", "pairwise"))),
        ids(load(text.replace("strict", "pairwise"))),
    ]
    assert all(found.count(each) == 1 for each in found)
    assert ids(load("# a comment\n" + STRICT + text)) == found[0]
    assert ids(load(STRICT + "  \n" + text + "seed: 0\n")) == found[0]


def test_a_judge_is_another_one_with_another_version_of_a_parser_it_only_names(load: Any) -> None:
    text = "judges: [asker]\n"
    old, same, new = (ids(load(text, pairwise(version))) for version in ("1.0", "1.0", "1.1"))
    assert old == same != new


def test_an_entry_that_a_judge_does_not_use_does_not_matter_to_it(load: Any) -> None:
    text = "judges: [asker: {parser: label}]\n"
    assert ids(load(STRICT + text)) == ids(load(text))


def test_the_report_names_every_parser_that_is_used_once(load: Any) -> None:
    text = """\
parsers:
  strict: {parser: pairwise, comparatives: false}
  chain: {parser: first-of, parsers: [label, strict]}
  idle: {parser: label}
judges: [{asker: {name: one, parser: chain}}, {asker: {name: two, parser: strict, more: [pairwise]}}]
"""
    resolved = load(text)
    found = parts_used(resolved.judges, Path())
    assert [(each.role, each.name, each.component) for each in found] == [
        ("parser", "chain", "acme/first-of"),
        ("parser", "label", "acme/label"),
        ("parser", "strict", "acme/pairwise"),
        ("parser", "pairwise", "acme/pairwise"),
    ]
    assert [each.options for each in found if each.component == "acme/pairwise"] == [
        {"comparatives": False},
        {"comparatives": True},
    ]


def test_a_plugins_own_parser_is_meant_where_a_bare_name_is_ambiguous(load: Any, build: Any) -> None:
    other = pairwise("9.0", "other")
    assert ids(load("judges: [asker]\n", pairwise(), other)) == ids(load("judges: [asker]\n"))


def test_the_schema_knows_the_section(plugins: Any, lab: Any) -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(suite_schema(plugins()))
    suite = {
        "name": "lab",
        "data": {"source": "given"},
        "task": {"scale": {"labels": ["YES", "NO"]}},
        "judges": ["fixed"],
        "parsers": {"strict": {"parser": "pairwise", "comparatives": False}, "x": {"parser": "needy", "key": "k"}},
    }
    assert list(validator.iter_errors(suite)) == []
    for wrong in ({"parser": "pairwize"}, {"parser": "needy"}, {"parser": "label", "name": "x"}, "label", {}):
        assert list(validator.iter_errors({**suite, "parsers": {"x": wrong}})) != []
