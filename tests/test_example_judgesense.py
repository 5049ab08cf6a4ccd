"""The JudgeSense protocol with 20 of its 125 pairs a task: every number of its tables follows from records.csv.

The whole, 27,000 calls to nine judges, is one command: `python examples/judgesense/run.py`. Intervals are computed
again by `tests/support/intervals.py`. Flags are not.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from support.scripts import load_script

from tests.support import intervals
from tests.support.intervals import Ends

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAIRS, REPEATS = 20, 3
TASKS = ("factuality", "coherence", "relevance", "preference")
CCC = "quadratic kappa with gold (CCC)"
ORDINAL = {CCC: intervals.concordance, "Pearson": intervals.pearson, "Spearman": intervals.spearman}
Verdict = tuple[str, str]
"""As shown, and as meant."""
Scored = list[tuple[str, float]]
"""Cluster and score of every trial."""


class Counted:
    """What the records say, counted here and by nothing of jrh."""

    def __init__(self, folder: Path) -> None:
        """Read the run."""
        self.papers = folder / "run" / "papers"
        with (folder / "run" / "records.csv").open(encoding="utf-8", newline="") as file:
            self.records = list(csv.DictReader(file))
        self.judges = list(dict.fromkeys(each["judge"] for each in self.records))
        self.cluster = {(each["task"], each["item_id"]): each["cluster"] for each in self.records}
        self.pairs = {}
        for task in TASKS:
            prompts: dict[str, str] = {}
            for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                asked = [row[side].partition("\n")[0] for side in ("prompt_a", "prompt_b")]
                names = [prompts.setdefault(text, f"prompt-{len(prompts) + 1}") for text in asked]
                self.pairs[task, row["pair_id"]] = (names[0], names[1])
        self.said: dict[tuple[str, str, str, str], list[Verdict | None]] = defaultdict(lambda: [None] * REPEATS)
        for each in self.records:
            if each["test"] == "templates":
                place = self.said[each["task"], each["judge"], each["item_id"], each["template"]]
                verdict = (each["presented"], each["canonical"]) if each["status"] == "ok" else None
                place[int(each["repeat"])] = verdict

    def both(self, task: str, judge: str, item: str) -> tuple[list[Verdict | None], list[Verdict | None]]:
        """Return what was said to prompt_a and prompt_b of an item."""
        one, other = self.pairs[task, item]
        return self.said[task, judge, item, one], self.said[task, judge, item, other]

    def scored(
        self, task: str, judge: str, *, meant: int = 1, without: str = "", only: str = "", names: str = ""
    ) -> Scored:
        """Return for every pair of prompts the share of agreeing combinations of its repeats."""
        found = []
        for (kind, item), pair in self.pairs.items():
            if kind != task or without in pair or (only and only not in pair):
                continue
            if names and set(names.split(" | ")) != set(pair):
                continue
            combined = [(a[meant], b[meant]) for a, b in product(*self.both(task, judge, item)) if a and b]
            if combined:
                found.append((self.cluster[task, item], mean(a == b for a, b in combined)))
        return found

    def kappa(self, task: str, judge: str, without: str = "") -> tuple[float, Ends]:
        """Return Cohen's kappa, every pair with the same weight, the prompt that sorts first on the first side."""
        from sklearn.metrics import cohen_kappa_score

        pairs, weights = [], []
        for (kind, item), names in self.pairs.items():
            if kind == task and without not in names:
                turned = names != tuple(sorted(names))
                combined = [(a[1], b[1]) for a, b in product(*self.both(task, judge, item)) if a and b]
                for each in combined:
                    sides = reversed(each) if turned else each
                    pairs.append((self.cluster[task, item], *map(self.code, sides)))
                    weights.append(1 / len(combined))
        _, *sides = zip(*pairs, strict=True)
        return float(cohen_kappa_score(*sides, sample_weight=weights)), intervals.of_kappa(pairs, weights)

    @staticmethod
    def code(label: str) -> float:
        """Return a number for a label."""
        return float(int.from_bytes(label.encode(), "big"))

    def flips(self, task: str, item: str) -> tuple[list[str], list[str]]:
        """Return the judges with verdicts on both sides of a pair, and those of them that flip it."""
        shares = {}
        for judge in self.judges:
            combined = [a[1] == b[1] for a, b in product(*self.both(task, judge, item)) if a and b]
            if combined:
                shares[judge] = mean(combined)
        return sorted(shares), sorted(judge for judge, share in shares.items() if share < 0.5)

    def rows(self, task: str, judge: str) -> list[tuple[str, str]]:
        """Return the decisions of every row and repeat, as the paper counts them."""
        return [
            (a[1], b[1])
            for kind, item in self.pairs
            if kind == task
            for a, b in zip(*self.both(task, judge, item), strict=True)
            if a and b
        ]

    def table(self, name: str) -> list[dict[str, str]]:
        """Read a table of the example."""
        path = self.papers / f"{name}.csv"
        if path.is_file():
            return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        return [{"task": task, **row} for task in TASKS for row in self.table(f"{name}-{task}")]


