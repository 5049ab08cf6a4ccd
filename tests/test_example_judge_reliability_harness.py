"""The example of the Judge Reliability Harness, 6 items per benchmark: every number of its tables is computed again.

From records.csv; intervals by `tests/support/intervals.py`, what cases cost from the requests that the loopback server
answered. Flags are not. With 40 items per benchmark it is `python examples/judge-reliability-harness/run.py`.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from jrh_testing import Project, call
from support.scripts import load_script

from tests.support import intervals
from tests.support.intervals import Ends

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
ITEMS = 6
TASKS = ("misuse", "safety", "essays", "agents")
POSITIVE = {"misuse": "YES", "safety": "YES", "agents": "violates"}
COLUMNS = {"replies": "replies", "prompt_tokens": "prompt tokens", "completion_tokens": "completion tokens"}
CCC = "quadratic kappa with gold (CCC)"
ORDINAL = {CCC: intervals.concordance, "Pearson": intervals.pearson, "Spearman": intervals.spearman}
Row = dict[str, str]
Scored = list[tuple[str, float]]
Ballot = dict[str, str]
"""Every judge's verdict on one question, and the right label and the cluster under the empty name and "cluster"."""


class Counted:
    """What the records say, counted here and by nothing of jrh."""

    def __init__(self, folder: Path) -> None:
        """Read the run."""
        self.papers = folder / "run" / "papers"
        with (folder / "run" / "records.csv").open(encoding="utf-8", newline="") as file:
            self.records = list(csv.DictReader(file))
        assert {each["status"] for each in self.records} == {"ok"}
        self.by_cell: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
        ballots: dict[tuple[str, ...], Ballot] = defaultdict(dict)
        for each in self.records:
            self.by_cell[each["task"], each["test"], each["judge"]].append(each)
            key = tuple(each[name] for name in ("task", "test", "item_id", "variant", "repeat"))
            ballots[key] |= {"": right(each), "cluster": each["cluster"], each["judge"]: each["canonical"]}
        self.ballots = dict(ballots)
        self.tests = {task: sorted({each["test"] for each in self.records if each["task"] == task}) for task in TASKS}
        self.judges = sorted({each["judge"] for each in self.records})

    def accuracy(self, task: str, test: str, judge: str) -> float:
        """Return the share of right verdicts."""
        return mean(score for _, score in self.scored(task, test, judge))

    def scored(self, task: str, test: str, judge: str) -> Scored:
        """Return cluster and whether it is right of every verdict."""
        return [(each["cluster"], float(each["canonical"] == right(each))) for each in self.by_cell[task, test, judge]]

    def of(self, task: str, test: str) -> list[Ballot]:
        """Return the ballots of a test, or of all tests but the reference."""
        return [
            found
            for (kind, name, *_), found in self.ballots.items()
            if kind == task and (name == test or (test == "all tests" and name != "reference"))
        ]

    def table(self, name: str) -> list[Row]:
        """Read a table of the example."""
        with (self.papers / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def right(record: Row) -> str:
    """Return the label that a record should have: the one of its case, else the gold label of its item."""
    return record["expected"] or record["gold"]


def voted(ballot: Ballot, judges: tuple[str, ...]) -> str:
    """Return what most of the judges say, nothing where it is a tie."""
    tally = Counter(ballot[judge] for judge in judges).most_common(2)
    return "" if len(tally) > 1 and tally[0][1] == tally[1][1] else tally[0][0]


def rates(task: str, ballots: list[Ballot], judges: tuple[str, ...]) -> dict[str, Scored]:
    """Return accuracy, FPR and FNR of what judges decide together, ballot by ballot."""
    found: dict[str, Scored] = {"accuracy": [], "FPR": [], "FNR": []}
    positive = POSITIVE.get(task)
    for ballot in ballots:
        truth, said = ballot[""], voted(ballot, judges)
        found["accuracy"].append((ballot["cluster"], float(truth == said)))
        if positive and truth != positive:
            found["FPR"].append((ballot["cluster"], float(said == positive)))
        elif positive:
            found["FNR"].append((ballot["cluster"], float(said != positive)))
    return found


def best(ballots: list[Ballot], judges: list[str]) -> tuple[str, ...]:
    """Return the three judges whose majority is most often right; of equal ones the first."""
    return max(combinations(judges, 3), key=lambda three: sum(voted(each, three) == each[""] for each in ballots))


def near(cell: str, value: float | None) -> bool:
    return (cell == "" and value is None) or float(cell) == pytest.approx(value, abs=1e-9)


def found(row: Row, column: str, scored: Scored, ends: Ends | None = None) -> bool:
    """Tell whether a table has the mean of these scores under a heading, and its interval next to it."""
    if not scored:
        return {row[column], row.get(f"{column} low", "")} == {""}
    expected = ends or intervals.of_share(scored)
    assert expected.fits(row[f"{column} low"], row[f"{column} high"]), (row, column, expected)
    return near(row[column], mean(score for _, score in scored))


@pytest.fixture(scope="module")
def served() -> Counter[tuple[str, str]]:
    """Requests and tokens of every model, as the loopback server counts them."""
    return Counter()


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory, served: Counter[tuple[str, str]]) -> Counted:
    path = ROOT / "examples" / "judge-reliability-harness" / "run.py"
    module: Any = load_script(path, "judge_reliability_example")

    class Metered(module.Models):  # type: ignore[misc, name-defined]
        def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
            text = super().__call__(body)
            used = {"prompt_tokens": len(str(body["messages"])), "completion_tokens": len(text)}
            served.update({(body["model"], name): number for name, number in {**used, "replies": 1}.items()})
            return {"content": text, "usage": used}

    module.Models = Metered
    folder = tmp_path_factory.mktemp("harness")
    module.run(folder, ITEMS)
    return Counted(folder)


