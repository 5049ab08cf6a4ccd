"""Option orders and polarities of a log: an unknown one is an error, and both sides of a swap are measured."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from jrh import JrhError, MetricContext, RecordTable, Scale, Task
from jrh.store.run_store import Store
from jrh_import.commands import import_table
from jrh_interchange import read_order, read_polarity
from jrh_measuring import load_metrics
from jrh_testing import Project

DOCS = Path(__file__).parents[3] / "docs" / "importing.md"
PAIRS = Task(name="t", scale=Scale.of_pairs())
THREE = Task(name="t", scale=Scale.of_pairs(options=3))

YAML = """\
name: log
path: log.csv
task: {{scale: {{pairwise: true}}}}
columns: {{item: item, judge: judge, label: said, gold: gold, option_order: order{columns}}}
presented: true
{more}
"""
TESTS = "tests: {option_order: {AB: reference, BA: swapped}}"


def imported(folder, rows, more=TESTS, columns="", header="item,judge,order,said,gold"):
    """Import a table in this process; return the error, or None."""
    (folder / "log.csv").write_text("\n".join([header, *rows]) + "\n")
    (folder / "log.yaml").write_text(YAML.format(more=more, columns=columns))
    arguments = [str(folder / "log.yaml"), "--run-dir", str(folder / "run")]
    result = CliRunner().invoke(import_table, arguments, standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, JrhError), result.exception
    return None if result.exception is None else str(result.exception)


def measured(folder, *metrics, scale=None):
    """Return (judge, test, measure) -> measure of an imported run."""
    store = Store.view(folder)
    table = RecordTable.from_slices(store.records.slices())
    summary = json.loads(store.meta("summary"))
    store.close()
    tie = summary["tasks"][0]["task"]["scale"].get("tie")
    name = summary["tasks"][0]["task"]["name"]
    context = MetricContext(tasks={name: Task(name=name, scale=scale or Scale.of_pairs(tie=tie))}, resamples=200)
    found = [each for metric in load_metrics(metrics).values() for each in metric.measure(table, context)]
    return {(each.judge, each.test, each.name): each for each in found if not each.cell}


def log(first, second, judge):
    """Return a log of 40 items in both orders; the right response is A for even items."""
    for item in range(40):
        gold = "AB"[item % 2]
        yield f"i{item},{judge},{first},{'A' if judge == 'first' else gold},{gold}"
        yield f"i{item},{judge},{second},{'A' if judge == 'first' else 'BA'[item % 2]},{gold}"


@pytest.mark.parametrize(
    ("first", "second"),
    [("AB", "BA"), ("ab", "ba"), ("A/B", "B/A"), ("a-b", " b > a "), ("original", "Swapped"), ("first", "second")],
)
def test_a_perfect_judge_is_perfect_and_an_always_first_judge_biased_however_orders_are_written(
    tmp_path, first, second
):
    assert imported(tmp_path, [*log(first, second, "perfect"), *log(first, second, "first")]) is None
    found = measured(tmp_path / "run", "gold-accuracy", "position-bias")
    assert found["perfect", "reference", "gold-accuracy"].estimate == 1.0
    assert found["perfect", "swapped", "swap-consistency"].estimate == 1.0
    assert found["perfect", "swapped", "position-bias"].estimate == 0.0
    assert found["first", "swapped", "position-bias"].estimate == 1.0  # +1 is always the first position
    assert found["first", "swapped", "position-bias"].n_items == 40
    assert found["first", "swapped", "swap-consistency"].estimate == 0.0
    assert found["first", "swapped", "first-position-rate"].estimate == 1.0


def test_an_unknown_order_is_refused_once_with_file_line_column_and_what_is_accepted(tmp_path):
    error = imported(tmp_path, log("0", "1", "perfect"), more="")
    assert "log.csv:2: column 'order': '0' is not an option order. Accepted: AB (original," in error
    assert 'Map other text, for example `orders: {"0": AB, "1": BA}` (40 rows)' in error
    assert error.count("column 'order'") == 2
    assert not (tmp_path / "run").exists()


def test_codes_are_orders_where_the_file_says_which(tmp_path):
    more = f'orders: {{"0": AB, "1": BA}}\n{TESTS}'
    assert imported(tmp_path, [*log("0", "1", "perfect"), *log("0", "1", "first")], more=more) is None
    found = measured(tmp_path / "run", "gold-accuracy", "position-bias")
    assert found["perfect", "reference", "gold-accuracy"].estimate == 1.0
    assert found["first", "swapped", "position-bias"].estimate == 1.0
    # The mapping decides also where it contradicts the words.
    assert imported(tmp_path, log("AB", "BA", "perfect"), more="orders: {AB: BA, BA: AB}") is None
    found = measured(tmp_path / "run", "gold-accuracy")
    assert found["perfect", "reference", "gold-accuracy"].estimate == 0.0


@pytest.mark.parametrize(
    ("written", "polarity"), [("Positive", "A"), ("normal", "A"), ("", "A"), ("INVERTED", "B"), ("negative", "B")]
)
def test_polarities_are_a_closed_vocabulary(tmp_path, written, polarity):
    header = "item,judge,order,said,gold,asked"
    columns = ", polarity: asked"
    assert imported(tmp_path, [f"i,j,AB,A,A,{written}"], more="", columns=columns, header=header) is None
    store = Store.view(tmp_path / "run")
    assert RecordTable.from_slices(store.records.slices()).text("canonical") == [polarity]
    store.close()
    error = imported(tmp_path, ["i,j,AB,A,A,true"], more="", columns=columns, header=header)
    assert "log.csv:2: column 'asked': 'true' is not a polarity. Accepted: positive (" in error
    more = 'polarities: {"true": inverted}'
    assert imported(tmp_path, ["i,j,AB,A,A,true"], more=more, columns=columns, header=header) is None


def test_orders_of_more_than_two_options_are_permutations_of_their_letters():
    assert read_order("b,c,a", THREE) == "BCA"
    assert read_order("original", THREE) == "ABC"
    for text in ("swapped", "AB", "ABD", "AAB"):
        with pytest.raises(JrhError, match=f"'{text}' is not an order of the options A, B, C"):
            read_order(text, THREE)
    with pytest.raises(JrhError, match="an option order needs a pairwise scale; task 't' has the labels YES, NO"):
        read_order("AB", Task(name="t", scale=Scale.of_labels("YES", "NO")))
    for text in ("0", "yes", "1.0", "maybe"):
        with pytest.raises(JrhError, match="is not a polarity"):
            read_polarity(text)


def test_three_options_are_turned_back_and_an_always_first_judge_is_biased(tmp_path):
    rows = []
    for item in range(30):
        gold = "ABC"[item % 3]
        for order in ("ABC", "b/c/a", "C,A,B"):
            shown = order.replace("/", "").replace(",", "").upper()
            said = "ABC"[shown.index(gold)]
            rows += [f'i{item},perfect,"{order}",{said},{gold}', f'i{item},first,"{order}",A,{gold}']
    (tmp_path / "log.csv").write_text("\n".join(["item,judge,order,said,gold", *rows]) + "\n")
    (tmp_path / "log.yaml").write_text(
        YAML.format(more="", columns="").replace("{pairwise: true}", "{pairwise: {options: 3}}")
    )
    arguments = [str(tmp_path / "log.yaml"), "--run-dir", str(tmp_path / "run")]
    assert CliRunner().invoke(import_table, arguments, standalone_mode=False).exception is None
    found = measured(tmp_path / "run", "gold-accuracy", "position-bias", scale=Scale.of_pairs(options=3))
    assert found["perfect", "reference", "gold-accuracy"].estimate == 1.0
    assert found["perfect", "reference", "position-bias"].estimate == 0.0
    assert found["first", "reference", "gold-accuracy"].estimate == pytest.approx(1 / 3)
    assert found["first", "reference", "position-bias"].estimate == 1.0


@pytest.mark.parametrize(
    ("more", "columns", "message"),
    [
        ("values: {test: format}", "", "`tests` and `values.test` both assign rows to tests"),
        ("", ", test: judge", "`tests` and `columns.test` both assign rows to tests"),
        ("decisions: [{values: {test: x}}]", "", "`tests` and `values.test in `decisions`` both assign"),
    ],
)
def test_tests_never_override_another_source_of_the_test_unseen(tmp_path, more, columns, message):
    error = imported(tmp_path, ["i,j,AB,A,A"], more=f"{TESTS}\n{more}", columns=columns)
    assert message in error


def test_two_columns_may_assign_tests_unless_they_contradict_each_other(tmp_path):
    more = "tests: {option_order: {original: reference, ba: swapped}, polarity: {normal: reference, negative: turned}}"
    how = {"columns": ", polarity: asked", "header": "item,judge,order,said,gold,asked"}
    rows = ["i,j,AB,A,A,positive", "i,j,BA,B,A,", "i,j,AB,B,A,inverted"]
    assert imported(tmp_path, rows, more=more, **how) is None
    store = Store.view(tmp_path / "run")
    assert RecordTable.from_slices(store.records.slices()).text("test") == ["reference", "swapped", "turned"]
    store.close()
    error = imported(tmp_path, ["i,j,BA,A,A,inverted"], more=more, **how)
    assert "tests.option_order says 'swapped' and tests.polarity says 'turned'" in error


def test_both_orders_under_the_reference_alone_are_measured_as_well(tmp_path):
    header = "item,judge,order,said,gold,try"
    rows = [f"{row},{number}" for judge in ("perfect", "first") for row in log("ab", "ba", judge) for number in (0, 1)]
    assert imported(tmp_path, rows, more="", columns=", repeat: try", header=header) is None
    found = measured(tmp_path / "run", "gold-accuracy", "position-bias", "rerun-disagreement")
    assert found["perfect", "reference", "gold-accuracy"].estimate == 1.0
    # Both orders are questions of their own: an always-first judge has no rerun noise, and the largest bias.
    assert found["first", "reference", "rerun-disagreement"].estimate == 0.0
    assert found["first", "reference", "swap-consistency"].estimate == 0.0
    assert found["first", "reference", "position-bias"].estimate == 1.0


@pytest.mark.slow
def test_an_always_first_judge_fails_the_gate_and_is_in_the_default_report(tmp_path):
    project = Project(tmp_path)
    assert imported(tmp_path, [*log("original", "swapped", "perfect"), *log("original", "swapped", "first")]) is None
    rule = "position-bias[swapped, judge={}] < 0.12"  # 40 items show 1 - .01^(1/40) = 0.11
    assert project.run("gate", "run", "--rule", rule.format("perfect")).exit_code == 0
    assert project.run("gate", "run", "--rule", rule.format("first")).exit_code == 1
    assert project.run("report", "run", "--format", "json").exit_code == 0
    measures = json.loads(project.read("run/report.json"))["measures"]
    biased = {each["judge"]: each["estimate"] for each in measures if each["name"] == "position-bias"}
    assert biased == {"perfect": 0.0, "first": 1.0}


def test_the_documented_layout_gives_noise_floor_swap_consistency_and_position_bias(tmp_path):
    text = DOCS.read_text(encoding="utf-8")
    for name in ("duels.csv", "duels.yaml"):
        (content,) = re.findall(rf"```\w+ {re.escape(name)}\n(.*?)```", text, re.DOTALL)
        (tmp_path / name).write_text(content)
    arguments = [str(tmp_path / "duels.yaml"), "--run-dir", str(tmp_path / "run")]
    assert CliRunner().invoke(import_table, arguments, standalone_mode=False).exception is None
    found = measured(tmp_path / "run", "position-bias", "rerun-disagreement")

    def estimate(judge, test, name):
        return found[judge, test, name].estimate

    # mini, as presented: q1 AB A,A BA A,A; q2 AB A,B BA A,A. Of two pairs of reference reruns one differs.
    assert estimate("mini", "reference", "rerun-disagreement") == 1 / 2
    # q1: A,A against B,B never agree. q2: A,B against B,B agree in 2 of 4 combinations.
    assert estimate("mini", "swapped", "swap-consistency") == (0 + 1 / 2) / 2
    # First in both orders: q1 1 x 1, q2 1/2 x 1; second in both: 0 on both.
    assert estimate("mini", "swapped", "position-bias") == (1 + 1 / 2) / 2
    assert estimate("mini", "swapped", "first-position-rate") == 7 / 8
    # large: q1 A,A and A,A; q2 B,B and B,tie. Never the same place in both orders.
    assert estimate("large", "reference", "rerun-disagreement") == 0
    assert estimate("large", "swapped", "swap-consistency") == (1 + 1 / 2) / 2
    assert estimate("large", "swapped", "position-bias") == 0
    assert estimate("large", "swapped", "first-position-rate") == 3 / 8
