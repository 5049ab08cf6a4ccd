"""Metrics that a suite gets without naming them, and those it has to name."""

import pytest
from attrs import evolve, frozen
from jrh.errors import SuiteError
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import DataSourceSpec, JudgeSpec, MetricSpec
from jrh.suite.resolve import load_suite

SUITE = {
    "name": "s",
    "data": {"source": "rows"},
    "task": {"scale": {"ordinal": [1, 3]}},
    "judges": ["dice"],
}


def _entry(cls, name, **settings):
    spec = cls(name=name, summary=f"the {name}", factory=lambda options, context: None, **settings)
    return Entry(spec=spec, distribution="std", version="1.0", plugin=name)


def _plugins() -> Plugins:
    return Plugins(
        data_sources=Registry("data source", [_entry(DataSourceSpec, "rows")]),
        perturbers=Registry("perturber", []),
        validators=Registry("validator", []),
        judges=Registry("judge", [_entry(JudgeSpec, "dice")]),
        parsers=Registry("parser", []),
        metrics=Registry("metric", [_entry(MetricSpec, "kappa"), _entry(MetricSpec, "theirs", default=False)]),
        models=Registry("model provider", []),
        reporters=Registry("reporter", []),
    )


def _names(suite) -> list[str]:
    return [metric.use.name for metric in load_suite(suite, _plugins()).metrics]


def test_a_suite_that_lists_no_metrics_gets_the_defaults_alone() -> None:
    assert _names(SUITE) == ["kappa"]


def test_a_metric_that_is_no_default_runs_where_it_is_named() -> None:
    assert _names(SUITE | {"metrics": ["theirs"]}) == ["theirs"]


def test_metrics_are_added_to_the_defaults() -> None:
    assert _names(SUITE | {"metrics": {"add": ["theirs"]}}) == ["kappa", "theirs"]


def test_a_default_that_is_added_runs_once_with_the_options_given() -> None:
    assert _names(SUITE | {"metrics": {"add": ["theirs", "kappa"]}}) == ["theirs", "kappa"]


def test_mistakes_in_added_metrics_are_told_at_once() -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(SUITE | {"metrics": {"ad": ["theirs"], "add": "theirs"}}, _plugins())
    assert "ad: unknown key" in str(caught.value)
    assert "expected a list" in str(caught.value)


@frozen(kw_only=True)
class Checking:
    """Options whose check of the suite passes, complains or fails, as `says` has it."""

    says: str = "nothing may be left as it is"

    def check_suite(self, suite, plugins):
        if self.says == "raise":
            raise RuntimeError("no")
        if self.says == "text":
            yield "a text and no place"
        elif self.says != "fine":
            yield (), self.says


def _mistake(metrics) -> str:
    plugins = _plugins()
    entries = [*plugins.metrics, _entry(MetricSpec, "strict", options=Checking)]
    with pytest.raises(SuiteError) as wrong:
        load_suite(SUITE | {"metrics": metrics}, evolve(plugins, metrics=Registry("metric", entries)))
    return str(wrong.value)


def test_options_of_an_added_metric_check_the_suite_and_not_its_defaults() -> None:
    plugins = _plugins()
    plugins = evolve(plugins, metrics=Registry("metric", [_entry(MetricSpec, "strict", options=Checking)]))
    suite = SUITE | {"metrics": {"add": [{"strict": {"says": "fine"}}]}}
    assert [metric.use.name for metric in load_suite(suite, plugins).metrics] == ["strict"]


def test_what_options_find_wrong_in_the_suite_names_a_component_that_the_suite_does_not_name() -> None:
    assert "'strict': nothing may be left as it is" in _mistake({"add": []})


@pytest.mark.parametrize("says", ["raise", "text"])
def test_options_that_cannot_check_the_suite_are_one_message(says: str) -> None:
    wrong = _mistake({"add": [{"strict": {"says": says}}]})
    assert "the options of 'std/strict' cannot check the suite: " in wrong
    assert {"raise": "RuntimeError: no", "text": "ValueError"}[says] in wrong
