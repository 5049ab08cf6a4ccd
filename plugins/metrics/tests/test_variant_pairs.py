"""Named variants are compared with each other: the numbers are those counted by hand from the rows."""

import json
import sqlite3
from contextlib import closing

import pytest
from jrh import JrhError
from jrh_testing import ChatServer, Inside, loop_over

SAID = {"bullets": "YYNNYYNNYY", "heading": "YYNNYYNNNN", "rules": "YNNNYYNNY-"}
"""Variant -> the verdicts on ten items, all of them YES by gold; - is missing."""


@pytest.fixture
def table(measures, row):
    """Return a function: options -> measures by name, variant and the one it is compared with."""
    rows = [
        row(
            item,
            {"Y": "YES", "N": "NO", "-": None}[letter],
            test="paraphrase" if variant == "rules" else "format",
            variant=variant,
            gold="YES",
        )
        for variant, said in SAID.items()
        for item, letter in enumerate(said)
    ]
    return lambda **options: {
        (m.name, m.cell["variant"], m.cell["against"]): m for m in measures("variant-pairs", rows, options=options)
    }


def test_the_user_names_which_variant_is_compared_with_which(table):
    found = table(pairs=[["format[heading]", "paraphrase"], ["format[bullets]", "format[heading]"]])
    agreement = found["pair-agreement", "format[heading]", "paraphrase"]
    # Nine items have both verdicts; they differ in items 1 and 8.
    assert agreement.estimate == pytest.approx(7 / 9)
    assert agreement.interval.low < 7 / 9 < agreement.interval.high
    assert (agreement.n_trials, agreement.test) == (9, "format")
    assert found["pair-agreement", "format[bullets]", "format[heading]"].estimate == 0.8
    difference = found["pair-accuracy-difference", "format[bullets]", "format[heading]"]
    assert difference.estimate == pytest.approx(0.6 - 0.4)
    assert difference.interval.low < 0.2 < difference.interval.high
    assert len(found) == 4


def test_the_difference_in_accuracy_is_over_the_items_with_both_verdicts(table):
    found = table(pairs=[["format[bullets]", "paraphrase"]])[
        "pair-accuracy-difference", "format[bullets]", "paraphrase"
    ]
    # Of the nine complete items bullets are right on five, rules on four; 6 of 10 less 4 of 9 would be unpaired.
    assert found.estimate == pytest.approx(1 / 9)
    assert found.n_trials == 18
    assert found.missing == {"unparsable": 1, "no_pair": 1}


def test_by_default_the_variants_of_each_test_are_compared(table):
    assert set(table()) == {
        (name, "format[bullets]", "format[heading]") for name in ("pair-agreement", "pair-accuracy-difference")
    }


def test_a_test_and_a_variant_of_it_are_no_pair(table):
    with pytest.raises(JrhError, match="share trials"):
        table(pairs=[["format", "format[heading]"]])


def test_a_variant_that_nothing_was_asked_under_is_an_error_that_names_those_there_are(table):
    with pytest.raises(JrhError, match=r"no trial of 'format\[bulets\]'; give one of format, format\[bullets\]"):
        table(pairs=[["format[bulets]", "paraphrase"]])


def test_all_strengths_of_either_side_count(measures, row):
    said = {("format", 0.5): "YYNN", ("format", 1.0): "YNNN", ("typos", 0.1): "YYYN"}
    rows = [
        row(item, {"Y": "YES", "N": "NO"}[letter], test=test, variant="v", strength=strength)
        for (test, strength), letters in said.items()
        for item, letter in enumerate(letters)
    ]
    for pair in (["typos", "format"], ["format", "typos"]):
        found = {m.name: m for m in measures("variant-pairs", rows, options={"pairs": [pair]})}
        # At a strength of .5 three of four agree, at 1 two of four.
        assert (found["pair-agreement"].estimate, found["pair-agreement"].n_trials) == (5 / 8, 8)


def _suite(*pairs, **changes):
    return {
        "name": "pairs",
        "data": {"source": "examples", "dataset": "factual", "sample": {"n": 4}},
        "task": {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}},
        "tests": ["format", "typos"],
        "judges": [{"judge": "simulated", "name": "s"}],
        "metrics": {"add": [{"variant-pairs": {"pairs": pairs}}]},
    } | changes


@loop_over(
    ("pair", "said"),
    [
        (
            ["format[bulets]", "typos"],
            "makes no case of the variant 'bulets', which a metric names\nDid you mean 'bullets'?",
        ),
        (
            ["format[upside-down]", "typos"],
            "no case of the variant 'upside-down', which a metric names\nIt makes: bullets,",
        ),
        (["format", "tipos"], "there is no test 'tipos'"),
        (["format[heading]", "typos[mixed]"], ""),
        (["format", "reference"], ""),
    ],
)
def test_a_name_that_no_test_makes_is_found_by_the_plan_and_before_the_first_verdict(tmp_path, pair, said):
    project = Inside(tmp_path)
    project.write("suite.json", json.dumps(_suite(pair)))
    for words in (
        ("plan", "suite.json"),
        ("run", "suite.json", "--run-dir", "run", "--yes") if said else ("--version",),
    ):
        done = project.run(*words)
        assert done.exit_code == (2 if said else 0), done.output
        assert said in "\n".join(line.strip() for line in done.stderr.splitlines())
    if (store := tmp_path / "run" / "run.sqlite").exists():
        with closing(sqlite3.connect(store)) as connection:
            assert connection.execute("SELECT count(*) FROM records").fetchone() == (0,)


def test_a_variant_that_a_model_has_to_write_is_looked_for_before_a_judge_is_asked(tmp_path):
    asked = []

    def answer(body):
        asked.append(body["model"])
        return {"role": "assistant", "content": "YES"}

    project = Inside(tmp_path, env={"JRH_TEST_KEY": "k-12345678901234567890"})
    with ChatServer(answer) as server:
        model = {"provider": "openai-http", "base_url": server.url, "api_key_env": "JRH_TEST_KEY"}
        changes = {
            "models": {"writer": {**model, "model": "writes"}, "mini": {**model, "model": "judges"}},
            "tests": [{"paraphrase": {"model": "writer"}}, "typos"],
            "judges": [{"judge": "llm", "name": "mini", "model": "mini"}],
        }
        project.write("suite.json", json.dumps(_suite(["paraphrase[sung]", "typos"], **changes)))
        assert project.run("plan", "suite.json").exit_code == 0
        done = project.run("run", "suite.json", "--run-dir", "run", "--yes", "--no-preflight")
    assert (done.exit_code, set(asked)) == (2, {"writes"}), done.output
    assert "test 'paraphrase'" in done.stderr
