"""How many of the shipped items rules reach per family: printed (`pytest -s`), and never fewer than documented."""

import json
from collections import Counter
from pathlib import Path

import jrh_paraphrase.plugin
import jrh_verbosity.plugin
import pytest
from jrh import Draft, Item, Mode
from jrh_authoring import word_count
from jrh_testing import build, loop_over, sample_task

ROOT = Path(__file__).parents[1]
DATA = ROOT / "plugins/sources/src/jrh_sources/data"
FAMILIES = {
    "verbosity short": (jrh_verbosity.plugin, "verbosity", {"variants": ["short"]}),
    "verbosity long": (jrh_verbosity.plugin, "verbosity", {"variants": ["long"]}),
    "paraphrase": (jrh_paraphrase.plugin, "paraphrase", {}),
}
# Words a response needs before a rule can be expected to find a place; of a pair every response that has to change.
LONG_ENOUGH = {"verbosity short": 25, "verbosity long": 5, "paraphrase": 5}
# Items reached at least, in coherence, factual, preference and relevance; the tables of the two READMEs say the same.
REACHED = {"verbosity short": (27, 0, 0, 1), "verbosity long": (30, 30, 20, 30), "paraphrase": (30, 14, 15, 24)}
SETS = ("coherence", "factual", "preference", "relevance")


def items_of(name):
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts = {field: row[field] for field in ("response", "response_a", "response_b") if field in row}
        yield Item(id=row["id"], fields={"request": row["request"], **texts}), texts


async def drafts(family, name):
    """Return each item of a set with its number of words, and the draft a family makes of it by rules."""
    from jrh_validators.options import RulesOptions
    from jrh_validators.rules import Rules, facts_kept

    plugin, perturber, options = FAMILIES[family]
    mode = Mode.PAIRWISE if name in ("preference", "relevance") else Mode.POINTWISE
    # The real validators, with their default options: no run has a case that they reject.
    validators = {"jrh-validators/facts-kept": facts_kept(), "jrh-validators/rules": Rules(RulesOptions())}
    made = build(plugin, perturber, options=options, task=sample_task(mode), validators=validators)
    rows = []
    for item, texts in items_of(name):
        counts = [word_count(text) for text in texts.values()]
        words = max(counts) if family == "paraphrase" else min(counts)
        rows.append((item, words, next((out for out in await made.perturb(item) if isinstance(out, Draft)), None)))
    return rows


@pytest.mark.parametrize("family", FAMILIES)
async def test_rules_reach_at_least_what_the_readme_says_and_three_of_five_items_that_are_long_enough(family):
    reached, enough, of_enough = Counter(), 0, 0
    for name in SETS:
        for _, words, draft in await drafts(family, name):
            reached[name] += draft is not None
            enough += words >= LONG_ENOUGH[family]
            of_enough += words >= LONG_ENOUGH[family] and draft is not None
    cells = " ".join(f"{name} {reached[name]}/30" for name in SETS)
    print(f"\n{family}: {cells}, {reached.total()}/120; {of_enough}/{enough} of at least {LONG_ENOUGH[family]} words")
    assert all(reached[name] >= least for name, least in zip(SETS, REACHED[family], strict=True))
    assert of_enough >= 0.6 * enough
    numbers = " | ".join(str(least) for least in REACHED[family])
    readme = (ROOT / "plugins" / family.split()[0] / "README.md").read_text(encoding="utf-8")
    assert f"| {numbers} | {sum(REACHED[family])} |" in readme


SUITE = """\
name: coverage
tasks:
  - name: relevance
    data: {source: examples, dataset: relevance}
    task: {instruction: Which?, scale: {pairwise: true}}
tests: [verbosity, {verbosity: {name: padded, variants: [long]}}]
judges: [{judge: simulated, name: s, accuracy: 0.9}]
"""


@pytest.mark.inside
@loop_over(
    ("models", "add"),
    [
        ("", "Add `model: NAME` to the test, and a model of this name to `models`."),
        (
            "models: {writer: {provider: openai-http, base_url: 'http://localhost:1/v1', model: m}}\n",
            "Add `model: writer` to the test.",
        ),
    ],
)
def test_a_plan_begins_with_the_variants_that_need_a_model_and_the_line_to_add(project, models, add):
    project.write("suite.yaml", models + SUITE)
    planned = project.run("plan", "suite.yaml").stdout.splitlines()
    line = "Test 'verbosity' needs a model on task 'relevance': rules change 1 (short) of 30 items."
    assert planned[0] == f"{line} {add}"
    assert not any("'padded' needs a model" in sentence for sentence in planned)