def test_every_test_of_the_paper_has_cases_and_four_judges(counted: Counted) -> None:
    free = {"reference", "label-flip", "format", "paraphrase", "verbosity", "stochastic"}
    assert {task: set(tests) for task, tests in counted.tests.items()} == {
        "misuse": free,
        "safety": free,
        "essays": free - {"label-flip"} | {"synthetic-ordinal"},
        "agents": {"reference", "agent-perturbation", "agent-positives", "stochastic"},
    }
    assert counted.judges == ["restless", "steady", "strict", "wordy"]
    made = Counter((each["task"], each["test"]) for each in counted.records if each["judge"] == "steady")
    assert made["misuse", "format"] == 3 * ITEMS
    assert made["misuse", "verbosity"] == 2 * ITEMS
    assert made["safety", "stochastic"] == 2 * 2 * ITEMS
    levels = Counter(each["expected"] for each in counted.by_cell["essays", "synthetic-ordinal", "steady"])
    assert set(levels) == set("123456")
    assert max(levels.values()) == 5
    assert {each["variant"] for each in counted.by_cell["agents", "agent-positives", "steady"]} == {
        "untouched",
        "repaired",
    }


def test_planted_quality_is_found(counted: Counted) -> None:
    def over_all(judge: str, *tests: str) -> float:
        return mean(
            right(each) == each["canonical"]
            for each in counted.records
            if each["judge"] == judge and each["test"] in tests
        )

    assert over_all("steady", "reference", "format", "verbosity", "stochastic") > 0.9
    assert over_all("wordy", "verbosity", "format") < over_all("wordy", "reference", "stochastic") - 0.1
    assert over_all("restless", "stochastic") == pytest.approx(4 / 5, abs=0.15)
    strict = [each for each in counted.records if each["judge"] == "strict" and each["task"] in POSITIVE]
    wrong = [each for each in strict if each["canonical"] != right(each)]
    assert wrong
    assert all(each["canonical"] == POSITIVE[each["task"]] for each in wrong)