@pytest.fixture(scope="module")
def example() -> Any:
    return load_script(ROOT / "examples" / "judgesense" / "run.py", "judgesense_example")


@pytest.fixture(scope="module")
def counted(example: Any, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    folder = tmp_path_factory.mktemp("judgesense")
    example.run(folder, PAIRS)
    return Counted(folder)


def near(cell: str, value: float | None) -> bool:
    return (cell == "" and value is None) or float(cell) == pytest.approx(value, abs=1e-9)


def found(row: dict[str, str], column: str, scored: Scored, ends: Ends | None = None) -> bool:
    """Tell whether a table has the mean of these scores under a heading, and its interval next to it."""
    if not scored:
        return row[column] == row[f"{column} low"] == ""
    value = mean(score for _, score in scored)
    fits = (ends or intervals.of_share(scored)).fits(row[f"{column} low"], row[f"{column} high"])
    assert fits, (row, column, ends or intervals.of_share(scored))
    return near(row[column], value)


def test_the_protocol_asks_every_judge_every_prompt_three_times(counted: Counted, example: Any) -> None:
    asked = Counter(each["test"] for each in counted.records)
    assert asked == {"templates": 4 * PAIRS * 2 * REPEATS * 9, "reference": 4 * PAIRS * 9}
    assert 4 * example.PAIRS * 2 * REPEATS * 9 == 27_000
    prompts = {row["prompt_a"] for task in TASKS for row in example.rows(task, example.PAIRS)}
    assert len(prompts) == 4 * example.PAIRS


def test_agreement_and_constant_judges(counted: Counted) -> None:
    steady = counted.table("templates")
    constant = [
        {"task": task, **row}
        for task in ("relevance", "preference")
        for row in counted.table(f"templates-constant-{task}")
    ]
    assert len(steady) + len(constant) == 4 * 9
    for row in (*steady, *constant):
        scored = counted.scored(row["task"], row["judge"])
        assert found(row, "JSS, corrected", scored)
        assert found(row, "flip rate", [(cluster, 1 - score) for cluster, score in scored])
        said = [each for each in counted.records if (each["task"], each["judge"]) == (row["task"], row["judge"])]
        told = [each for each in said if each["test"] == "templates"]
        assert int(row["JSS, corrected missing"]) == sum(each["status"] != "ok" for each in told)
        shown = {each["presented"] for each in told if each["status"] == "ok"}
        assert (len(shown) == 1) == (row in constant)
        if len({each["canonical"] for each in told} - {""}) > 1:
            kappa, ends = counted.kappa(row["task"], row["judge"])
            assert near(row["kappa"], kappa)
            assert ends.fits(row["kappa low"], row["kappa high"]), (row, ends)
        else:
            assert row["kappa"] == ""
    always = set(product(("relevance", "preference"), ("always A", "always B")))
    assert {(row["task"], row["judge"]) for row in constant} == always
    for task in TASKS:
        scores = [float(row["JSS, corrected"]) for row in steady if row["task"] == task]
        assert scores == sorted(scores)


def test_raw_corrected_and_left_out(counted: Counted) -> None:
    for row in filter(lambda each: each.get("difference"), counted.table("templates")):
        raw, corrected = (counted.scored(row["task"], row["judge"], meant=meant) for meant in (0, 1))
        assert found(row, "JSS, raw", raw)
        assert found(row, "JSS, corrected", corrected)
        change = [(cluster, one - other) for (cluster, one), (_, other) in zip(corrected, raw, strict=True)]
        assert found(row, "difference", change, intervals.of_mean(change, -1.0, 1.0))
    left = counted.table("templates-left-out")
    assert {row["left out"] for row in left} == {"template 4", "inverted: prompt-4"}
    for row in left:
        assert found(row, "JSS, all", counted.scored(row["task"], row["judge"]))
        assert found(row, "JSS, without", counted.scored(row["task"], row["judge"], without="prompt-4"))
        for name, without in (("kappa, all", ""), ("kappa, without", "prompt-4")):
            if row[name]:
                kappa, ends = counted.kappa(row["task"], row["judge"], without)
                assert near(row[name], kappa)
                assert ends.fits(row[f"{name} low"], row[f"{name} high"]), (row, name, ends)
    for row in counted.table("templates-each"):
        own = {"only": row["template"]}
        assert found(row, "JSS with all others", counted.scored(row["task"], row["judge"], **own))
        for column in ("without template 4", "without inverted: prompt-4"):
            if row.get(column):
                scored = counted.scored(row["task"], row["judge"], without="prompt-4", **own)
                assert found(row, column, scored)
    blind = next(row for row in left if row["judge"] == "blind to polarity")
    assert float(blind["JSS, without"]) == 1.0 > float(blind["JSS, all"])


def test_pairs_of_templates_and_how_many_judges_flip_them(counted: Counted) -> None:
    for row in counted.table("template-pairs"):
        scored = counted.scored(row["task"], row["judge"], names=row["templates"])
        assert found(row, "JSS, corrected", scored)
        assert found(row, "flip rate", [(cluster, 1 - score) for cluster, score in scored])
    flips = {key: counted.flips(*key) for key in counted.pairs}
    listed = counted.table("pair-flips")
    assert {(row["task"], row["item"]) for row in listed} == set(counted.pairs)
    assert len(listed) == 4 * PAIRS
    for row in listed:
        judges, who = flips[row["task"], row["item"]]
        assert set(row["pair"].split(" | ")) == set(counted.pairs[row["task"], row["item"]])
        assert row["listed"] == "yes"
        assert (int(row["judges"]), int(row["flip"])) == (len(judges), len(who))
        assert sorted(filter(None, row["who"].split(", "))) == who
    shown: Counter[str] = Counter()
    for row in counted.table("pair-overlap"):
        own = {key: told for key, told in flips.items() if key[0] == row["task"]}
        if row["templates"]:
            names = set(row["templates"].split(" | "))
            ballots = [
                (counted.cluster[key], float(judge in who))
                for key, (judges, who) in own.items()
                for judge in judges
                if set(counted.pairs[key]) == names
            ]
        elif row["flipped by"].isdigit():
            number = int(row["flipped by"])
            ballots = [(counted.cluster[key], float(len(who) == number)) for key, (_, who) in own.items()]
        else:
            ballots = [(counted.cluster[key], float(judges == who)) for key, (judges, who) in own.items()]
        assert found(row, "share", ballots)
        shown["pair" if row["templates"] else "number" if row["flipped by"].isdigit() else "every"] += 1
    assert shown == {"pair": 4 * 10, "number": 4 * 10, "every": 4}


def test_the_papers_estimator_is_next_to_ours(counted: Counted) -> None:
    from scipy.stats import binom
    from sklearn.metrics import cohen_kappa_score

    table = counted.table("templates-as-published")
    assert len(table) == 4 * 9
    for row in table:
        both = counted.rows(row["task"], row["judge"])
        share = mean(a == b for a, b in both)
        assert near(row["JSS, paper"], share)
        # Their interval: percentiles of 1,000 resampled means, each of which is known to .42 SD at five sigma.
        room = (0.42 * (share * (1 - share) / len(both)) ** 0.5) + 1 / len(both)
        for end, quantile in (("low", 0.025), ("high", 0.975)):
            exact = binom.ppf(quantile, len(both), share) / len(both)
            assert float(row[f"JSS, paper {end}"]) == pytest.approx(exact, abs=room)
        constant = len({label for pair in both for label in pair}) == 1
        kappa = 1.0 if constant else cohen_kappa_score(*zip(*both, strict=True))
        assert near(row["kappa, paper"], kappa)
        assert found(row, "JSS", counted.scored(row["task"], row["judge"]))


class Graded:
    """Right and wrong verdicts."""

    def __init__(self, counted: Counted) -> None:
        """Sort the records by task, test and judge, and by what was asked."""
        self.own: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
        self.ballots: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
        self.gold = {(each["task"], each["item_id"]): each["gold"] for each in counted.records}
        self.cluster = counted.cluster
        self.judges = sorted(counted.judges)
        for each in counted.records:
            self.own[each["task"], each["test"], each["judge"]].append(each)
            key = tuple(each[name] for name in ("task", "test", "item_id", "template", "repeat"))
            self.ballots[key][each["judge"]] = each["canonical"]

    def right(self, task: str, test: str, judge: str) -> Scored:
        """Return whether the verdicts that are there are right."""
        told = (each for each in self.own[task, test, judge] if each["status"] == "ok")
        return [(each["cluster"], float(each["canonical"] == each["gold"])) for each in told]

    def ends(self, row: dict[str, str], column: str, task: str, test: str, judge: str) -> Ends | None:
        """Return the interval of accuracy where verdicts are missing for a reason: between the worst and the best."""
        if "informative-missing" not in row[f"{column} flags"]:
            return None
        sides = []
        for lost in (0.0, 1.0):
            own = self.own[task, test, judge]
            sides.append(
                [
                    (each["cluster"], float(each["canonical"] == each["gold"]) if each["status"] == "ok" else lost)
                    for each in own
                ]
            )
        return intervals.of_bounds(*sides)

    def voted(self, task: str, test: str, judges: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Yield what was asked, what most of some judges say, nothing where it is a tie, and the right label."""
        for key, votes in self.ballots.items():
            if key[:2] == (task, test):
                tally = Counter(filter(None, (votes[judge] for judge in judges))).most_common(2)
                tied = not tally or (len(tally) > 1 and tally[0][1] == tally[1][1])
                yield key, "" if tied else tally[0][0], self.gold[task, key[2]]

    def hits(self, task: str, test: str, trios: list[tuple[str, ...]]) -> list[int]:
        """Count the right decisions of every three judges."""
        asked = [(votes, self.gold[task, key[2]]) for key, votes in self.ballots.items() if key[:2] == (task, test)]
        said = {judge: np.array([votes[judge] for votes, _ in asked]) for judge in self.judges}
        truth = np.array([gold for _, gold in asked])
        counts = []
        for trio in trios:
            a, b, c = (said[judge] for judge in trio)
            alone = sum((vote == "").astype(int) for vote in (a, b, c)) == 2
            agreed = np.where((a == b) | (a == c), a, np.where(b == c, b, ""))
            single = np.where(a != "", a, np.where(b != "", b, c))
            counts.append(int((np.where(alone, single, agreed) == truth).sum()))
        return counts

    def together(self, task: str, test: str, judges: tuple[str, ...], rate: str = "accuracy") -> Scored:
        """Return accuracy, FPR or FNR of a majority; the positive label is YES."""
        found = []
        for key, said, truth in self.voted(task, test, judges):
            cluster = self.cluster[task, key[2]]
            if rate == "accuracy":
                found.append((cluster, float(said == truth)))
            elif (truth == "YES") == (rate == "FNR"):
                found.append((cluster, float((said == "YES") == (rate == "FPR"))))
        return found


@pytest.fixture(scope="module")
def graded(counted: Counted) -> Graded:
    return Graded(counted)


@pytest.mark.parametrize("task", TASKS)
def test_accuracy_majority_spread_and_cost(counted: Counted, graded: Graded, task: str) -> None:
    everybody = tuple(graded.judges)
    for row in counted.table(f"judges-by-tests-{task}"):
        for column in (name for name in row if name.endswith(")")):
            test = column.partition(" ")[0]
            if row["judge"] == "majority vote":
                assert found(row, column, graded.together(task, test, everybody))
            else:
                ends = graded.ends(row, column, task, test, row["judge"])
                assert found(row, column, graded.right(task, test, row["judge"]), ends)
    for row in counted.table(f"spread-over-judges-{task}"):
        each = {judge: graded.right(task, row["test"], judge) for judge in counted.judges}
        rates = {judge: mean(score for _, score in own) for judge, own in each.items()}
        assert near(row["mean"], mean(rates.values()))
        assert intervals.of_mean_rate(list(each.values())).fits(row["mean low"], row["mean high"])
        assert near(row["SD"], stdev(rates.values()))
        assert near(row["lowest"], min(rates.values()))
        assert near(row["highest"], max(rates.values()))
        assert near(row["lowest"], rates[row["lowest by"]])
        assert near(row["highest"], rates[row["highest by"]])
    for row in counted.table(f"cost-{task}"):
        own = graded.own[task, row["test"], row["judge"]]
        dollars = sum(float(each["cost"]) for each in own)
        scored = graded.right(task, row["test"], row["judge"])
        assert int(row["trials"]) == len(own)
        assert near(row["dollars"], dollars)
        assert near(row["per 1,000"], dollars / len(own) * 1000)
        assert found(row, "accuracy", scored, graded.ends(row, "accuracy", task, row["test"], row["judge"]))
        accuracy = mean(score for _, score in scored)
        assert float(row["per 1,000 and point"]) == pytest.approx(dollars / len(own) * 1000 / (100 * accuracy))


def test_false_positives_and_negatives(counted: Counted, graded: Graded) -> None:
    from sklearn.metrics import confusion_matrix

    table = counted.table("error-rates-factuality")
    assert len(table) == 2 * 9
    for row in table:
        told = [each for each in graded.own["factuality", row["test"], row["judge"]] if each["status"] == "ok"]
        both = [each["gold"] for each in told], [each["canonical"] for each in told]
        (tn, fp), (fn, tp) = confusion_matrix(*both, labels=["NO", "YES"])
        assert near(row["FPR"], fp / (fp + tn))
        assert near(row["FNR"], fn / (fn + tp))
        scored = graded.right("factuality", row["test"], row["judge"])
        rates = {
            rate: [(each["cluster"], float(each["canonical"] != truth)) for each in told if each["gold"] == truth]
            for rate, truth in (("FPR", "NO"), ("FNR", "YES"))
        }
        for name, scores in {"accuracy": scored, **rates}.items():
            if len(told) == len(graded.own["factuality", row["test"], row["judge"]]):
                assert found(row, name, scores)
            else:  # as below: whatever the missing verdicts would have been
                ends = intervals.of_share(scores)
                assert near(row[name], mean(score for _, score in scores))
                assert float(row[f"{name} low"]) <= ends.low + 1e-9
                assert float(row[f"{name} high"]) >= ends.high - 1e-9


def test_agreement_with_the_level(counted: Counted, graded: Graded) -> None:
    table = counted.table("ordinal-coherence")
    assert len(table) == 2 * 9
    for row in table:
        told = [each for each in graded.own["coherence", row["test"], row["judge"]] if each["status"] == "ok"]
        pairs = [(each["cluster"], float(each["canonical"]), float(each["gold"])) for each in told]
        x, y = np.array([each[1:] for each in pairs]).T
        for name, coefficient in ORDINAL.items():
            assert near(row[name], coefficient(x, y, np.ones(len(x))))
            ends = intervals.of_correlation(pairs, coefficient, ranks=name == "Spearman")
            if name == CCC and len(told) < len(graded.own["coherence", row["test"], row["judge"]]):
                # Of agreement with gold, the interval holds whatever the missing verdicts would have been.
                assert float(row[f"{name} low"]) < ends.low <= ends.high <= float(row[f"{name} high"]) + 1e-9
                continue
            assert ends.fits(row[f"{name} low"], row[f"{name} high"]), (row, name, ends)
        errors = [(cluster, abs(one - other)) for cluster, one, other in pairs]
        assert found(row, "MAE", errors, intervals.of_mean(errors, 0.0, 4.0))
        squares = [(cluster, error**2) for cluster, error in errors]
        assert near(row["RMSE"], mean(each for _, each in squares) ** 0.5)
        low, high = intervals.of_mean(squares, 0.0, 16.0, squares=True)
        assert Ends(low**0.5, high**0.5).fits(row["RMSE low"], row["RMSE high"])


@pytest.mark.parametrize("task", TASKS)
def test_panels_of_all_and_of_the_best_three(counted: Counted, graded: Graded, task: str) -> None:
    table = counted.table(f"best-panel-{task}")
    assert len(table) == 2 * 3
    for row in table:
        names = ("accuracy", "FPR", "FNR") if task == "factuality" else ("accuracy",)
        assert all(row[name] == "" for name in {"FPR", "FNR"} - set(names))
        trios = list(combinations(graded.judges, 3))
        hits = graded.hits(task, row["test"], trios)
        best = trios[hits.index(max(hits))]
        if row["panel"] != "all judges":
            assert row["judges"] == ", ".join(best)
            # Where some three are always right, so are the three that are chosen without any fold.
            assert max(hits) == len(graded.together(task, row["test"], best))
        chosen = tuple(graded.judges) if row["panel"] == "all judges" else best
        for name in names:
            assert found(row, name, graded.together(task, row["test"], chosen, name))


def test_votes_and_tokens(counted: Counted, graded: Graded) -> None:
    votes = counted.table("majority-votes")
    assert len(votes) == len(graded.ballots)
    decided = {
        key: (said, truth)
        for task, test in product(TASKS, ("reference", "templates"))
        for key, said, truth in graded.voted(task, test, tuple(graded.judges))
    }
    told = Counter()
    for row in votes:
        told[row["task"], row["test"], row["majority"], row["right"]] += 1
    expected = Counter(
        (*key[:2], said or "tie", "yes" if said == truth else "no") for key, (said, truth) in decided.items()
    )
    assert told == expected
    for row in counted.table("usage"):
        own = [each for each in counted.records if each["judge"] == row["judge"]]
        assert int(row["trials"]) == len(own)
        assert int(row["prompt tokens"]) == sum(int(each["prompt_tokens"]) for each in own)
        assert int(row["completion tokens"]) == sum(int(each["completion_tokens"]) for each in own)
        assert near(row["dollars"], sum(float(each["cost"]) for each in own))
        assert (row["reasoning tokens"], row["replies of unknown price"]) == ("", "0")


def test_the_readme_names_every_table_and_figure(counted: Counted, example: Any) -> None:
    text = (ROOT / "examples" / "judgesense" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{judge}`" in text for judge in example.JUDGES)
    names = {path.name for path in counted.papers.iterdir()}
    for name in names - {"index.md", "tables.tex"}:
        stem = name.partition(".")[0].rstrip("-0123456789")
        assert f"`{next((stem[: -len(task) - 1] for task in TASKS if stem.endswith(task)), stem)}`" in text, name
    assert {
        "prompt-templates.svg",
        "prompt-templates-intervals-coherence.svg",
        "judges-by-tests-coherence.svg",
        "index.md",
    } <= names


def test_the_spread_of_jss_over_judges_and_tasks(counted: Counted) -> None:
    for name, head in (("jss-over-judges", "task"), ("jss-over-tasks", "judge")):
        table = counted.table(name)
        assert len(table) == len(TASKS if head == "task" else counted.judges)
        for row in table:
            places = (
                [(row["task"], judge) for judge in counted.judges]
                if head == "task"
                else [(task, row["judge"]) for task in TASKS]
            )
            own = [mean(score for _, score in counted.scored(*place)) for place in places]
            numbers = (mean(own), stdev(own), min(own), max(own))
            assert [float(row[column]) for column in ("mean", "SD", "lowest", "highest")] == pytest.approx(
                list(numbers), abs=1e-9
            )
