"""`jrh rank` through the command: tables and runs, what cannot be ranked, published numbers, and how often it holds."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
from jrh_decide import ranking
from jrh_decide.ranking import Contests, bradley_terry, correct_by_labels, rank_systems
from jrh_stats import prediction_powered_mean
from jrh_testing import Inside, Project, loop_over
from support import schemas
from support.suites import simulated_suite, write_items, write_suite

from tests.studies.rank import EQUAL, World

pytestmark = pytest.mark.inside

ROOT = Path(__file__).resolve().parents[1]
DUEL = ("--system", "left", "--system", "right", "--judge", "gpt")
COLUMNS = ("question", "left", "right", "gpt", "ann")


def write_table(project: Project, rows: list[tuple[object, ...]], columns: tuple[str, ...] = COLUMNS) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([columns, *rows])
    project.write("table.csv", text.getvalue())


def duels(won: int, number: int, left: str = "a", right: str = "b", human: str = "") -> list[tuple[object, ...]]:
    """Return comparisons of which the left system wins the first ones."""
    return [(f"{left}{right}{at}", left, right, "A" if at < won else "B", human) for at in range(number)]


def ranks(project: Project, *words: str) -> Any:
    done = project.run("rank", "table.csv", *words, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def row(found: Any, system: str, judge: int = 0) -> Any:
    (one,) = [each for each in found["judges"][judge]["naive"]["systems"] if each["name"] == system]
    return one


def test_the_first_line_counts_and_json_has_the_same_numbers(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [*duels(40, 50, human="B"), *duels(25, 50, "b", "c", human="A"), *duels(42, 50, "a", "c", human="A")]
    write_table(project, [*rows, ("t", "a", "b", "tie", ""), ("u", "a", "b", "garbage", "B"), ("v", "a", "a", "A", "")])
    words = (*DUEL, "--human", "ann", "--group", "question", "--missing", "garbage")
    text = project.run("rank", "table.csv", *words)
    assert text.exit_code == 0, text.output
    assert text.output.splitlines()[0] == (
        "'a' is first under judge gpt: rank 1 [1, 1] of 3; it won 82 of 101 comparisons (1 tie). Corrected by 151 "
        "labels: 'b'. People put 'b' first."
    )
    found = ranks(project, *words)
    schemas.validate(found, "ranks")
    assert found["sentences"] == text.output.splitlines()[:1]
    first = row(found, "a")
    assert (first["total"], first["ties"], first["verdicts"], first["missing"]) == (82, 1, 101, 1)
    assert (row(found, "b")["low"], row(found, "c")["high"]) == (2, 3)
    assert first["first_share"] > 0.99
    # Two of the three systems are equal among themselves, and people are unanimous.
    assert {tuple(pair) for pair in found["judges"][0]["naive"]["shown"]} == {("a", "b"), ("a", "c")}
    assert [each["name"] for each in found["people"]["systems"]] == ["b", "a", "c"]
    assert "1 row without a system, or of one system twice" in text.output
    assert "gpt rests on 151 of 152 verdicts in 151 clusters, 151 with" in text.output
    assert text.output.splitlines()[-1].startswith("Next: jrh check table.csv ")


@pytest.mark.parametrize(
    ("name", "place", "title"),
    [
        ("ranks", "rank:Ranks", "The ranking of systems: `jrh rank --format json`"),
        ("advice", "advise:Advised", "What to spend next: `jrh advise --format json`"),
        ("automation", "automate:Automation", "What a judge may decide alone: `jrh automate --format json`"),
        ("cascade", "cascade:Cascade", "What a cascade may decide: `jrh automate --cascade --format json`"),
        ("swap", "swap:Swap", "Whether a judge may be replaced: `jrh swap --format json`"),
    ],
)
def test_the_shipped_schema_is_what_the_classes_give(name: str, place: str, title: str) -> None:
    from jrh_authoring.suite_schema import DRAFT, TypeSchemas

    schemas, kind = TypeSchemas(written=False), resolve_name(f"jrh_decide.{place}")
    schemas.of(kind)
    root = schemas.definitions.pop(f"jrh_decide.{kind.__name__}")
    if name != "ranks":  # the others begin with the answer in one sentence
        root["properties"] = {"sentence": {"type": "string"}, **root["properties"]}
        root["required"] = ["sentence", *root["required"]]
    document = {"$schema": DRAFT, "title": title, **root, "$defs": dict(sorted(schemas.definitions.items()))}
    shipped = ROOT / "schemas" / f"{name}.schema.json"
    expected = json.dumps(document, indent=2) + "\n"
    assert shipped.read_text() == expected, f"write the expected text into schemas/{name}.schema.json"


def test_bradley_terry_gives_the_published_strengths() -> None:
    # Baseball, American League East, 1987: wins of the row's team over the column's. Table: Agresti (2002), Categorical
    # Data Analysis, 2nd edition, 10.6; strengths: `baseball` of the R package BradleyTerry2, without the home field.
    teams = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
    wins = np.array([
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ], dtype=np.float64)  # fmt: skip
    published = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0)
    strength = bradley_terry(wins)
    assert strength - strength[-1] == pytest.approx(published, abs=3e-4)
    pairs = [(i, j) for i in range(7) for j in range(7) for _ in range(int(wins[i, j]))]
    first, second = np.array(pairs).T
    ranked = rank_systems(contests(first, second, np.ones(len(pairs)), teams), level=0.95, resamples=500, seed=1)
    assert [system.name for system in ranked.systems] == list(teams)
    # Milwaukee won 50 of 78 and Boston 40, which is far from significant; Baltimore won 18.
    assert [system.low for system in ranked.systems[:5]] == [1] * 5
    assert ("Milwaukee", "Baltimore") in ranked.shown


def contests(first: Any, second: Any, value: Any, systems: tuple[str, ...], **changes: Any) -> Contests:
    number = len(value)
    return Contests(**{
        "systems": systems, "first": np.array(first), "second": np.array(second), "cluster": np.arange(number),
        "value": np.array(value, dtype=np.float64), "people": np.full(number, np.nan), "item": np.arange(number),
        "test": np.full(number, ""), "compared": True, **changes,
    })  # fmt: skip


def test_scores_corrected_by_labels_are_the_prediction_powered_means() -> None:
    draw = np.random.default_rng(3)
    system, people = np.repeat([0, 1], 200), draw.normal(size=400)
    value = people * 0.5 + draw.normal(size=400) + system
    labelled = np.tile(np.arange(200) < 50, 2)
    scores = contests(system, system, value, ("a", "b"), people=np.where(labelled, people, np.nan), compared=False)
    for at in (0, 1):
        own = system == at
        alone = contests(
            system[own] * 0, system[own] * 0, value[own], ("a",), people=scores.people[own], compared=False
        )
        corrected = correct_by_labels(alone)
        assert corrected is not None
        published = prediction_powered_mean(people[own & labelled], value[own & labelled], value[own & ~labelled])
        assert corrected.value.mean() == pytest.approx(published.value)
    # The judge says that b is better by 1, people that there is hardly a difference.
    both = correct_by_labels(scores)
    assert both is not None
    naive, corrected_ranks = (rank_systems(each, level=0.95, resamples=500, seed=1) for each in (scores, both))
    assert (naive.shown, corrected_ranks.shown) == ((("b", "a"),), ())
    few = contests(system, system, value, ("a", "b"), people=np.where(system == 0, people, np.nan), compared=False)
    assert correct_by_labels(few) is None


def test_too_few_labels_correct_nothing_and_the_answer_says_so(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, [*duels(3, 6), *duels(5, 6, "b", "c"), *duels(4, 6, "a", "c"), ("z", "a", "b", "A", "A")])
    text = project.run("rank", "table.csv", *DUEL, "--human", "ann").output
    assert "gpt is not corrected: two systems that met (of scores: one) have fewer than two labels." in text
    assert "People put" not in text
    write_table(
        project, [*duels(9, 12), *duels(1, 2, human="B"), ("y", "b", "a", "A", "A"), ("z", "a", "b", "tie", "A")]
    )
    text = project.run("rank", "table.csv", *DUEL, "--human", "ann").output
    assert "Corrected by 4 labels: 'b'. People put 'b' first, not significantly." in text.splitlines()[0]


def test_a_missing_verdict_takes_the_mean_of_its_systems_where_labels_correct() -> None:
    # The judge is silent on whatever people call bad: the naive mean is 1, and the truth 0.5.
    good = np.arange(100) % 2.0
    labelled = np.arange(100) < 40
    value, people = np.where(good == 1, 1.0, np.nan), np.where(labelled, good, np.nan)
    corrected = correct_by_labels(contests(np.zeros(100, int), np.zeros(100, int), value, ("a",), people=people))
    assert corrected is not None
    assert corrected.value.mean() == pytest.approx(0.5)


def test_equal_systems_share_a_rank_and_nothing_is_excluded(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    write_table(project, [(at, *pairs[at % 3], "tie", "") for at in range(60)])
    found = ranks(project, *DUEL)
    assert found["sentences"] == ["'a', 'b' and 'c' share rank 1 of 3 under judge gpt."]
    for system in "abc":
        assert (row(found, system)["low"], row(found, system)["high"]) == (1, 3)
        assert row(found, system)["first_share"] == pytest.approx(1 / 3)


def test_a_system_that_loses_all_is_last_and_one_with_a_single_row_is_anywhere(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, [*duels(15, 30), *duels(30, 30, "a", "c"), *duels(30, 30, "b", "c"), *duels(1, 1, "d", "c")])
    found = ranks(project, *DUEL)
    assert (row(found, "c")["low"], row(found, "c")["high"]) == (3, 4)
    assert row(found, "c")["score"] < 0.01
    assert (row(found, "d")["low"], row(found, "d")["high"]) == (1, 4)


def test_copies_are_one_observation_and_so_are_rows_of_a_group(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    once = duels(5, 5)
    write_table(project, once * 8)
    copied = ranks(project, *DUEL)
    assert copied["judges"][0]["naive"]["clusters"] == 5
    assert copied["judges"][0]["naive"]["shown"] == []
    write_table(project, [(f"{each[0]}-{at}", *each[1:]) for at in range(8) for each in once])
    assert ranks(project, *DUEL)["judges"][0]["naive"]["shown"] == [["a", "b"]]
    write_table(project, [(each[0], *each[1:4], at) for at in range(8) for each in once])
    assert ranks(project, *DUEL, "--group", "question")["judges"][0]["naive"]["shown"] == []
    # Rows without a group share nothing.
    write_table(
        project,
        [(each[0] if at else "", *each[1:4], f"{at}{place}") for at in range(8) for place, each in enumerate(once)],
    )
    assert ranks(project, *DUEL, "--group", "question")["judges"][0]["naive"]["clusters"] == 5 + len(once)


def test_a_verdict_names_the_side_or_the_system(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    # A side wins over a system whose name differs in case only.
    for names, verdicts in (
        (("b", "c"), ("A", "B")),
        (("beta", "c"), ("beta", "beta")),
        (("beta", "c"), ("Left", "2")),
    ):
        rows = [(at, *names, verdicts[0], "") if at % 2 else (at, *names[::-1], verdicts[1], "") for at in range(12)]
        write_table(project, rows)
        found = ranks(project, *DUEL)
        assert (row(found, names[0])["total"], row(found, "c")["total"]) == (12, 0)


def test_levels_and_labels_are_scores(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [(at, "ab"[at % 2], "", 4 + at % 2, "YES" if at % 4 else "NO") for at in range(40)]
    write_table(project, rows)
    levels = ranks(project, "--system", "left", "--judge", "gpt")
    assert levels["sentences"] == ["'b' is first under judge gpt: rank 1 [1, 1] of 2; it has mean 5.00 in 20 verdicts."]
    labels = ranks(project, "--system", "left", "--judge", "ann", "--positive", "yes", "--seed", "2")
    assert labels["sentences"][0].endswith("rank 1 [1, 1] of 2; it got 'yes' in 20 of 20 verdicts.")
    assert (row(labels, "a")["total"], row(labels, "a")["score"]) == (10, 0.5)
    assert labels["notes"][0] == "Labels that score 0: 'NO'; --missing names those that mean no verdict."


@loop_over(
    "rows, words, said",
    [
        (duels(3, 6), ("--system", "left"), "scores are numbers, or name the label that scores 1 with --positive"),
        ([("q", "a", "a", "A", "")] * 3, DUEL[:4], "no row names its systems"),
        ([*duels(3, 6), *duels(3, 6, "c", "d")], DUEL[:4], "no comparison links 'a', 'b' to 'c', 'd'; rank each group"),
        ([*duels(3, 6), ("q", "a", "c", "", "")], DUEL[:4], "no verdict about 'c'; leave these rows out"),
        ([("q", "a", "b", "n/a", "")], DUEL[:4], "judge 'gpt': no verdict at all; look at the column"),
        (duels(3, 6), (*DUEL[:4], "--positive", "A"), "--positive is a label of one system"),
        (duels(3, 6), ("--system", "left", "--positive", "a1"), "no label is 'a1' (--positive); labels: 'A', 'B'"),
        (duels(3, 6), ("--system", "lift"), "there is no column 'lift' (--system); did you mean 'left'?"),
        (duels(3, 6), (*DUEL[:4], "--human", "gpt"), "column 'gpt' is named twice; name different columns"),
        (duels(3, 6), (), "name its columns: --judge COLUMN, and --system COLUMN, twice where verdicts compare"),
        ([("q", "a", "b", at % 2, "") for at in range(9)], DUEL[:4], "does 0 mean a tie, or that the second"),
        ([("q", "B", "A", "B", "")], DUEL[:4], "'B' names a system, and the other side of the comparison; rename it"),
        ([*duels(3, 6), ("q", "a", "b", "perhaps", "")], DUEL[:4], "column 'gpt', 1 row: 'perhaps'. Write A, B, tie"),
        ([(at, "a", "", at, "") for at in range(9)], ("--system", "left"), "1 system ('a'); a ranking takes 2 to 50"),
        ([(at, f"s{at}", "", at, "") for at in range(60)], ("--system", "left"), "60 systems ('s0', 's1', "),
    ],
)
def test_what_cannot_be_ranked_is_one_message(tmp_path: Any, rows: Any, words: Any, said: str) -> None:
    project = Inside(tmp_path)
    write_table(project, rows)
    refused = project.run("rank", "table.csv", *words, "--judge", "gpt")
    assert refused.exit_code == 2
    assert said in refused.output
    assert "'nowhere.csv' does not exist" in project.run("rank", "nowhere.csv", *DUEL, "--group", "question").output


def test_names_of_systems_are_shown_as_text(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    evil, other = "[red]<b>x\u202e\x1b[2J", "=cmd|\u2028new line"
    write_table(project, duels(18, 20, evil, other))
    text = project.run("rank", "table.csv", *DUEL).output
    assert "'[red]<b>x' is first under judge gpt: rank 1 [1, 1] of 2; it won 18 of 20 comparisons." in text
    assert "=cmd| new line" in text
    assert not {"\x1b", "\u202e", "\u2028"} & set(text)


def test_a_run_ranks_its_systems_and_lists_orders_that_tests_turn_round(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_run(project)
    found = project.run("rank", "run", "--format", "json")
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)
    assert [judge["judge"] for judge in answer["judges"]] == ["steady", "first"]
    assert answer["simulated"] == ["first", "steady"]
    assert answer["judges"][0]["verdicts"] == 80
    # People prefer a, a judge that agrees with them does so in every order.
    assert row(answer, "a")["low"] == row(answer, "a")["high"] == 1
    assert answer["people"]["shown"] == [["a", "b"]]
    # A judge that always takes the option it sees first ranks by position: swapped, the order turns round.
    flips = [(flip["judge"], flip["first"], flip["second"], flip["people"]) for flip in answer["flips"]]
    assert flips == [("first", "b", "a", "second")]
    assert answer["orders"] == 2
    text = project.run("rank", "run", "--judge", "first").output
    assert "Tests turn round 1 of 1 order of two systems, 0 of them against people's." in text
    assert "- first, option-order: 'a' passes 'b'; people put 'a' ahead: no error." in text
    assert text.splitlines()[-1] == "Next: jrh view run"
    for words, said in (
        (
            ("--system", "topic"),
            "declare `covariates: [topic]` under `data`, from columns topic_a and topic_b; or pass",
        ),
        (("--judge", "none"), "the run has no judge 'none'; its judges: 'steady', 'first'"),
        (("--task", "none"), "pass --task, one of "),
        (("--human", "ann"), "belong to a table, not to a run"),
    ):
        refused = project.run("rank", "run", *words)
        assert refused.exit_code == 2
        assert said in refused.output


def write_run(project: Project) -> None:
    """Run two judges on comparisons of two systems, of which people prefer a in 30 of 40; b is mostly shown first."""
    draw = random.Random(1)
    items = []
    for at in range(40):
        left, right = ("b", "a") if at % 8 else ("a", "b")
        better = "a" if at % 4 else "b"
        items.append({
            "id": str(at), "request": f"Question {at}?", "response_a": f"By {left}: {draw.random()}", "system_a": left,
            "response_b": f"By {right}: {draw.random()}", "system_b": right, "label": "A" if left == better else "B",
        })  # fmt: skip
    project.write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
    judges = [
        {"name": "steady", "judge": "simulated", "accuracy": 1.0},
        {"name": "first", "judge": "simulated", "accuracy": 0.5, "position_preference": 1.0},
    ]
    suite = simulated_suite(
        data={"source": "jsonl", "path": "items.jsonl", "covariates": ["system"]},
        task={"instruction": "Which is better?", "scale": {"pairwise": True}},
        tests=["option-order"], judges=judges, reports=["json"], reference={"repeats": 2},
    )  # fmt: skip
    write_suite(project, suite)
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code in (0, 1), done.output


def test_rank_intervals_hold_in_worlds_with_clusters_ties_and_missing_verdicts() -> None:
    # 5% of the studies may fail on average; of 100, more than 12 do in 1 of 700 tries. The worst case: all are equal.
    world = World(name="", strength=EQUAL, clusters=50, shared=4, ties=0.2, missing=0.15)
    random_numbers = np.random.default_rng(5)
    held = [world.holds(world.study(random_numbers, study)) for study in range(100)]
    assert sum(held) >= 88


def counted(function: Callable[..., Any], calls: list[str]) -> Callable[..., Any]:
    def call(*args: Any, **words: Any) -> Any:
        calls.append(function.__name__)
        return function(*args, **words)

    return call


def test_what_a_ranking_costs_does_not_grow_with_the_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    number = 100_000
    first = draw.integers(0, 5, number)
    second = (first + draw.integers(1, 5, number)) % 5
    table = contests(first, second, draw.integers(0, 2, number), tuple("abcde"))
    counts = {}
    for resamples in (10, 100):
        calls: list[str] = []
        with monkeypatch.context() as patch:
            for owner, name in ((np, "bincount"), (np, "unique"), (ranking, "bradley_terry")):
                patch.setattr(owner, name, counted(getattr(owner, name), calls))
            rank_systems(table, level=0.95, resamples=resamples, seed=1)
        counts[resamples] = (len(calls), calls.count("bradley_terry"))
    # Passes over the rows: one for each of the ten pairs, and a few more; resamples are one product of matrices.
    assert counts[10] == counts[100]
    assert counts[10][0] < 25
    assert counts[10][1] == 2


def test_a_run_without_systems_is_refused_and_nothing_is_offered_that_it_lacks(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    write_items(project, 6)
    write_suite(project, simulated_suite(tests=[], reports=["json"], metrics=["missing"]))
    assert project.run("run", "suite.yaml", "--run-dir", "run", "--yes").exit_code in (0, 3)
    refused = project.run("rank", "run")
    assert refused.exit_code == 2
    assert refused.output.rstrip().endswith("no item names its system: declare `covariates: [system]` under `data`")
