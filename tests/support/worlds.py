"""Worlds with a planted behaviour of a judge: logs or suites, and the numbers that any output has to find in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

from attrs import field, frozen

from support.suites import simulated_suite

Row = dict[str, object]
Truths = dict[tuple[str, str, str], Fraction | float]
"""(measure, judge, test) -> what was planted."""


@frozen(kw_only=True)
class World:
    """A log or a suite, and what has to be found in it."""

    task: dict[str, Any]
    rows: tuple[Row, ...] = ()
    suite: dict[str, Any] | None = None
    truths: Truths
    told: tuple[str, ...] = ()
    """Kinds of findings that say what was planted."""
    files: Mapping[str, str] = field(factory=dict)
    """What a suite or an import reads beside its own file: name -> text."""
    importer: tuple[str, ...] = ()
    """The file of another tool, and the arguments of `jrh import` that read it."""
    judge: str = "judge"
    """The judge that `jrh compare` shows."""
    items: int = 0
    """Items, where no row says how many."""
    clusters: int | None = None
    """Clusters behind the items, where there are fewer."""


def _pairs(answer: Callable[[str, int], str]) -> Iterator[Row]:
    """Ask a judge about ten pairs in both orders, twice; the log has no variant, and spells the orders its own way."""
    for number in range(10):
        better = "AB"[number % 2]
        for order in ("ab", "ba"):
            shown = better if order == "ab" else {"A": "B", "B": "A"}[better]
            for repeat in range(2):
                yield {
                    "item": f"pair-{number}",
                    "test": "reference" if order == "ab" else "swapped",
                    "option_order": order,
                    "repeat": repeat,
                    "gold": better,
                    "label": answer(shown, number),
                }


def _questions(copies: int, wrong: int) -> Iterator[Row]:
    """Ask six questions, each entered several times, and err on some of the questions wherever they stand."""
    for number in range(6):
        gold = ("YES", "NO")[number % 2]
        for copy in range(copies):
            label = gold if number >= wrong else {"YES": "NO", "NO": "YES"}[gold]
            yield {
                "item": f"q{number}-{copy}",
                "group": f"q{number}",
                "test": "reference",
                "repeat": 0,
                "gold": gold,
                "label": label,
            }


def _essays() -> Iterator[Row]:
    """Grade twenty essays, all rightly, and again after a change of layout."""
    for number in range(20):
        level = str(1 + number % 5)
        for test in ("reference", "format"):
            yield {"item": f"e{number}", "test": test, "repeat": 0, "gold": level, "label": level}


def _silences() -> Iterator[Row]:
    """Ask thirty questions twice and once more in other words; every third answer there is missing."""
    for number in range(30):
        gold = ("YES", "NO")[number % 2]
        for repeat in range(2):
            yield {"item": f"i{number}", "test": "reference", "repeat": repeat, "gold": gold, "label": gold}
        label = "" if number % 3 == 0 else {"YES": "NO", "NO": "YES"}[gold] if number % 5 == 0 else gold
        yield {"item": f"i{number}", "test": "paraphrase", "repeat": 0, "gold": gold, "label": label}


def _thirds() -> Iterator[Row]:
    """Ask a judge that takes the first of three options about twelve items, every option once in every place."""
    for number in range(12):
        for order in ("ABC", "BCA", "CAB"):
            test = "reference" if order == "ABC" else "swapped"
            row: Row = {"item": f"i{number}", "test": test, "option_order": order, "repeat": 0}
            yield row | {"gold": "ABC"[number % 3], "label": "A"}


def _inverted() -> Iterator[Row]:
    """Ask whether forty texts are right, and whether they are wrong; the judge says the same to both."""
    for number in range(40):
        gold = ("YES", "NO")[number % 2]
        turned = {"YES": "NO", "NO": "YES"}[gold]
        yield {"item": f"i{number}", "test": "reference", "polarity": "positive", "gold": gold, "label": gold}
        yield {"item": f"i{number}", "test": "polarity", "polarity": "inverted", "gold": gold, "label": turned}


def _unsteady() -> Iterator[Row]:
    """Ask forty-two questions twice; on every third the second answer is another and wrong."""
    for number in range(42):
        gold = ("YES", "NO")[number % 2]
        for repeat in range(2):
            label = {"YES": "NO", "NO": "YES"}[gold] if repeat and number % 3 == 0 else gold
            yield {"item": f"i{number}", "test": "reference", "repeat": repeat, "gold": gold, "label": label}


def _compressed() -> Iterator[Row]:
    """Grade sixty essays of levels 1 to 5 with 2, 3 or 4."""
    for number in range(60):
        gold = 1 + number % 5
        label = {1: 2, 2: 3, 3: 3, 4: 3, 5: 4}[gold]
        yield {"item": f"e{number}", "test": "reference", "repeat": 0, "gold": str(gold), "label": str(label)}


def _sure() -> Iterator[Row]:
    """Answer eighty questions with a stated probability of 0.95, three of four rightly."""
    for number in range(80):
        gold = ("YES", "NO")[number % 2]
        label = gold if number % 4 else {"YES": "NO", "NO": "YES"}[gold]
        row: Row = {"item": f"i{number}", "test": "reference", "repeat": 0, "gold": gold, "label": label}
        yield row | {"probability": 0.95}


def _torn() -> Iterator[Row]:
    """Answer sixty questions with YES; on every fourth the rationale argues for NO."""
    for number in range(60):
        why = "It is false, so the answer is NO." if number % 4 == 0 else "It holds, so the answer is YES."
        row: Row = {"item": f"i{number}", "test": "reference", "repeat": 0, "gold": "YES", "label": "YES"}
        yield row | {"rationale": why}


def _rare() -> Iterator[Row]:
    """Answer sixty questions, forty of them YES: miss four of these, and call six of the others YES."""
    said = ["YES"] * 36 + ["NO"] * 4 + ["NO"] * 14 + ["YES"] * 6
    for number, label in enumerate(said):
        gold = "YES" if number < 40 else "NO"
        yield {"item": f"i{number}", "test": "reference", "repeat": 0, "gold": gold, "label": label}


def _graded() -> str:
    """Write twelve responses with a label for each of three criteria."""
    rows = ["id,response,label.hello,label.price,label.rude"]
    for number in range(12):
        words = [word for word, every in (("hello", 3), ("dollars", 2), ("away", 4)) if number % every == 0]
        labels = ("met" if number % every == 0 else "unmet" for every in (3, 2, 4))
        rows.append(f"{number},Text {number} says {' '.join(words)}.,{','.join(labels)}")
    return "\n".join(rows) + "\n"


def _exported() -> str:
    """Write sixty test cases as DeepEval does: people pass forty, the metric fails six of these, passes four others."""
    cases = []
    for number in range(60):
        right = number < 40
        said = right != (number < 6 or number >= 56)
        metric = {"name": "kind", "threshold": 0.5, "success": said, "score": float(said), "evaluationModel": "grader"}
        about = {"name": f"c{number}", "input": f"Ask {number}.", "actualOutput": f"Answer {number}."}
        people = {"human": "pass" if right else "fail"}
        cases.append({**about, "success": said, "metricsData": [metric], "metadata": people})
    return json.dumps({"testCases": cases})


RUBRIC = """\
- {id: hello, instructions: The text says hello., weight: 2}
- {id: price, instructions: The text names a price.}
- {id: rude, instructions: The text is rude., weight: -1}
"""
GRADER = """\
async def grade(question):
    # Never finds a text rude: wrong about three of twelve.
    fields = question["fields"]
    word = {"hello": "hello", "price": "dollars", "rude": "nothing"}[fields["criterion"]["id"]]
    return "met" if word in fields["response"] else "unmet"
