"""JSS of a decision log is that of the pairs its rows list; what is off the scale never passes unseen."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from jrh_testing import prompt_pair_row

REAL = Path(__file__).parents[4] / "shared" / "data" / "judgesense"
PROMPTS = ("Right?\n{}", "True?\n{}", "{}\nCorrect?", "{}\nIs it so?")


def row(text, one, other, a, b, **more):
    shown = {"prompt_a": PROMPTS[one].format(text), "prompt_b": PROMPTS[other].format(text)}
    gold = "NO" if text.endswith("2") else "YES"
    return {
        **prompt_pair_row(text=text, ground_truth_label=gold, pair_id=text),
        **shown,
        "decision_a": a,
        "decision_b": b,
    } | more


def write(project, rows, name="log.jsonl"):
    (project.path / name).write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")


def imported(project, *options):
    done = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *options)
    assert done.exit_code == 0, done.output
    reported = project.run("report", "run", "--format", "json")
    assert reported.exit_code == 0, reported.output
    return json.loads(project.read("run/report.json"))["measures"]


def estimates(measures, **cell):
    return {each["name"]: each["estimate"] for each in measures if each["cell"] == cell}


# Five rows; three agree. Of all pairs of an item there are twelve, and ten verdicts.
ROWS = (
    row("text 1", 0, 1, "YES", "YES"),
    row("text 1", 2, 3, "YES", "NO"),
    row("text 2", 0, 1, "NO", "NO"),
    row("text 2", 2, 3, "YES", "YES"),
    row("text 3", 0, 3, "YES", "NO"),
)


def test_of_several_runs_the_first_that_succeeded_counts_on_request(project):
    """Two pairs in three runs each: all runs, or of each pair the first with two verdicts."""
    runs = [("YES", "YES"), ("YES", "NO"), ("YES", "NO")], [("NO", "unclear"), ("NO", "NO"), ("NO", "YES")]
    rows = [row(f"text {n}", 0, 1, *said) for n, own in enumerate(runs, start=1) for said in own]
    write(project, rows)
    every = estimates(imported(project, "--option", "off_scale=true"))
    first = estimates(imported(project, "--option", "off_scale=true", "--option", "runs=first-success"))

    assert every["compat-judgesense-jss"] == pytest.approx(2 / 5)
    assert first["compat-judgesense-jss"] == first["jss"] == 1.0


def test_the_listed_pairs_of_a_log_are_compared_as_in_the_paper(project):
    write(project, ROWS)
    found = estimates(imported(project))

    assert found["jss"] == pytest.approx(3 / 5)
    assert found["template-flip-rate"] == pytest.approx(2 / 5)
    assert found["compat-judgesense-jss"] == pytest.approx(3 / 5)
    # p_o = 0.6; a says YES 4 of 5, b 2 of 5: p_e = 0.8 * 0.4 + 0.2 * 0.6 = 0.44.
    kappa = (0.6 - 0.44) / (1 - 0.44)
    assert found["compat-judgesense-kappa"] == pytest.approx(kappa)
    assert found["template-kappa"] == pytest.approx(kappa)
    everything = estimates(imported(project, "--option", "pairs=all"))
    assert everything["jss"] == pytest.approx(5 / 13)  # 3 of 6 pairs of text 1, 2 of 6 of text 2, 0 of 1 of text 3
    assert everything["compat-judgesense-jss"] == pytest.approx(3 / 5)


def test_a_prompt_of_several_rows_is_paired_with_its_own_row(project):
    # The second answers to both prompts swap: row by row all pairs flip, over all combinations half of them agree.
    write(
        project, [row("text 1", 0, 1, "YES", "NO"), row("text 1", 0, 1, "NO", "YES"), row("text 2", 0, 1, "YES", "NO")]
    )
    found = estimates(imported(project))

    assert found["compat-judgesense-jss"] == 0.0
    assert found["jss"] == pytest.approx((1 / 2 + 0) / 2)


def test_a_named_exclusion_is_shown_beside_the_whole(project):
    write(project, ROWS)
    measures = imported(project, "--option", "without=['Is it so?']")

    assert estimates(measures)["jss"] == pytest.approx(3 / 5)
    assert estimates(measures, without="Is it so?")["jss"] == pytest.approx(2 / 2)
    refused = project.run(
        "import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", "--option", "without=[Perhaps]"
    )
    assert refused.exit_code == 2
    assert "without: no prompt of the log contains 'Perhaps'" in refused.output


def test_every_value_off_the_scale_is_an_error_with_its_lines(project):
    write(
        project,
        [
            *ROWS,
            row("text 4", 0, 1, "maybe", "YES"),
            row("text 5", 0, 1, "YES", "maybe"),
            row("text 6", 0, 1, "", "n/a"),
        ],
    )
    refused = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", "--scale", "YES,NO")

    assert refused.exit_code == 2
    assert "log.jsonl:6: the decision 'maybe' is not on the scale YES, NO (lines 6, 7)" in refused.output
    assert "log.jsonl:8: the decision 'n/a' is not on the scale YES, NO (line 8)" in refused.output
    assert "--option off_scale=true" in refused.output
    assert not (project.path / "run").exists()
    options = ("--scale", "YES,NO", "--option", "off_scale=true")
    done = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *options)
    assert done.exit_code == 0, done.output
    assert "Missing: 4 of 16; they have a status instead of a label." in done.output


def test_decisions_and_gold_labels_are_mapped_apart(project):
    # In the decisions 1 means YES; in the gold labels it means NO.
    rows = [
        {**each, "ground_truth_label": {"YES": "0", "NO": "1"}[each["ground_truth_label"]]}
        | {side: {"YES": "1", "NO": "0"}[each[side]] for side in ("decision_a", "decision_b")}
        for each in ROWS
    ]
    write(project, rows)
    maps = ("--label", "1=YES", "--label", "0=NO", "--option", "gold_labels={'0': 'YES', '1': 'NO'}")
    found = estimates(imported(project, *maps))

    right = sum(each[side] == each["ground_truth_label"] for each in ROWS for side in ("decision_a", "decision_b"))
    assert found["gold-accuracy"] == pytest.approx(right / 10)
    unknown = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *maps, "--label", "7=YES")
    assert unknown.exit_code == 2
    assert "labels: no decision in log.jsonl is '7'" in unknown.output
    off = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *maps[4:], "--label", "1=YEAH")
    assert off.exit_code == 2
    assert "'YEAH' is not on the scale" in off.output
    halved = project.run(
        "import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *maps[:4], "--scale", "YES,NO"
    )
    assert halved.exit_code == 2
    assert "the gold label '0' is not on the scale YES, NO" in halved.output


@pytest.mark.skipif(not REAL.exists(), reason="the benchmark is not part of the repository")
@pytest.mark.parametrize("name", ["coherence", "relevance"])
def test_jss_over_the_listed_pairs_of_the_real_file_is_that_of_plain_python(project, name):
    rows = [json.loads(line) for line in (REAL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    labels = "12345" if name == "coherence" else "AB"
    log = []
    for place, each in enumerate(rows):
        told = [
            labels[sha256(f"{place}{each[side]}".encode()).digest()[0] % len(labels)]
            for side in ("prompt_a", "prompt_b")
        ]
        log.append({**each, "decision_a": told[0], "decision_b": told[1]})
    write(project, log)
    found = estimates(imported(project))

    agree = [each["decision_a"] == each["decision_b"] for each in log]
    assert found["compat-judgesense-jss"] == pytest.approx(sum(agree) / len(agree))
    # Ours: every distinct pair of prompts about one text weighs the same, whatever the number of its rows.
    said = {}
    for each in log:
        for side in ("a", "b"):
            key = each["response_being_judged"], each[f"prompt_{side}"]
            said.setdefault(key, []).append(each[f"decision_{side}"])
    pairs = {(each["response_being_judged"], frozenset((each["prompt_a"], each["prompt_b"]))) for each in log}
    scores = []
    for text, pair in pairs:
        one, other = (said[text, prompt] for prompt in pair)
        scores.append(sum(x == y for x in one for y in other) / (len(one) * len(other)))
    assert found["jss"] == pytest.approx(sum(scores) / len(scores))
    assert found["template-flip-rate"] == pytest.approx(1 - sum(scores) / len(scores))
