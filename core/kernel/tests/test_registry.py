"""Names of components: qualified, ambiguous, unknown."""

from __future__ import annotations

from typing import Any

import pytest
from jrh.errors import JrhError
from jrh.plugins.registry import Entry, LoadProblem, Registry
from jrh.plugins.specs import ParserSpec


def entry(distribution: str, name: str, summary: str = "") -> Entry[Any]:
    spec = ParserSpec(name=name, summary=summary, factory=lambda options, context: None)  # type: ignore[arg-type,return-value]
    return Entry(spec=spec, distribution=distribution, version="0.3", plugin=distribution)


def problem(plugin: str, message: str) -> LoadProblem:
    return LoadProblem(plugin=plugin, distribution=plugin, version="0.3", message=message)


def test_a_bare_name_is_enough_while_it_is_unambiguous() -> None:
    registry = Registry("parser", [entry("acme", "json"), entry("acme", "label")])
    assert registry.find("json").qualified == "acme/json"
    assert registry.find("acme/label").qualified == "acme/label"


def test_an_ambiguous_name_lists_the_candidates() -> None:
    registry = Registry("parser", [entry("zeta", "json"), entry("acme", "json")])
    with pytest.raises(JrhError) as raised:
        registry.find("json")
    assert str(raised.value) == "ambiguous parser 'json': write one of acme/json, zeta/json"
    assert registry.find("zeta/json").distribution == "zeta"


def test_a_plugins_own_component_wins_where_it_asks_for_it() -> None:
    registry = Registry("parser", [entry("zeta", "json"), entry("acme", "json"), entry("mine", "other")])
    assert registry.find("json", prefer="acme").distribution == "acme"
    with pytest.raises(JrhError, match="ambiguous"):
        registry.find("json", prefer="mine")


def test_one_distribution_that_declares_a_name_twice_cannot_be_told_apart() -> None:
    registry = Registry("parser", [entry("acme", "json"), entry("acme", "json", "another")])
    with pytest.raises(JrhError, match="parser 'json' is declared twice by acme; remove one of them"):
        registry.find("json")


def test_an_unknown_name_gets_the_close_one_and_what_did_not_load() -> None:
    registry = Registry(
        "perturber",
        [entry("a", "format"), entry("a", "paraphrase"), entry("b", "format")],
        [problem("acme-jrh", "ImportError: No module named 'torch'")],
    )
    with pytest.raises(JrhError) as raised:
        registry.find("paraphase")
    assert str(raised.value) == (
        "unknown perturber 'paraphase'\n"
        "Did you mean 'paraphrase'? Installed: format, paraphrase.\n"
        "1 plugin did not load fully and may provide it: acme-jrh 0.3 (ImportError: No module named 'torch').\n"
        "Run `jrh plugins list` for details."
    )


def test_problems_are_counted_by_plugin() -> None:
    registry: Registry[Any] = Registry("judge", [], [problem("one", "a"), problem("one", "b"), problem("two", "c")])
    with pytest.raises(JrhError) as raised:
        registry.find("anything")
    assert "Installed: none." in str(raised.value)
    assert "2 plugins did not load fully" in str(raised.value)


def test_a_qualified_unknown_name_is_matched_by_its_last_part() -> None:
    registry = Registry("parser", [entry("acme", "label")])
    with pytest.raises(JrhError, match="unknown parser 'other/lable'\nDid you mean 'label'"):
        registry.find("other/lable")


def test_a_component_of_another_distribution_is_not_taken_for_a_qualified_name() -> None:
    registry = Registry("parser", [entry("acme", "label")])
    with pytest.raises(JrhError, match="unknown parser 'zeta/label'"):
        registry.find("zeta/label")


def test_entries_keep_the_order_of_loading() -> None:
    registry = Registry("parser", [entry("z", "b"), entry("a", "a")])
    assert [each.qualified for each in registry] == ["z/b", "a/a"]
    assert len(registry) == 2


def test_a_name_that_is_an_extra_of_jrh_says_how_to_install_it() -> None:
    with pytest.raises(JrhError) as raised:
        Registry("model provider", [entry("acme", "openai-http")]).find("litellm")
    assert str(raised.value) == (
        "unknown model provider 'litellm'\nInstalled: openai-http.\n"
        'Run `pip install "jrh[litellm]"` to install what provides it.'
    )