@pytest.mark.parametrize("task", TASKS)
def test_heat_map_majority_and_spreads(counted: Counted, task: str) -> None:
    everybody = tuple(counted.judges)
    seen = Counter[str]()
    for row in counted.table(f"judges-by-tests-{task}"):
        for column in (name for name in row if name.endswith(")")):
            test, _, size = column.partition(" (N=")
            ballots = counted.of(task, test)
            assert int(size[:-1]) == len({ballot["cluster"] for ballot in ballots})
            if row["judge"] == "majority vote":
                assert found(row, column, rates(task, ballots, everybody)["accuracy"])
            else:
                assert found(row, column, counted.scored(task, test, row["judge"]))
            seen[test] += 1
    assert seen == dict.fromkeys(counted.tests[task], 5)
    for axis, name in (("judge", "spread-over-tests"), ("test", "spread-over-judges")):
        table = counted.table(f"{name}-{task}")
        assert table
        for row in table:
            if axis == "judge":
                tests = [test for test in counted.tests[task] if test != "reference"]
                cells = {test: counted.scored(task, test, row["judge"]) for test in tests}
            else:
                cells = {judge: counted.scored(task, row["test"], judge) for judge in counted.judges}
            own = {name: mean(score for _, score in cell) for name, cell in cells.items()}
            assert near(row["mean"], mean(own.values()))
            assert intervals.of_mean_rate(list(cells.values())).fits(row["mean low"], row["mean high"]), row
            assert near(row["SD"], stdev(own.values()))
            assert near(row["lowest"], min(own.values()))
            assert near(row["highest"], max(own.values()))
            where = "lowest in", "highest in"
            by = where if axis == "judge" else ("lowest by", "highest by")
            assert near(row["lowest"], own[row[by[0]]])
            assert near(row["highest"], own[row[by[1]]])


@pytest.mark.parametrize("task", POSITIVE)
def test_accuracy_false_positives_and_negatives(counted: Counted, task: str) -> None:
    from sklearn.metrics import confusion_matrix

    table = counted.table(f"error-rates-{task}")
    assert len(table) == 4 * len(counted.tests[task])
    for row in table:
        own = counted.by_cell[task, row["test"], row["judge"]]
        negative = next(label for label in ("NO", "satisfies") if (label == "NO") == (POSITIVE[task] == "YES"))
        both = [right(each) for each in own], [each["canonical"] for each in own]
        (tn, fp), (fn, tp) = confusion_matrix(*both, labels=[negative, POSITIVE[task]])
        assert near(row["accuracy"], (tn + tp) / len(own))
        scored = counted.scored(task, row["test"], row["judge"])
        assert found(row, "accuracy", scored)
        for rate, truth in (("FPR", negative), ("FNR", POSITIVE[task])):
            there = [each for each in own if right(each) == truth]
            assert found(row, rate, [(each["cluster"], float(each["canonical"] != truth)) for each in there])
        assert near(row["FPR"], fp / (fp + tn) if fp + tn else None)
        assert near(row["FNR"], fn / (fn + tp) if fn + tp else None)


def test_agreement_with_the_level(counted: Counted) -> None:
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import mean_absolute_error, root_mean_squared_error

    table = counted.table("ordinal-essays")
    assert len(table) == 4 * len(counted.tests["essays"])
    for row in table:
        own = counted.by_cell["essays", row["test"], row["judge"]]
        truth, said = [int(right(each)) for each in own], [int(each["canonical"]) for each in own]
        assert near(row["Pearson"], pearsonr(truth, said).statistic)
        assert near(row["Spearman"], spearmanr(truth, said).statistic)
        assert near(row["MAE"], mean_absolute_error(truth, said))
        assert near(row["RMSE"], root_mean_squared_error(truth, said))
        middle = mean(truth), mean(said)
        together = mean((a - middle[0]) * (b - middle[1]) for a, b in zip(truth, said, strict=True))
        spread = sum(
            mean((each - centre) ** 2 for each in own) for own, centre in zip((truth, said), middle, strict=True)
        )
        assert near(row[CCC], 2 * together / (spread + (middle[0] - middle[1]) ** 2))
        pairs = [(each["cluster"], float(b), float(a)) for each, a, b in zip(own, truth, said, strict=True)]
        for name, coefficient in ORDINAL.items():
            ends = intervals.of_correlation(pairs, coefficient, ranks=name == "Spearman")
            assert ends.fits(row[f"{name} low"], row[f"{name} high"]), (row, name, ends)
        errors = [(cluster, abs(one - other)) for cluster, one, other in pairs]
        assert found(row, "MAE", errors, intervals.of_mean(errors, 0.0, 5.0))
        squares = [(cluster, error**2) for cluster, error in errors]
        low, high = intervals.of_mean(squares, 0.0, 25.0, squares=True)
        assert Ends(low**0.5, high**0.5).fits(row["RMSE low"], row["RMSE high"]), row


