"""What JudgeSense published, recomputed from the numbers of pairs and flips of its own results (first version).

The numbers are facts of the repository rohithreddybc/judgeSense: data/results/metrics_summary.json and
outputs/factuality_jss_fixed.csv, commit 72a1ca8. They are those of the paper's first version (arXiv 2604.23478): nine
judges, JSS of coherence from 0.389 to 0.992, of factuality near 0.63. A later version of the paper withdrew the claims
made from them. The Judge Reliability Harness prints no counts, so none of its numbers can be recomputed.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from jrh_stats import clustered_kappa, clustered_proportion, judgesense_jss, judgesense_kappa
from jrh_testing import Project, loop_over, prompt_pair_row

pytestmark = pytest.mark.inside

# Judge -> task -> pairs, flips, JSS, flip rate, ends of the percentile bootstrap over rows.
PUBLISHED = {
    "claude-haiku": {"coherence": (375, 101, 0.7307, 0.2693, 0.6879, 0.776)},
    "claude-sonnet": {"coherence": (375, 3, 0.992, 0.008, 0.9813, 1.0)},
    "deepseek": {"coherence": (375, 130, 0.6533, 0.3467, 0.6053, 0.7067)},
    "gemini-flash": {
        "coherence": (370, 226, 0.3892, 0.6108, 0.3378, 0.4405),
        "factuality": (345, 128, 0.629, 0.371, 0.5826, 0.6783),
        "preference": (362, 0, 1.0, 0.0, 1.0, 1.0),
    },
    "gpt-4o-mini": {
        "coherence": (375, 81, 0.784, 0.216, 0.744, 0.8241),
        "factuality": (362, 134, 0.6298, 0.3702, 0.5773, 0.674),
    },
    "gpt-4o": {
        "coherence": (375, 32, 0.9147, 0.0853, 0.888, 0.9413),
        "factuality": (357, 132, 0.6303, 0.3697, 0.5826, 0.6835),
    },
    "llama3-70b": {"coherence": (260, 116, 0.5538, 0.4462, 0.4885, 0.6154)},
    "mistral-7b": {
        "coherence": (375, 195, 0.48, 0.52, 0.4293, 0.536),
        "factuality": (357, 102, 0.7143, 0.2857, 0.6695, 0.7619),
        "preference": (212, 106, 0.5, 0.5, 0.4386, 0.5709),
        "relevance": (104, 5, 0.9519, 0.0481, 0.9038, 0.9904),
    },
    "qwen": {
        "coherence": (351, 28, 0.9202, 0.0798, 0.8917, 0.9459),
        "factuality": (334, 123, 0.6317, 0.3683, 0.5838, 0.6856),
    },
}
CELLS = [(judge, task, *numbers) for judge, tasks in PUBLISHED.items() for task, numbers in tasks.items()]
# Judge -> pairs, flips of factuality; corrected JSS and difference as published. Every flip but mistral's is T4's.
CORRECTED = {
    "gpt-4o": (357, 132, 0, 1.0, 0.3697),
    "qwen": (334, 123, 0, 1.0, 0.3683),
    "mistral-7b": (357, 102, 42, 0.8824, 0.1681),
}


def sides(pairs: int, flips: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.arange(pairs) % 2
    return first, np.where(np.arange(pairs) < flips, 1 - first, first)


@loop_over(("judge", "task", "pairs", "flips", "score", "rate", "low", "high"), CELLS)
def test_scores_follow_from_the_published_counts(judge, task, pairs, flips, score, rate, low, high) -> None:
    first, second = sides(pairs, flips)
    theirs, ours = judgesense_jss(first, second), clustered_proportion(first == second, np.ones(pairs))
    assert round(theirs.value, 4) == round(ours.value, 4) == score
    assert round(1 - ours.value, 4) == rate
    # Two bootstraps of 1,000: an end is off by its own error, about 0.1 standard deviations, and by a row.
    slack = 0.25 * np.sqrt(score * (1 - score) / pairs) + 1 / pairs
    assert (theirs.low, theirs.high) == (pytest.approx(low, abs=slack), pytest.approx(high, abs=slack))


@pytest.mark.parametrize("judge", CORRECTED)
def test_the_corrected_score_and_the_difference_follow_from_the_flips_that_are_left(judge) -> None:
    pairs, flips, left, corrected, difference = CORRECTED[judge]
    agreeing = [one == other for one, other in (sides(pairs, number) for number in (flips, left))]
    raw, after = (clustered_proportion(same, np.ones(pairs)).value for same in agreeing)
    assert (round(after, 4), round(after - raw, 4)) == (corrected, pytest.approx(difference, abs=1e-4))


def test_a_judge_that_always_gives_one_label_has_kappa_1_there_and_none_here() -> None:
    constant = np.zeros(375, dtype=int)
    assert judgesense_kappa(constant, constant).value == 1.0
    assert clustered_kappa(constant, constant, np.arange(375)).value is None


def test_an_imported_log_gives_the_published_score_next_to_ours(project: Project) -> None:
    pairs, flips, score, *_ = PUBLISHED["qwen"]["coherence"]
    first, second = sides(pairs, flips)
    rows = [
        {
            **prompt_pair_row(number, text=f"text {number}"),
            "decision_a": "YES" if one else "NO",
            "decision_b": "YES" if other else "NO",
        }
        for number, (one, other) in enumerate(zip(first, second, strict=True))
    ]
    (project.path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = ("--from", "judgesense", "--run-dir", "run", "--scale", "YES,NO")
    assert project.run("import", "log.jsonl", *options).exit_code == 0
    assert project.run("report", "run", "--format", "json").exit_code == 0
    found = {
        each["name"]: each["estimate"]
        for each in json.loads(project.read("run/report.json"))["measures"]
        if not each["cell"]
    }
    assert round(found["compat-judgesense-jss"], 4) == round(found["jss"], 4) == score
