"""The example of the JudgeSense protocol on a tenth of its pairs: every number of its tables follows from records.csv.

The whole protocol, 27,000 calls, is one command: `python examples/judgesense/run.py`.
"""

from __future__ import annotations

import csv
import importlib.util
import json
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAIRS, REPEATS = 12, 3
TASKS = ("factuality", "coherence", "relevance", "preference")
Verdict = tuple[str, str]
"""As shown, and as meant."""


class Counted:
    """What the records say, counted here and by nothing of jrh."""

    def __init__(self, folder: Path) -> None:
        """Read the run."""
        self.papers = folder / "run" / "papers"
        with (folder / "run" / "records.csv").open(encoding="utf-8", newline="") as file:
            self.records = list(csv.DictReader(file))
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

    def score(self, task: str, judge: str, *, meant: int = 1, without: str = "", only: str = "") -> float | None:
        """Return JSS: the mean over pairs of the share of agreeing combinations of their repeats."""
        found = []
        for (kind, item), names in self.pairs.items():
            if kind == task and without not in names and (not only or only in names):
                combined = [(a[meant], b[meant]) for a, b in product(*self.both(task, judge, item)) if a and b]
                if combined:
                    found.append(mean(a == b for a, b in combined))
        return mean(found) if found else None

    def kappa(self, task: str, judge: str) -> float:
        """Return Cohen's kappa, every pair with the same weight, the prompt that sorts first on the first side."""
        sides: list[list[str]] = [[], []]
        weights = []
        for (kind, item), names in self.pairs.items():
            if kind == task:
                turned = names != tuple(sorted(names))
                combined = [(a[1], b[1]) for a, b in product(*self.both(task, judge, item)) if a and b]
                for pair in combined:
                    for side, label in zip(sides, reversed(pair) if turned else pair, strict=True):
                        side.append(label)
                    weights.append(1 / len(combined))
        return float(cohen_kappa_score(*sides, sample_weight=weights))

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
        with (self.papers / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("judgesense_example", ROOT / "examples" / "judgesense" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def counted(example: Any, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    folder = tmp_path_factory.mktemp("judgesense")
    example.run(folder, PAIRS)
    return Counted(folder)


def near(cell: str, value: float | None) -> bool:
    return (cell == "" and value is None) or float(cell) == pytest.approx(value, abs=1e-9)


def test_the_protocol_asks_every_judge_every_prompt_three_times(counted: Counted, example: Any) -> None:
    asked = Counter(each["test"] for each in counted.records)
    assert asked == {"templates": 4 * PAIRS * 2 * REPEATS * 9, "reference": 4 * PAIRS * 9}
    assert 4 * example.PAIRS * 2 * REPEATS * 9 == 27_000
    prompts = {row["prompt_a"] for task in TASKS for row in example.rows(task, example.PAIRS)}
    assert len(prompts) == 4 * example.PAIRS


def test_agreement_and_constant_judges(counted: Counted) -> None:
    steady, constant = counted.table("templates"), counted.table("templates-constant")
    assert len(steady) + len(constant) == 4 * 9
    for row in (*steady, *constant):
        score = counted.score(row["task"], row["judge"])
        assert near(row["JSS"], score)
        assert near(row["flip rate"], 1 - score)
        said = [each for each in counted.records if (each["task"], each["judge"]) == (row["task"], row["judge"])]
        told = [each for each in said if each["test"] == "templates"]
        assert int(row["JSS missing"]) == sum(each["status"] != "ok" for each in told)
        assert float(row["JSS low"]) <= float(row["JSS"]) <= float(row["JSS high"])
        shown = {each["presented"] for each in told if each["status"] == "ok"}
        assert (len(shown) == 1) == (row in constant)
        if len({each["canonical"] for each in told} - {""}) > 1:
            assert near(row["kappa"], counted.kappa(row["task"], row["judge"]))
        else:
            assert row["kappa"] == ""
    always = set(product(("relevance", "preference"), ("always A", "always B")))
    assert {(row["task"], row["judge"]) for row in constant} == always
    for task in TASKS:
        scores = [float(row["JSS"]) for row in steady if row["task"] == task]
        assert scores == sorted(scores)


def test_raw_corrected_and_left_out(counted: Counted) -> None:
    for row in counted.table("templates-polarity"):
        raw, corrected = (counted.score(row["task"], row["judge"], meant=meant) for meant in (0, 1))
        assert near(row["raw"], raw)
        assert near(row["corrected"], corrected)
        assert near(row["difference"], corrected - raw)
    left = counted.table("templates-left-out")
    assert {row["left out"] for row in left} == {"template 4", "inverted: prompt-4"}
    for row in left:
        assert near(row["JSS, without"], counted.score(row["task"], row["judge"], without="prompt-4"))
    for row in counted.table("templates-each"):
        own = {"only": row["template"]}
        assert near(row["JSS, all pairs"], counted.score(row["task"], row["judge"], **own))
        if row["left out"]:
            assert near(row["JSS, without"], counted.score(row["task"], row["judge"], without="prompt-4", **own))
    blind = next(row for row in left if row["judge"] == "blind to polarity")
    assert float(blind["JSS, without"]) == 1.0 > float(blind["JSS, all"])


def test_pairs_of_templates_and_how_many_judges_flip_them(counted: Counted, example: Any) -> None:
    for row in counted.table("template-pairs"):
        names = tuple(row["pair"].split(" | "))
        items = [item for (task, item), own in counted.pairs.items() if task == row["task"] and set(own) == set(names)]
        found = []
        for item in items:
            combined = [a[1] == b[1] for a, b in product(*counted.both(row["task"], row["judge"], item)) if a and b]
            found += [mean(combined)] if combined else []
        assert near(row["JSS"], mean(found) if found else None)
    flips = {}
    for task, item in counted.pairs:
        shares = {}
        for judge in example.JUDGES:
            combined = [a[1] == b[1] for a, b in product(*counted.both(task, judge, item)) if a and b]
            if combined:
                shares[judge] = mean(combined)
        flips[task, item] = (len(shares), sorted(judge for judge, share in shares.items() if share < 0.5))
    listed = counted.table("pair-flips")
    assert len(listed) == 4 * PAIRS
    for row in listed:
        judges, who = flips[row["task"], row["item"]]
        assert (int(row["judges"]), int(row["flip"])) == (judges, len(who))
        assert sorted(filter(None, row["who"].split(", "))) == who
    for row in counted.table("pair-overlap"):
        own = [found for (task, _), found in flips.items() if task == row["task"]]
        if row["flipped by"].isdigit():
            assert near(row["share"], mean(len(who) == int(row["flipped by"]) for _, who in own))
        elif row["pair"]:
            names = set(row["pair"].split(" | "))
            here = [found for key, found in flips.items() if key[0] == row["task"] and set(counted.pairs[key]) == names]
            assert near(row["share"], sum(len(who) for _, who in here) / sum(judges for judges, _ in here))


def test_the_papers_estimator_is_next_to_ours(counted: Counted) -> None:
    table = counted.table("templates-as-published")
    assert len(table) == 4 * 9
    for row in table:
        both = counted.rows(row["task"], row["judge"])
        assert near(row["JSS, paper"], mean(a == b for a, b in both))
        constant = len({label for pair in both for label in pair}) == 1
        kappa = 1.0 if constant else cohen_kappa_score(*zip(*both, strict=True))
        assert near(row["kappa, paper"], kappa)
        assert near(row["JSS"], counted.score(row["task"], row["judge"]))


def test_accuracy_majority_and_cost(counted: Counted) -> None:
    by_task: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    ballots: dict[tuple[str, str, str, str, str], dict[str, str]] = defaultdict(dict)
    gold = {(each["task"], each["item_id"]): each["gold"] for each in counted.records}
    for each in counted.records:
        key = each["task"], each["test"], each["item_id"], each["template"], each["repeat"]
        ballots[key][each["judge"]] = each["canonical"]
        if each["status"] == "ok":
            by_task[each["task"], each["test"], each["judge"]].append(each["canonical"] == each["gold"])
    majority: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for (task, test, item, *_), votes in ballots.items():
        tally = Counter(filter(None, votes.values())).most_common(2)
        tied = len(tally) > 1 and tally[0][1] == tally[1][1]
        majority[task, test].append(bool(tally) and not tied and tally[0][0] == gold[task, item])
    for task in TASKS:
        for row in counted.table(f"judges-by-tests-{task}"):
            for column in (name for name in row if name.endswith(")")):
                test = column.partition(" ")[0]
                right = majority[task, test] if row["judge"] == "majority vote" else by_task[task, test, row["judge"]]
                assert near(row[column], mean(right))
        for row in counted.table(f"spread-over-judges-{task}"):
            rates = [mean(right) for (kind, test, _), right in by_task.items() if (kind, test) == (task, row["test"])]
            assert near(row["mean"], mean(rates))
            assert near(row["SD"], stdev(rates))
            assert (float(row["lowest"]), float(row["highest"])) == (
                pytest.approx(min(rates)), pytest.approx(max(rates)),
            )  # fmt: skip
        for row in counted.table(f"cost-{task}"):
            own = [
                each
                for each in counted.records
                if (each["task"], each["test"], each["judge"]) == (task, row["test"], row["judge"])
            ]
            dollars = sum(float(each["cost"]) for each in own)
            assert near(row["dollars"], dollars)
            accuracy = mean(by_task[task, row["test"], row["judge"]])
            assert float(row["per 1,000 and point"]) == pytest.approx(dollars / len(own) * 1000 / (100 * accuracy))
    votes = counted.table("majority-votes")
    assert len(votes) == len(ballots)
    right = Counter((row["task"], row["test"], row["right"]) for row in votes)
    assert all(right[task, test, "yes"] == sum(found) for (task, test), found in majority.items())
    for row in counted.table("usage"):
        own = [each for each in counted.records if each["judge"] == row["judge"]]
        assert int(row["trials"]) == len(own)
        assert int(row["prompt tokens"]) == sum(int(each["prompt_tokens"]) for each in own)
        assert near(row["dollars"], sum(float(each["cost"]) for each in own))


def test_figures_are_there(counted: Counted) -> None:
    names = {path.name for path in counted.papers.iterdir()}
    assert {"templates.svg", "jss-1.svg", "judges-by-tests-coherence.svg", "cost-factuality.svg", "index.md"} <= names
