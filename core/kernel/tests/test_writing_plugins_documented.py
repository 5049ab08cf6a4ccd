"""The plugins that `docs/writing-plugins.md` shows are whole and do what they say."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import jrh
import jrh_authoring
import jrh_measuring
import pytest
from attrs import frozen
from jrh import Draft, Item, Skip, Validation, hashing, running, text
from jrh_testing import ODD_TEXTS, RecordBench, ScriptedModel, build, only_measure, sample_task

PAGE = Path(__file__).parents[3] / "docs" / "writing-plugins.md"


@frozen
class Keeps:
    """Rejects a text that lost Paris."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        kept = all("Paris" in str(text) for text in draft.fields.values())
        return Validation(accepted=kept, reason="" if kept else "the names changed")


def shown(name: str, directory: Path) -> ModuleType:
    """Import a file that the page shows."""
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page[page.index(f"`{name}.py`:") :], re.DOTALL)
    assert code is not None
    path = directory / f"{name}.py"
    path.write_text(code[1], encoding="utf-8")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def formal(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return shown("formal", tmp_path_factory.mktemp("shown"))


ITEM = Item(id="1", fields={"response": "They don't say \"don't\" in Paris: a lot of work."})


async def test_its_rules_change_what_they_may(formal: ModuleType) -> None:
    made = build(formal, "formal", validators={"facts-kept": Keeps()})
    (draft,) = await made.perturb(ITEM)
    assert draft.fields == {"response": 'They do not say "don\'t" in Paris: much work.'}
    assert [edit["kind"] for edit in draft.details["edits"]["response"]] == ["contraction", "word"]
    (skip,) = await made.perturb(Item(id="2", fields={"response": "Paris is formal."}))
    assert skip == Skip(reason="nothing informal that a rule can change", variant="rules")


async def test_its_model_is_asked_until_a_text_can_be_used(formal: ModuleType) -> None:
    model = ScriptedModel(
        ["no", json.dumps({"text": "In Rome."}), json.dumps({"text": "One works a great deal in Paris."})]
    )
    made = build(
        formal,
        "formal",
        options={"model": "m"},
        models={"m": model},
        validators={"facts-kept": Keeps()},
        task=sample_task(),
    )
    (draft,) = await made.perturb(ITEM)
    assert draft.fields == {"response": "One works a great deal in Paris."}
    assert draft.details["fields"]["response"]["rejected"] == ["no JSON in the reply", "the names changed"]


async def test_odd_texts_are_treated_or_skipped(formal: ModuleType) -> None:
    made = build(formal, "formal", validators={"facts-kept": Keeps()})
    for odd in ODD_TEXTS:
        for outcome in await made.perturb(Item(id="odd", fields={"response": odd})):
            assert isinstance(outcome, Draft | Skip)


def test_every_name_the_page_tells_of_is_public() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| name | |") : page.index("A validator that lets several voters decide")]
    names = {re.match(r"\w+", code)[0] for code in re.findall(r"`(.*?)`", table)}  # type: ignore[index]
    assert {"TextWriter", "safe_edits", "Checks", "for_each", "read_text"} <= names
    public = {name for package in (jrh, jrh_authoring, running, text, hashing) for name in dir(package)}
    assert names - {"jrh", "jrh_authoring"} <= public


async def test_the_smallest_plugin_adds_its_closing(tmp_path: Path) -> None:
    made = build(shown("polite", tmp_path), "polite", options={"closing": "Bye."})
    assert await made.perturb(Item(id="1", fields={"response": "4"})) == [
        Draft(variant="closing", fields={"response": "4\n\nBye."})
    ]
    assert await made.perturb(Item(id="2", fields={"response": None})) == [Skip(reason="a judged field is not text")]


def test_the_metric_counts_its_label_by_item(tmp_path: Path) -> None:
    bench = RecordBench(sample_task())
    for item in range(20):
        bench.add(str(item), "plain", "YES" if item < 15 else "NO" if item < 19 else None)
    found = only_measure(bench.measure(build(shown("share", tmp_path), "share")), "share")
    assert (found.estimate, found.n_trials, found.n_items) == (15 / 19, 19, 19)
    assert dict(found.missing) == {"unparsable": 1}
    assert found.bounds == (15 / 20, 16 / 20)
    assert found.interval is not None
    assert found.interval.low < 15 / 19 < found.interval.high


def test_every_name_of_the_table_of_measuring_is_public() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| from `jrh_measuring` | |") :].partition("\n\n")[0]
    shown_there = "".join(row.split("|")[1] for row in table.splitlines()[2:] if row)
    names = {re.match(r"\w+", code)[0] for code in re.findall(r"`(.*?)`", shown_there)}  # type: ignore[index]
    assert {"MeasureBuilder", "as_expected", "MetricOptions"} <= names
    assert names - {"builder"} <= set(dir(jrh_measuring))
    assert all(hasattr(jrh_measuring.MeasureBuilder, name) for name in ("rate", "mean", "measure"))
