"""What each test changes and expects, item by item; and a benchmark with criteria of its own, run whole."""

from __future__ import annotations

import json

import jrh_criteria.plugin
import pytest
from attrs import evolve
from jrh import Changes, Equals, Mode, Same, Scale, Skip
from jrh.values import criteria_of_call
from jrh_testing import Inside, build, sample_items, sample_task
from test_conformance import RUBRIC, TASK, items

pytestmark = pytest.mark.inside
GREETS, ENDS = items(TASK)[:2]


async def drafts(component, item=GREETS, task=TASK, **options):
    return {
        each.variant: each
        for each in await build(jrh_criteria.plugin, component, task=task, options=options).perturb(item)
    }


async def test_the_order_is_reversed_and_every_criterion_stays():
    found = await drafts("criteria-order")
    assert list(criteria_of_call(found["reversed"].fields)) == ["b", "a"]
    assert found["reversed"].expectation == Same()


async def test_one_per_call_asks_no_other_criterion():
    found = await drafts("criteria-per-call")
    assert not criteria_of_call(found["1-per-call"].fields)
    assert isinstance(found["all-per-call"], Skip)


async def test_an_irrelevant_criterion_is_added_first_and_last():
    found = await drafts("irrelevant-criterion")
    assert [list(criteria_of_call(found[name].fields)) for name in ("first", "last")] == [
        ["irrelevant", "a", "b"],
        ["a", "b", "irrelevant"],
    ]


async def test_a_negated_criterion_swaps_what_the_labels_mean_and_leaves_what_does_not_apply():
    (draft,) = (await drafts("criterion-negated")).values()
    assert draft.label_map == {"met": "unmet", "unmet": "met", "n/a": "n/a"}
    assert criteria_of_call(draft.fields) == {
        "a": f"It is not the case that the following holds: {RUBRIC[0].text}",
        "b": "It ends.",
    }


async def test_a_stricter_wording_must_not_make_what_is_unmet_met():
    found = await drafts("criterion-wording", evolve(GREETS, gold="unmet"))
    assert (found["strict"].expectation, found["lenient"].expectation) == (Same(), None)


@pytest.mark.parametrize(("variant", "text"), [("empty", ""), ("other", "It ends.")])
async def test_another_rubric_is_shown_and_a_change_is_expected(variant, text):
    found = await drafts("rubric-matters")
    assert found[variant].fields["criterion"] == {"id": "a", "text": text}
    assert found[variant].expectation == Changes()


async def test_a_plain_rubric_is_inverted_and_emptied_and_the_other_has_to_be_named():
    task = sample_task(Mode.POINTWISE, Scale.of_labels("YES", "NO"))
    item = sample_items(task)[0]
    found = await drafts("rubric-matters", item, evolve(task, rubric="YES: it is short."))
    assert found["inverted"].task.rubric.endswith(": YES: it is short.")
    assert found["empty"].task.rubric == ""
    assert isinstance(found["other"], Skip)
    named = await drafts("rubric-matters", item, evolve(task, rubric="YES: it is short."), other="YES: it rhymes.")
    assert named["other"].task.rubric == "YES: it rhymes."


async def test_halo_cuts_the_same_evidence_for_all_criteria_of_a_response():
    # As in a run, the perturber sees the id of the response.
    (first,) = (await drafts("halo", evolve(GREETS, id="0"))).values()
    (second,) = (await drafts("halo", evolve(ENDS, id="0"))).values()
    assert first.fields["response"] == second.fields["response"]
    assert {first.variant, second.variant} == {"own", "others"}
    own = first if first.variant == "own" else second
    assert own.expectation == Equals(label="unmet")


JUDGE = """\
def judge(question):
    *_, word = ["?", *question["fields"]["criterion"]["text"].strip(".").split()]
    return "met" if word in question["fields"]["response"] else "unmet"
"""


def test_a_benchmark_with_its_own_criteria_is_scored(tmp_path):
    project = Inside(tmp_path)
    rows = [
        {
            "prompt_id": f"p{number}",
            "prompt": [{"role": "user", "content": "Name\\nfruit\\u0000"}],
            "completion": "apple and pear" if number % 2 else "plum",
            "rubrics": [
                {"criterion": "Names apple.", "points": 5, "label": number % 2},
                {"criterion": "Names plum.", "points": -5, "label": 1 - number % 2},
                *([{"criterion": "Names pear.", "points": 2, "label": True}] if number % 2 else []),
            ],
        }
        for number in range(12)
    ]
    project.write("bench.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    project.write("judge.py", JUDGE)
    project.write(
        "suite.yaml",
        """
name: bench
data:
  source: rubric-benchmark
  path: bench.jsonl
  criteria: rubrics
  columns: {id: prompt_id, request: prompt, response: completion, weight: points}
task: {mode: criteria, criteria: {per_call: all}}
tests: [rubric-matters]
reports: [json]
resamples: 100
judges: [{judge: function, name: mine, function: "judge.py:judge"}]
""",
    )
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    measures = json.loads(project.read("run/report.json"))["measures"]
    found = {each["name"]: each for each in measures if each["test"] == "reference" and not each["cell"]}
    assert found["weighted-score"]["estimate"] == pytest.approx((1.0 + -1.0) / 2)
    assert found["score-error"]["estimate"] == 0
    assert (found["gold-accuracy"]["n_items"], found["gold-accuracy"]["n_clusters"]) == (30, 2)


def test_every_test_of_the_call_works_where_the_task_asks_one_criterion_per_call(tmp_path):
    project = Inside(tmp_path)
    rubric = [{"id": each.id, "instructions": each.text} for each in RUBRIC]
    project.write("rubric.yaml", json.dumps(rubric))
    project.write("items.csv", "id,response\n1,Hello.\n2,The end.\n")
    tests = ["rubric-matters", "irrelevant-criterion", "criterion-wording", "criterion-negated", "criteria-per-call"]
    suite = {
        "name": "alone",
        "data": {"source": "csv", "path": "items.csv"},
        "task": {"mode": "criteria", "criteria": {"file": "rubric.yaml"}},
        "tests": tests,
        "judges": ["simulated"],
        "reports": ["json"],
        "resamples": 100,
    }
    project.write("suite.yaml", json.dumps(suite))
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    report = json.loads(project.read("run/report.json"))
    counts = {each["test"]: each["n_trials"] for each in report["measures"] if not each["cell"]}
    assert {name: counts.get(name) for name in tests} == {
        "rubric-matters": 12,
        "irrelevant-criterion": 8,
        "criterion-wording": 8,
        "criterion-negated": 4,
        "criteria-per-call": 4,
    }
