"""Validators compare prompt templates themselves: a model, people and vectors reject the one that asks otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jrh
import pytest
from jrh_testing import ChatServer
from jrh_testing.server.bodies import prompt_of
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http

ITEMS = 6
TEMPLATES = {
    "first": "Is the statement correct?\n\n{{ response }}",
    "same": "Is the following statement right?\n\n{{ response }}",
    "errors": "Does the statement contain errors?\n\n{{ response }}",
}


def answer(body: Mapping[str, Any]) -> str:
    """Compare as a careful model does: a text about errors asks for something else."""
    prompt = prompt_of(body)
    if "The two texts are equivalent." not in prompt:
        return "YES"
    equivalent_first = prompt.index("The two texts are equivalent.") < prompt.index("The two texts are not equivalent.")
    return "A" if ("contain errors" not in prompt) == equivalent_first else "B"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("validated")
    (folder / "items.csv").write_text(
        "id,response,label\n" + "".join(f"i{n},Statement {n}.,YES\n" for n in range(ITEMS)), encoding="utf-8"
    )
    (folder / "labels.csv").write_text("item,variant,label\n,same,YES\n,errors,NO\ni0,same,UNSURE\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, ChatServer(answer) as server:
        patch.setenv(KEY_VARIABLE, KEY)
        voters = {"equivalence_by": ["mini"], "labels": {"file": str(folder / "labels.csv")}}
        suite = llm_suite(
            openai_http(server.url),
            data={"source": "csv", "path": str(folder / "items.csv"),
                  "columns": {"id": "id", "response": "response", "label": "label"}},
            tests=[
                {
                    "templates": {
                        "templates": {name: {"text": text} for name, text in TEMPLATES.items()},
                        "validate": [{"consensus": {**voters, "rule": "unanimous"}}, "cosine-similarity"],
                    }
                }
            ],
        )  # fmt: skip
        result = jrh.run(suite, run_dir=folder / "run", use_cache=False)
        asked = sum("equivalent" in prompt_of(body) for body in server.requests)
    return result, asked


def test_the_template_that_asks_for_the_opposite_is_rejected_for_every_item(run: Any) -> None:
    found, _ = run
    line = next(each for each in found.report.attrition if each.test == "templates")
    assert line.drafted == 3 * ITEMS
    # All of `errors`, and of the item whose label is UNSURE `same`: nobody voted for it but the model.
    assert sum(line.rejected.values()) == ITEMS + 1
    assert line.kept == 2 * ITEMS - 1


def test_the_model_compares_the_prompts_and_its_agreement_with_people_is_reported(run: Any) -> None:
    found, asked = run
    # Two templates differ from the first, each compared in both orders; the six items share these four calls.
    assert asked == 4
    line = next(each for each in found.report.attrition if each.test == "templates")
    (agreement,) = line.agreement
    assert (agreement.voters, agreement.estimate) == (2, 1.0)
    assert agreement.missing == 1
