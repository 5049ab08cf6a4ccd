"""The suite in `examples/consistency`, over a loopback model that scores by correctness and compares in circles.

It reads the golden outputs, which tests/test_golden.py makes again and compares: one run serves both.
"""

from __future__ import annotations

import json

from support import golden


def test_the_example_tells_circles_agreement_and_what_the_reference_changes():
    report = json.loads(golden.read("consistency", "report.json"))
    assert report["planned"] == 32 * 3 + 48 * 3 + 8 * 2
    asked = {line["test"]: line["replies"] for line in report["spending"]}
    assert asked == {"reference": 16, "reference-guided": 32, "option-order": 48}
    told = {f["kind"]: f["sentence"] for f in report["findings"]}
    # One of the four triples of every request is a cycle.
    start = "Preferences run in circles more often than noise explains (share of triples): 0.25"
    assert told["preference-cycles"].startswith(start)
    assert start in golden.read("consistency", "report.md")
    flips = [
        m for m in report["measures"] if (m["name"], m["test"]) == ("flip-rate", "reference-guided") and not m["cell"]
    ]
    assert [m["estimate"] for m in flips] == [0.5]  # 4 becomes 5, and 2 becomes 1
    # Gold labels are the scores: with the reference every second verdict becomes wrong.
    change = [m for m in report["measures"] if (m["name"], m["test"]) == ("accuracy-change", "reference-guided")]
    assert [m["estimate"] for m in change if not m["cell"]] == [-0.5]
    assert any("reference-guided" in f["tests"] and f["severity"] in ("bad", "warning") for f in report["findings"])
    assert [m["estimate"] for m in report["measures"] if m["name"] == "score-ranking"] == [1.0]
