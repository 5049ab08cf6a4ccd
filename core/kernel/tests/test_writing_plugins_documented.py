"""The plugin that `docs/writing-plugins.md` shows for texts by rules and by models is whole and does what it says."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import jrh
import pytest
from attrs import frozen
from jrh import Draft, Item, Skip, Validation, authoring, hashing, running, text
from jrh_testing import ODD_TEXTS, ScriptedModel, build, sample_task

PAGE = Path(__file__).parents[3] / "docs" / "writing-plugins.md"


@frozen
class Keeps:
    """Rejects a text that lost Paris."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        kept = all("Paris" in str(text) for text in draft.fields.values())
        return Validation(accepted=kept, reason="" if kept else "the names changed")


@pytest.fixture(scope="module")
def formal(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Import the file that the page shows."""
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page[page.index("`formal.py`:") :], re.DOTALL)
    assert code is not None
    path = tmp_path_factory.mktemp("shown") / "formal.py"
    path.write_text(code[1], encoding="utf-8")
    spec = spec_from_file_location("formal", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["formal"] = module
    spec.loader.exec_module(module)
    return module


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
    public = {name for package in (jrh, authoring, running, text, hashing) for name in dir(package)}
    assert names - {"jrh"} <= public