"""


PAIRWISE = {"scale": {"pairwise": True}}
YES_NO = {"scale": {"labels": ["YES", "NO"]}}
WORLDS = {
    "always the first option": World(
        task=PAIRWISE,
        rows=tuple(_pairs(lambda _shown, _number: "A")),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 2),
            ("gold-accuracy", "judge", "swapped"): Fraction(1, 2),
            ("rerun-disagreement", "judge", "reference"): 0,
            ("flip-rate", "judge", "swapped"): 1,
            ("excess-disagreement", "judge", "swapped"): 1,
            ("agreement", "judge", "swapped"): 0,
            ("swap-consistency", "judge", "swapped"): 0,
            ("position-bias", "judge", "swapped"): 1,
        },
        told=("position-bias", "moves-more-than-reruns"),
    ),
    "always right, in both orders": World(
        task=PAIRWISE,
        rows=tuple(_pairs(lambda shown, _number: shown)),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("gold-accuracy", "judge", "swapped"): 1,
            ("rerun-disagreement", "judge", "reference"): 0,
            ("flip-rate", "judge", "swapped"): 0,
            ("excess-disagreement", "judge", "swapped"): 0,
            ("swap-consistency", "judge", "swapped"): 1,
            ("position-bias", "judge", "swapped"): 0,
        },
    ),
    "six questions behind sixty rows": World(
        task=YES_NO,
        rows=tuple(_questions(10, wrong=1)),
        truths={("gold-accuracy", "judge", "reference"): Fraction(5, 6)},
        clusters=6,
        told=("few-clusters",),
    ),
    "always the first of three options": World(
        task={"scale": {"pairwise": {"options": 3}}},
        rows=tuple(_thirds()),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 3),
            ("flip-rate", "judge", "swapped"): 1,
            ("swap-consistency", "judge", "swapped"): 0,
            ("right-in-both-orders", "judge", "swapped"): 0,
            ("first-position-rate", "judge", "swapped"): 1,
            ("third-position-rate", "judge", "swapped"): 0,
            ("position-bias", "judge", "swapped"): 1,
        },
        told=("position-bias",),
    ),
    "the inversion of the question overlooked": World(
        task=YES_NO,
        rows=tuple(_inverted()),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("gold-accuracy", "judge", "polarity"): 0,
            ("flip-rate", "judge", "polarity"): 1,
            ("accuracy-change", "judge", "polarity"): -1,
        },
        told=("polarity-blindness",),
    ),
    "other answers on every third rerun": World(
        task=YES_NO,
        rows=tuple(_unsteady()),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(5, 6),
            ("rerun-disagreement", "judge", "reference"): Fraction(1, 3),
        },
        told=("unstable-on-reruns",),
    ),
    "a scale of five used from two to four": World(
        task={"scale": {"ordinal": [1, 5]}},
        rows=tuple(_compressed()),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 5),
            ("mean-absolute-error", "judge", "reference"): Fraction(4, 5),
            ("bias", "judge", "reference"): 0,
            # Variance 2/5 of the levels given, 2 of the right ones.
            ("scale-compression", "judge", "reference"): sqrt(1 / 5),
        },
        told=("compression",),
    ),
    "surer than right": World(
        task=YES_NO,
        rows=tuple(_sure()),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(3, 4),
            ("overconfidence", "judge", "reference"): Fraction(1, 5),
        },
        told=("miscalibration",),
    ),
    "rationales that argue against the verdict": World(
        task=YES_NO,
        rows=tuple(_torn()),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("rationale-contradiction", "judge", "reference"): Fraction(1, 4),
        },
        told=("rationale-contradiction",),
    ),
    "errors of both kinds": World(
        task={"scale": {"labels": ["YES", "NO"], "positive": "NO"}},
        rows=tuple(_rare()),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(5, 6),
            ("false-positive-rate", "judge", "reference"): Fraction(4, 40),
            ("false-negative-rate", "judge", "reference"): Fraction(6, 20),
            # By chance 42 x 40 + 18 x 20 of 3,600 agree: 17/30.
            ("gold-kappa", "judge", "reference"): Fraction(25 - 17, 30 - 17),
        },
    ),
    "twenty essays graded rightly": World(
        task={"scale": {"ordinal": [1, 5]}},
        rows=tuple(_essays()),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("mean-absolute-error", "judge", "reference"): 0,
            ("bias", "judge", "reference"): 0,
            ("flip-rate", "judge", "format"): 0,
        },
    ),
    "answers that are missing": World(
        task=YES_NO,
        rows=tuple(_silences()),
        truths={
            # Of thirty items ten are missing; of the other twenty those divisible by five are wrong: 5, 10, 20, 25.
            ("gold-accuracy", "judge", "paraphrase"): Fraction(4, 5),
            ("flip-rate", "judge", "paraphrase"): Fraction(1, 5),
            ("missing", "judge", "paraphrase"): Fraction(1, 3),
            ("gold-accuracy", "judge", "reference"): 1,
        },
    ),
    "a run of an always-first judge": World(
        task={},
        suite={
            "name": "log",
            "data": {"source": "jsonl", "path": "pairs.jsonl"},
            "task": {"instruction": "Which is better?", **PAIRWISE},
            "tests": ["option-order", {"format": {"variants": ["spaces"]}}],
            "judges": [{"judge": "simulated", "name": "judge", "position_preference": 1.0}],
            "seed": 3,
            "resamples": 200,
        },
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 2),
            ("flip-rate", "judge", "option-order"): 1,
            ("agreement", "judge", "option-order"): 0,
            ("excess-disagreement", "judge", "option-order"): 1,
            ("swap-consistency", "judge", "option-order"): 0,
            ("position-bias", "judge", "option-order"): 1,
            ("flip-rate", "judge", "format"): 0,
        },
    ),
    "a run of a judge that misses what changed": World(
        task={},
        suite=simulated_suite(
            name="log",
            tests=[{"format": {"variants": ["spaces"]}}, {"label-flip": {"variants": ["negation"]}}],
            judges=[{"name": "judge", "judge": "simulated", "meaning_blindness": 1.0}],
            reports=["terminal", "markdown", "json", "html", "csv"],
            reference={"repeats": 2},
        ),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("gold-accuracy", "judge", "format"): 1,
            ("as-expected", "judge", "format"): 1,
            ("as-expected", "judge", "label-flip"): 0,
            ("flip-rate", "judge", "label-flip"): 0,
        },
    ),
    "a run of a judge that overlooks one criterion of three": World(
        task={},
        suite={
            "name": "log",
            "data": {"source": "csv", "path": "graded.csv"},
            "task": {"mode": "criteria", "criteria": {"file": "rubric.yaml"}},
            "tests": [{"format": {"variants": ["spaces"]}}],
            "judges": [{"judge": "function", "name": "judge", "function": "grader.py:grade"}],
            "reference": {"repeats": 2},
            "seed": 3,
            "resamples": 200,
        },
        files={"graded.csv": _graded(), "rubric.yaml": RUBRIC, "grader.py": GRADER},
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(33, 36),
            ("gold-accuracy", "judge", "format"): Fraction(33, 36),
            ("flip-rate", "judge", "format"): 0,
            ("rerun-disagreement", "judge", "reference"): 0,
        },
        items=36,
        clusters=12,
    ),
    "the export of another tool": World(
        task=YES_NO,
        importer=("deepeval.json", "--from", "deepeval", "--metric", "kind", "--gold", "metadata.human"),
        files={"deepeval.json": _exported()},
        judge="grader",
        truths={
            ("gold-accuracy", "grader", "reference"): Fraction(5, 6),
            ("false-positive-rate", "grader", "reference"): Fraction(4, 20),
            ("false-negative-rate", "grader", "reference"): Fraction(6, 40),
            ("missing", "grader", "reference"): 0,
            # By chance 38 x 40 + 22 x 20 of 3,600 agree: 49/90.
            ("gold-kappa", "grader", "reference"): Fraction(75 - 49, 90 - 49),
        },
    ),
}
