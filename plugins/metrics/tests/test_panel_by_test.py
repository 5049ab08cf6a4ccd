"""Panels of every test: the numbers are those counted by hand from the rows."""

from collections import Counter
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from attrs import evolve
from jrh import Scale, Task
from jrh.values import TaskSummary
from jrh_metrics.panel_by_test import name_panel
from jrh_metrics.panel_section import over_tests
from jrh_testing import sample_report

JUDGES = ("a", "b", "c", "d")
TESTS = ("format", "label-flip")


@pytest.fixture(scope="module")
def rows():
    """Return 40 items: in `label-flip` the right label is the other one; judge d has a missing verdict."""
    rng = np.random.default_rng(5)
    found = []
    for test in ("reference", *TESTS):
        for item in range(40):
            gold = "YES" if item % 2 else "NO"
            right = {"YES": "NO", "NO": "YES"}[gold] if test == "label-flip" else gold
            for place, judge in enumerate(JUDGES):
                wrong = rng.random() < 0.1 + 0.1 * place
                said = right if not wrong else ("NO" if right == "YES" else "YES")
                missing = judge == "d" and item == 3
                found.append(
                    {
                        "test": test,
                        "item_id": f"i{item}",
                        "judge": judge,
                        "gold": gold,
                        "canonical": None if missing else said,
                        "status": "refused" if missing else "ok",
                        "expectation": "equals" if test == "label-flip" else "same",
                        "expected": right if test == "label-flip" else None,
                        "_right": right,
                    }
                )
    return found


def ballots(rows, tests):
    found = {}
    for row in rows:
        if row["test"] in tests:
            _, votes = found.setdefault((row["test"], row["item_id"]), (row["_right"], {}))
            votes[row["judge"]] = row["canonical"]
    return list(found.values())


def decide(votes, judges):
    tally = Counter(votes[judge] for judge in judges if votes[judge]).most_common()
    return None if len(tally) > 1 and tally[0][1] == tally[1][1] else tally[0][0]


@pytest.mark.parametrize(("shown", "tests"), [*((test, (test,)) for test in TESTS), ("", TESTS)])
def test_majority_and_trios_are_counted_by_hand(measures, rows, shown, tests):
    found = {
        (each.name, each.cell.get("chosen", "")): each for each in measures("panel-by-test", rows) if each.test == shown
    }
    cases = ballots(rows, tests)
    best = max(combinations(JUDGES, 3), key=lambda trio: sum(decide(v, trio) == t for t, v in cases))
    for panel, name, chosen in ((JUDGES, "majority", ""), (best, "trio", "in sample")):
        decided = [(truth, decide(votes, panel)) for truth, votes in cases]
        assert found[f"{name}-accuracy", chosen].estimate == pytest.approx(mean(t == d for t, d in decided))
        rates = {
            "false-positive": mean(d == "YES" for t, d in decided if t != "YES"),
            "false-negative": mean(d != "YES" for t, d in decided if t == "YES"),
        }
        for kind, rate in rates.items():
            assert found[f"{name}-{kind}-rate", chosen].estimate == pytest.approx(rate)
        assert found[f"{name}-accuracy", chosen].interval is not None
    held_out = found["trio-accuracy", "held out"]
    assert held_out.estimate <= found["trio-accuracy", "in sample"].estimate
    assert held_out.missing == {"refused": len(tests)}
    assert "of the halves choose these three" in held_out.note


def test_means_over_tests_and_over_judges(measures, rows):
    found = {(each.name, each.judge, each.test): each for each in measures("panel-by-test", rows)}

    def rate(judge, test):
        own = [row for row in rows if row["judge"] == judge and row["test"] == test and row["canonical"]]
        return mean(row["canonical"] == row["_right"] for row in own)

    for judge in JUDGES:
        own = found["mean-over-tests", judge, ""]
        assert own.estimate == pytest.approx(mean(rate(judge, test) for test in TESTS))
        assert own.interval.low < own.estimate < own.interval.high
    for test in TESTS:
        assert found["mean-over-judges", "", test].estimate == pytest.approx(
            mean(rate(judge, test) for judge in JUDGES)
        )


