"""What a judge is called changes no digit of what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict
from jrh import Measure, Scale, ScaleKind, Task, open_report
from jrh_interchange import import_records, imported_record
from support.verdicts import YES_NO, Answer, right_with

GRADES = Task(name="grades", instruction="Grade it.", scale=Scale(kind=ScaleKind.ORDINAL, labels=("1", "2", "3", "4")))
ITEMS = 30
ANSWERS = (right_with(0.8, 1, missing=0.05), right_with(0.7, 2), right_with(0.6, 3), right_with(0.75, 4))
METRICS = [
    *("accuracy-equivalence", "as-expected", "compat-jrh", "compat-judgesense", "covariate-effect"),
    *("excess-equivalence", "generalizability", "gold-kappa", "judge-agreement", "judge-comparison", "self-kappa"),
    *("noise-excess", "ordinal-association", "ordinal-errors", "pairwise-agreement", "panel", "rerun-disagreement"),
]


def measured(run: Path, judges: Mapping[str, Answer]) -> list[Measure]:
    """Import the answers of judges, to two tasks and two tests asked twice, and return every default measure."""
    records = []
    for judge, answer in judges.items():
        for number in range(ITEMS):
            for test in ("reference", "format"):
                for repeat in range(2):
                    gold = "YES" if number % 2 == 0 else "NO"
                    said = answer(test, gold, number + repeat * ITEMS)
                    grade = str(1 + number % 4)
                    about: dict[str, Any] = {"item_id": f"item-{number:02}", "group": f"group-{number // 2:02}"}
                    about |= {"judge": judge, "test": test, "repeat": repeat}
                    about |= {"covariates": {"length": 100 + number * 7 % 31}}
                    level = None if said is None else grade if said == gold else str(1 + (number + 1) % 4)
                    records.append(imported_record(task=YES_NO, gold=gold, label=said, **about))
                    records.append(imported_record(task=GRADES, gold=grade, label=level, **about))
    import_records(run, "trial", [YES_NO, GRADES], records, resamples=200, metrics={"add": METRICS})
    with open_report(run, measure=True) as opened:
        return list(opened.measures)


def digits(measures: list[Measure], names: Mapping[str, str]) -> list[tuple[object, ...]]:
    """Return all numbers of measures under the old names of the judges."""
    return [
        (
            *(each.name, each.task, each.test, names.get(each.judge, each.judge)),
            *(
                (key, " & ".join(names.get(part, part) for part in value.split(" & ")))
                for key, value in each.cell.items()
            ),
            *(each.estimate, each.interval and asdict(each.interval), each.bounds, each.n_clusters, each.flags),
        )
        for each in measures
    ]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> list[Measure]:
    return measured(tmp_path_factory.mktemp("before") / "run", dict(zip("abcd", ANSWERS, strict=True)))


def test_a_judge_under_another_name_has_the_same_digits_in_every_measure(before: list[Measure], tmp_path: Path) -> None:
    called = {"a-new": "a", "brand": "b", "c2": "c", "deer": "d"}
    after = measured(tmp_path / "run", dict(zip(called, ANSWERS, strict=True)))
    assert digits(after, called) == digits(before, {})
    drawn = {each.name for each in before if each.interval and "bootstrap" in each.interval.method}
    assert len(drawn) >= 3, drawn


def test_judges_with_the_same_verdicts_have_the_same_digits(tmp_path: Path) -> None:
    measures = measured(tmp_path / "run", {"one": ANSWERS[0], "two": ANSWERS[0]})
    own = {judge: [each for each in measures if each.judge == judge and not each.cell] for judge in ("one", "two")}
    assert len(own["one"]) > 20
    assert digits(own["two"], {"two": "one"}) == digits(own["one"], {})
