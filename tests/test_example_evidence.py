"""The suite in `examples/evidence`, over a loopback model that reads 1,200 tokens and misses single wrong numbers.

It reads the golden outputs, which tests/test_golden.py makes again and compares: one run serves both.
"""

from __future__ import annotations

import json

from support import golden


def test_the_example_tells_how_far_the_model_reads_and_what_it_misses():
    report = json.loads(golden.read("evidence", "report.json"))
    assert report["planned"] == 12 * (2 + 8 + 3)
    told = {f["kind"]: f["sentence"] for f in report["findings"]}
    assert told["evidence-reach"].startswith("Reads the first 1,500 tokens [1,000, 2,000] of a text; evidence")
    assert "Notices fewer than half of the texts with the fewest errors" in told["errors-missed"]