def test_three_judges_are_the_panel_and_nothing_is_chosen(measures, rows):
    found = {each.name for each in measures("panel-by-test", [row for row in rows if row["judge"] != "d"])}
    assert "majority-accuracy" in found
    assert not any(name.startswith("trio") for name in found)


def test_a_judge_without_a_verdict_is_no_member_of_a_panel(measures, rows):
    mute = [{**row, "judge": "A mute", "canonical": None, "status": "refused"} for row in rows if row["judge"] == "a"]
    told = [each for each in measures("panel-by-test", [*rows, *mute]) if each.name == "trio-accuracy"]
    alone = [each for each in measures("panel-by-test", rows) if each.name == "trio-accuracy"]
    assert len(told) == len(alone) == 2 * (len(TESTS) + 2)
    assert not any("mute" in each.note for each in told)
    by_cell = {(each.test, each.cell["chosen"]): each for each in alone}
    for each in told:
        assert each.note.split(";")[0] == by_cell[each.test, each.cell["chosen"]].note.split(";")[0]
        if each.cell["chosen"] == "in sample":
            assert each.estimate == by_cell[each.test, "in sample"].estimate


def test_too_few_clusters_for_a_panel_are_named(measures, rows):
    one = [row for row in rows if row["item_id"] == "i1"]
    (found,) = {each.note for each in measures("panel-by-test", one) if each.name == "trio-accuracy"}
    assert found.startswith("a panel of three needs more than three judges")


def test_the_confusion_of_the_best_three_has_ties_and_missing_verdicts_in_columns_of_their_own(measures, table_of):
    """Counted by an independent loop; names of judges may hold what separates them, and some say nothing."""
    judges, said = ("a, b", "c; d", "a", "b"), []
    rng = np.random.default_rng(8)
    for item in range(150):
        for judge in judges:
            right = "NO" if item % 3 else "YES"
            wrong = "YES" if right == "NO" else "NO"
            spoken = rng.choice([right, wrong, None], p=[0.5, 0.2, 0.3] if judge != "b" else [0.1, 0.5, 0.4])
            said.append({"item_id": f"i{item}", "judge": judge, "gold": right, "canonical": spoken,
                         "status": "ok" if spoken else "refused"})  # fmt: skip
    found = measures("panel-by-test", said)
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    report = evolve(
        sample_report(), tasks=(TaskSummary(task=task, items=150, labelled=150, gold={}),),
        judges=judges, tests=("reference",), measures=tuple(found), records=table_of(said),
    )  # fmt: skip
    table = next(
        part for section in over_tests().sections(report) for part in section.parts
        if getattr(part, "file", "") == "confusion-of-best-panel"
    )  # fmt: skip
    assert [column.heading for column in table.columns] == ["YES", "NO", "no majority", "no verdict"]
    cases = {}
    for row in said:
        _, votes = cases.setdefault(row["item_id"], (row["gold"], {}))
        votes[row["judge"]] = row["canonical"]
    three = max(combinations(sorted(judges), 3), key=lambda trio: sum(vote(v, trio) == t for t, v in cases.values()))
    told = Counter((truth, vote(votes, three)) for truth, votes in cases.values())
    assert {told[label, verdict] > 0 for label in ("YES", "NO") for verdict in ("no majority", "no verdict")} == {True}
    for row in table.rows:
        assert row.heads[:2] == ("reference", name_panel(three))
        assert row.cells == tuple(told[row.heads[2], column.heading] for column in table.columns)
    assert sum(sum(row.cells) for row in table.rows) == 150


def vote(votes, judges):
    """Return what most of some judges say, whether they tie, or that none says anything."""
    given = [votes[judge] for judge in judges if votes[judge]]
    return (decide(votes, judges) or "no majority") if given else "no verdict"