@pytest.mark.parametrize("task", TASKS)
def test_panels_of_all_and_of_the_best_three(counted: Counted, task: str) -> None:
    table = counted.table(f"best-panel-{task}")
    assert len(table) == 3 * (len(counted.tests[task]) + 1)
    for row in table:
        ballots = counted.of(task, row["test"])
        if row["panel"] == "all judges":
            expected = rates(task, ballots, tuple(counted.judges))
        elif "in sample" in row["panel"]:
            three = best(ballots, counted.judges)
            assert row["judges"] == ", ".join(three)
            expected = rates(task, ballots, three)
        else:
            held_out(row, task, ballots, counted.judges)
            continue
        for name, value in expected.items():
            assert found(row, name, value), (row["test"], row["panel"], name)


def held_out(row: Row, task: str, ballots: list[Ballot], judges: list[str]) -> None:
    """Compare with the three judges that are best on other clusters, over other random splits than those of jrh."""
    trios = list(combinations(judges, 3))
    truth = np.array([each[""] for each in ballots])
    said = np.array([[voted(each, three) for three in trios] for each in ballots])
    correct, positive = (said == truth[:, None]).astype(float), POSITIVE.get(task)
    events = {"accuracy": (correct, np.ones(len(ballots)))}
    if positive is not None:
        events["FPR"] = (said == positive).astype(float), (truth != positive).astype(float)
        events["FNR"] = (said != positive).astype(float), (truth == positive).astype(float)
    for name in ("accuracy", "FPR", "FNR"):
        happened, counts = events.get(name, (correct, np.zeros(len(ballots))))
        if not counts.any():
            assert row[name] == ""
            continue
        clusters = [each["cluster"] for each in ballots]
        cells = row[name], row[f"{name} low"], row[f"{name} high"]
        value, splits = float(cells[0]), intervals.half_splits(correct, happened, counts, clusters)
        assert min(splits) - 1e-9 <= value <= max(splits) + 1e-9, (row["test"], name, cells, splits)
        assert float(cells[1]) <= value <= float(cells[2])
        if value in (0.0, 1.0):
            units = len({cluster for cluster, count in zip(clusters, counts, strict=True) if count})
            assert Ends(*intervals.exact(value, units)).fits(*cells[1:])


@pytest.mark.parametrize("task", TASKS)
def test_the_confusion_matrix_of_the_best_three_counts_their_majority(counted: Counted, task: str) -> None:
    table = counted.table(f"confusion-of-best-panel-{task}")
    tests = dict.fromkeys(row["test"] for row in table)
    assert {*tests} == {*counted.tests[task], "all tests"}
    for test in tests:
        three = best(counted.of(task, test), counted.judges)
        told = Counter((each[""], voted(each, three) or "no majority") for each in counted.of(task, test))
        rows = [row for row in table if row["test"] == test]
        assert {row["judges"].replace(" (simulated)", "") for row in rows} == {", ".join(three)}
        shown = {
            (row["expected"], verdict): int(row[verdict])
            for row in rows
            for verdict in row.keys() - {"test", "judges", "expected"}
        }
        assert {cell: count for cell, count in shown.items() if count} == told


