"""Study whether `jrh check`, the report, the gate and the comparison give one interval and one answer per table.

`python -m tests.studies.same_answers [--tables 2000] [--seed 1]` makes random tables of items, groups, repeats and
labels, asks all four about agreement with people, and prints how many tables differ: none should. The gate is asked at
its full error rate and, as a user would, at its first look, which has four fifths of it: it may then leave open what
the check answers, and never says the opposite.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext
from jrh_import.checking.answers import answers_of
from jrh_import.checking.check_request import CheckRequest
from jrh_import.checking.measurement import Checked, check_table
from jrh_measuring import Look, load_metrics, parse_rule
from jrh_measuring.comparing.cost_curve import curve
from jrh_measuring.comparing.pairing import Terms
from jrh_measuring.comparing.results import SideName
from jrh_measuring.comparing.scoring import read_cases
from jrh_measuring.gating.deciding import Outcome, decide
from jrh_measuring.gating.rule_limits import LimitTable

MEASURE: Final = "gold-accuracy"
LEVEL: Final = 0.95
_ANSWERS: Final = {Outcome.HOLDS: True, Outcome.FAILS: False, Outcome.UNDECIDED: None}


@frozen(kw_only=True)
class Answers:
    """What the four say about one table."""

    bar: float
    check: bool | None
    gate: bool | None
    """At the error rate of the check."""
    first_look: bool | None
    ends: dict[str, tuple[float, float]]
    flags: tuple[str, ...]

    def mistakes(self) -> Iterator[str]:
        """Yield what differs."""
        ends = np.array(list(self.ends.values()))
        if np.ptp(ends, axis=0).max() > 1e-9:
            yield f"ends differ: {self.ends}"
        # A gate has no word on a table with a single gold label: it decides whatever its rule asks for.
        if self.check != self.gate and "constant-gold" not in self.flags:
            yield f"check says {self.check}, gate says {self.gate} at {self.bar}: {self.ends}"
        if self.first_look is not None and self.first_look != self.gate:
            yield f"the first look says {self.first_look}, a gate at the full rate {self.gate}"
        if "constant-gold" in self.flags and self.check is not None:
            yield "check answers although there is one gold label only"


def write_table(random: np.random.Generator, path: Path) -> None:
    """Write a random table: up to 40 groups of up to 8 items, asked once or three times, right at random rates."""
    groups, largest = int(random.integers(1, 41)), int(random.choice([1, 1, 3, 8]))
    repeats, rate = int(random.choice([1, 1, 3])), random.choice([0.5, 0.8, 0.95, 1.0])
    correlation = random.choice([0.05, 0.3, 0.8])
    size = (1 - correlation) / correlation
    labels = ("YES", "YES") if random.random() < 0.1 else ("YES", "NO")
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "group", "human", "gpt"])
        for group in range(groups):
            right = random.beta(rate * size, (1 - rate) * size) if rate < 1 else 1.0
            for item in range(random.integers(1, largest + 1)):
                gold = labels[random.integers(2)]
                other = "NO" if gold == "YES" else "YES"
                for _ in range(repeats):
                    rows.writerow([f"{group}-{item}", group, gold, gold if random.random() < right else other])


def ask_all(path: Path, bar: float) -> Answers:
    """Ask the check, the gate and the comparison about a table; the report is what the check reads."""
    request = CheckRequest(
        path=path, judges=("gpt",), human="human", item="id", group="group", reruns=True, at_least=bar, scale="YES,NO"
    )
    checked = check_table(request)
    report = checked.report
    (answer,) = answers_of(checked)
    agreement = answer.agreement
    side = SideName(label="gpt", run="a", suite="a", judge="gpt", simulated=False)
    (point,) = curve(
        [(side, {case.id: case for case in read_cases(report.records, report)})], Terms(level=LEVEL, margin=None)
    )
    rule = parse_rule(f"{MEASURE} >= {bar!r}")
    limits = {
        # The first look has four fifths of the error rate; of this level that is all of the check's.
        "gate": LimitTable.of(1 - (1 - LEVEL) / Look().share, Look(), [1], lambda rates: _measured(checked, rates)),
        "first look": LimitTable.of(LEVEL, Look(), [1], lambda rates: _measured(checked, rates)),
    }
    found = {name: decide(rule, agreement, table.limits(agreement, 1), report.flags) for name, table in limits.items()}
    assert agreement.interval is not None
    assert point.low is not None
    assert point.high is not None
    ends = {"report": (agreement.interval.low, agreement.interval.high), "compare": (point.low, point.high)}
    if found["gate"].ends is not None:
        ends["gate"] = found["gate"].ends
    return Answers(
        bar=bar,
        check=answer.enough,
        gate=_ANSWERS[found["gate"].outcome],
        first_look=_ANSWERS[found["first look"].outcome],
        ends=ends,
        flags=agreement.flags,
    )


def _measured(checked: Checked, rates: list[float]) -> dict[float, tuple[Measure, ...]]:
    """Compute the measure as a gate does, with one-sided limits."""
    (metric,) = load_metrics((MEASURE,), plugins=("jrh-metrics",)).values()
    report = checked.report
    context = MetricContext(tasks={each.task.name: each.task for each in report.tasks}, one_sided=True)
    return {rate: tuple(metric.measure(report.records, evolve(context, level=1 - 2 * rate))) for rate in rates}


def answer_tables(tables: int, seed: int) -> Iterator[Answers]:
    """Yield what is said about so many random tables."""
    with tempfile.TemporaryDirectory() as folder:
        for place in range(tables):
            random = np.random.default_rng([seed, place])
            path = Path(folder) / f"{place}.csv"
            write_table(random, path)
            yield ask_all(path, float(random.choice([0.3, 0.6, 0.8, 0.9, 0.98])))
            path.unlink()


def main() -> None:
    """Print how many tables differ, and which answers there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    answers = list(answer_tables(asked.tables, asked.seed))
    mistakes = [mistake for each in answers for mistake in each.mistakes()]
    print(f"{len(answers):,} tables, {len(mistakes)} contradictions")
    print("check:", dict(Counter(str(each.check) for each in answers)))
    print("first look of the gate:", dict(Counter(str(each.first_look) for each in answers)))
    for mistake in mistakes[:20]:
        print(mistake)


if __name__ == "__main__":
    main()
