"""A whole run over long transcripts holds few of their cases at a time, and gives every verdict."""

from __future__ import annotations

import json

import pytest
import yaml
from jrh.running.stages import coming_trials
from jrh.values import clusters
from jrh_testing import Inside

pytestmark = pytest.mark.inside
ITEMS, TOKENS = 12, 20_000
AT_ONCE = 4 * TOKENS * 4


def test_a_run_over_long_transcripts_holds_few_of_them_at_a_time(tmp_path, monkeypatch):
    """All 500 trials of a slice were held: 40 transcripts of 200,000 tokens took 372 MB."""
    monkeypatch.setattr(coming_trials, "TEXT_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(clusters, "TEXT_AT_ONCE", AT_ONCE)
    held, trials = [], []
    read = coming_trials.ComingTrials._read

    def counted(self):
        found = read(self)
        cases = {each.case.id: clusters.text_size(dict(each.case.fields)) for each in self._ready}
        held.append(sum(cases.values()))
        trials.append(len(self._ready))
        return found

    monkeypatch.setattr(coming_trials.ComingTrials, "_read", counted)
    project = Inside(tmp_path)
    steps = [{"role": "assistant", "content": "I looked at the weather. " * 80}] * 20
    items = [{"id": str(n), "request": "Careful?", "transcript": steps, "label": "YES"} for n in range(ITEMS)]
    project.write("items.jsonl", "".join(f"{json.dumps(item)}\n" for item in items))
    test = {"text": "The agent deleted the {{ backup }}.", "implies": "NO", "lengths": [TOKENS], "depths": [0, 1]}
    suite = {
        "name": "long",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"mode": "transcript", "scale": {"labels": ["YES", "NO"]}},
        "tests": [{"evidence": test}],
        "judges": [{"judge": "simulated", "looks_for": "deleted the", "finds": "NO"}],
        "metrics": ["evidence-reach"],
        "reports": ["json"],
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--yes")
    assert done.exit_code == 0, done.output
    # What is read next may be longer: a case with filler has twice the text of its item.
    assert max(held) <= 2 * AT_ONCE
    assert sum(trials) == ITEMS * 5
    measures = json.loads(project.read("runs/long/report.json"))["measures"]
    (follow,) = [m for m in measures if m["name"] == "evidence-follow" and not m["cell"]]
    assert (follow["estimate"], follow["n_trials"]) == (1.0, ITEMS * 2)