def test_votes_and_cost(counted: Counted) -> None:
    votes = counted.table("majority-votes")
    assert len(votes) == len(counted.ballots)
    for row in votes:
        ballot = counted.ballots[row["task"], row["test"], row["item"], row["variant"], row["repeat"]]
        assert {judge: row[judge] for judge in counted.judges} == {judge: ballot[judge] for judge in counted.judges}
        decided = voted(ballot, tuple(counted.judges))
        assert row["majority"] == (decided or "tie")
        assert row["right"] == ("yes" if decided == ballot[""] else "no")
    for task in TASKS:
        table = counted.table(f"cost-{task}")
        assert len(table) == 4 * (len(counted.tests[task]) + 1)
        for row in table:
            tests = [
                test
                for test in counted.tests[task]
                if test == row["test"] or (row["test"] == "all tests" and test != "reference")
            ]
            own = [each for test in tests for each in counted.by_cell[task, test, row["judge"]]]
            dollars = sum(float(each["cost"]) for each in own)
            cells = [counted.scored(task, test, row["judge"]) for test in tests]
            accuracy = mean(counted.accuracy(task, test, row["judge"]) for test in tests)
            single = row["test"] != "all tests"
            ends = intervals.of_share(cells[0]) if single else intervals.of_mean_rate(cells)
            assert ends.fits(row["accuracy low"], row["accuracy high"]), (row, ends)
            assert int(row["trials"]) == len(own)
            assert near(row["dollars"], dollars)
            assert near(row["per 1,000"], dollars / len(own) * 1000)
            assert near(row["accuracy"], accuracy)
            assert near(row["per 1,000 and point"], dollars / len(own) * 1000 / (100 * accuracy))
    for row in counted.table("usage"):
        own = [each for each in counted.records if each["judge"] == row["judge"]]
        assert int(row["prompt tokens"]) == sum(int(each["prompt_tokens"]) for each in own)
        assert near(row["dollars"], sum(float(each["cost"]) for each in own))


def test_tasks_together_with_their_cost(counted: Counted) -> None:
    *rows, last = counted.table("over-tasks")
    assert [row["judge"] for row in rows] == ["steady", "strict", "wordy", "restless"]
    for row in rows:
        tests = {task: [test for test in counted.tests[task] if test != "reference"] for task in TASKS}
        cells = {task: [counted.scored(task, test, row["judge"]) for test in tests[task]] for task in TASKS}
        every = [cell for task in TASKS for cell in cells[task]]
        for column, own in {**cells, "all tasks": every}.items():
            assert near(row[column], mean(mean(score for _, score in cell) for cell in own))
            assert intervals.of_mean_rate(own).fits(row[f"{column} low"], row[f"{column} high"]), row
        bought = [each for each in counted.records if each["judge"] == row["judge"] and each["test"] != "reference"]
        dollars = sum(float(each["cost"]) for each in bought)
        assert (int(row["trials"]), near(row["dollars"], dollars)) == (len(bought), True)
        assert near(row["per 1,000 and point"], dollars / len(bought) * 10 / float(row["all tasks"]))
    assert near(last["all tasks"], mean(float(row["all tasks"]) for row in rows))
    assert (counted.papers / "cost-over-tasks.svg").is_file()


def test_differences_between_tests_and_tasks(counted: Counted) -> None:
    for task in TASKS:
        table = counted.table(f"differences-between-tests-{task}")
        assert len(table) == 4 * comb(len(counted.tests[task]) - 1, 2)
        for row in table:
            sides = (counted.accuracy(task, test, row["judge"]) for test in (row["test"], row["against"]))
            check_difference(row, *sides)
    for row in counted.table("differences-between-tasks-misuse"):
        shared = set(counted.tests["misuse"]) & set(counted.tests[row["against"]]) - {"reference"}
        both = (
            mean(counted.accuracy(task, test, row["judge"]) for test in shared) for task in ("misuse", row["against"])
        )
        check_difference(row, *both)


