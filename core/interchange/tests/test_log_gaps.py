"""What an imported log cannot show is said, with the column that is missing; what it can show is not."""

import re

import pytest
from attrs import evolve
from jrh import Scale, Task
from jrh.values.items import Mode
from jrh_interchange import imported_record, measurement_gaps
from jrh_interchange.log_gaps import GAPS, PAIRED_GAPS
from jrh_testing import loop_over

PAIRS = Task(name="p", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
FACTS = Task(name="f", scale=Scale.of_labels("YES", "NO"))


def row(task=PAIRS, **more):
    label = task.scale.labels[0]
    filled = {"gold": label, "probability": 0.9, "rationale": "r", "cost": 0.1, "group": "g", "stratum": "s"}
    filled |= {"covariates": {"length": {"A": 120, "B": 80}}}
    filled |= {"template": "short", "option_order": "AB"} if task is PAIRS else {"template": "short"}
    return imported_record(**{"task": task, "item_id": "i", "judge": "j", "label": label, **filled, **more})


def whole():
    """Return a log from which everything can be measured."""
    other = {"template": "long", "judge": "k", "test": "swap", "option_order": "BA", "stratum": "t"}
    return [row(), row(repeat=1), row(**other)]


def columns(said):
    return [re.findall(r"`(\w+)`", sentence) for sentence in said]


def test_a_log_with_every_column_lacks_nothing():
    assert measurement_gaps([PAIRS], whole()) == ()


@loop_over(
    ("change", "start"),
    [
        ({"gold": None}, "No gold labels: agreement with people cannot be measured."),
        ({"test": "reference"}, "Only the unchanged question:"),
        ({"test": "swap"}, "No reference condition:"),
        ({"template": "short"}, "One prompt template:"),
        ({"judge": "j"}, "One judge:"),
        ({"probability": None}, "No probabilities: calibration cannot be measured."),
        ({"rationale": ""}, "No rationales:"),
        ({"covariates": ""}, "No lengths or authors:"),
        ({"cost": None}, "No cost:"),
        ({"group": "i"}, "No groups:"),
        ({"stratum": "s"}, "No strata:"),
        ({"option_order": ""}, "No option order: position bias and swap consistency cannot be measured."),
        ({"option_order": "AB"}, "One option order:"),
    ],
    ids=str,
)
def test_every_missing_column_is_named_alone(change, start):
    (said,) = measurement_gaps([PAIRS], [evolve(each, **change) for each in whole()])
    assert said.startswith(start)
    (column,) = change
    assert f"`{column}`" in said or column == "test"


def test_no_repeats_are_told_by_the_trials_not_by_the_column():
    (said,) = measurement_gaps([PAIRS], [whole()[0], whole()[2]])
    assert said == "No repeats: rerun noise cannot be measured. Ask twice and number the calls in a column `repeat`."


def test_the_order_of_options_is_asked_of_pairwise_tasks_only():
    assert "option_order" not in str(measurement_gaps([FACTS], [row(FACTS)]))
    assert "option_order" in str(measurement_gaps([FACTS, PAIRS], [row(FACTS), row(option_order="")]))


def test_rows_without_an_order_among_rows_with_one_are_told_and_a_run_of_both_is_not():
    (said,) = measurement_gaps([PAIRS], [*whole(), row(item_id="k", option_order="")])
    assert said.startswith("Some rows have no option order: they count as shown in the item's own order.")
    as_run = [evolve(each, option_order="" if each.test == "reference" else each.option_order) for each in whole()]
    assert "Some rows" not in str(measurement_gaps([PAIRS], as_run))


def test_every_rule_names_the_column_to_log_and_ends_as_a_sentence():
    for gap in (*GAPS, *PAIRED_GAPS):
        assert f"`{gap.column}`" in gap.sentence or gap.column == "test"
        assert gap.sentence.endswith(".")


@pytest.mark.parametrize(("orders", "told"), [(("AB", "BA"), False), (("BA", "BA"), True)], ids=["both", "swapped"])
def test_a_test_that_asks_the_unchanged_question_is_a_reference_condition(orders, told):
    log = [
        row(item_id=item, test="option-order", variant=order, option_order=order)
        for item in "ab"
        for order in dict.fromkeys(orders)
    ]
    assert ("No reference condition" in str(measurement_gaps([PAIRS], log))) is told