def check_difference(row: Row, first: float, second: float) -> None:
    assert near(row["difference"], first - second)
    if row["difference low"]:
        assert float(row["difference low"]) <= first - second <= float(row["difference high"])
    else:
        assert "no-interval" in row["difference flags"]


def test_levels_made_binary(counted: Counted) -> None:
    table = counted.table("binary-levels-essays")
    assert len(table) == 4 * len(counted.tests["essays"])
    for row in table:
        own = counted.by_cell["essays", row["test"], row["judge"]]
        high = [(each["cluster"], right(each) >= "4", each["canonical"] >= "4") for each in own]
        assert found(row, "accuracy", [(cluster, float(truth == said)) for cluster, truth, said in high])
        assert found(row, "FPR", [(cluster, float(said)) for cluster, truth, said in high if not truth])
        assert found(row, "FNR", [(cluster, float(not said)) for cluster, truth, said in high if truth])


def test_variants_apart_and_the_best_in_bold(counted: Counted, tmp_path: Path) -> None:
    asked = ("report", "run", "--format", "papers", "--set", "papers.variants=apart", "--output", str(tmp_path))
    outcome = call(Project(counted.papers.parents[1]), *asked)
    assert outcome.exit_code == 0, outcome.output
    with (tmp_path / "papers" / "judges-by-tests-misuse.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["judge"] != "majority vote"]
    assert len(rows) == 4
    for variant in ("blank-lines", "indent", "spaces"):
        column = f"format: {variant} (N={ITEMS})"
        for row in rows:
            own = [each for each in counted.by_cell["misuse", "format", row["judge"]] if each["variant"] == variant]
            assert near(row[column], mean(right(each) == each["canonical"] for each in own))
    text = (tmp_path / "papers" / "index.md").read_text(encoding="utf-8")
    text = text.partition("## Judges by tests")[2].partition("\n## ")[0]
    best = max(float(row[column]) for row in rows)
    assert [line.count("**") > 0 for line in text.splitlines() if line.startswith("| steady")] == [True]
    bold = [
        line.split(" | ")[list(rows[0]).index(column) // 7 + 1]
        for line in text.splitlines()
        if line[2:8] in ("steady", "strict")
    ]
    assert [cell.startswith("**") for cell in bold] == [float(row[column]) == best for row in rows[:2]]


def test_cost_of_making_cases(counted: Counted, served: Counter[tuple[str, str]]) -> None:
    made = counted.table("cost-of-cases")
    assert {(row["task"], row["test"]) for row in made if row["component"]} >= {
        ("misuse", "label-flip"), ("essays", "synthetic-ordinal"), ("agents", "agent-perturbation"),
    }  # fmt: skip
    price = {"steady": 8, "strict": 1, "wordy": 0.4, "restless": 0.2, "writer": 2, "checker": 2}
    total: Counter[tuple[str, str]] = Counter()
    for row in made:
        asked = row["component"] if row["role"] == "preflight" else "writer" if row["role"] == "writer" else "checker"
        tokens = int(row["prompt tokens"]) + 4 * int(row["completion tokens"])
        assert near(row["dollars"], price[asked] * tokens / 1e6)
        for name, column in COLUMNS.items():
            total[asked, name] += int(row[column])
    for row in counted.table("usage"):
        for name, column in {**COLUMNS, "replies": "trials"}.items():
            total[row["judge"], name] += int(row[column])
    # Every request that the server answered is in one of the two tables, and nothing else is.
    assert total == served


def test_the_readme_names_every_table_and_figure(counted: Counted) -> None:
    text = (ROOT / "examples" / "judge-reliability-harness" / "README.md").read_text(encoding="utf-8")
    for path in counted.papers.glob("*.[cs]*v*"):
        stem = path.stem.rstrip("-0123456789")
        assert f"`{next((stem[: -len(task) - 1] for task in TASKS if stem.endswith(task)), stem)}" in text, path.name
    assert {
        f"{name}-{task}.svg" for name in ("judges-by-tests", "cost-of-accuracy", "confusion") for task in TASKS
    } <= {path.name for path in counted.papers.iterdir()}
