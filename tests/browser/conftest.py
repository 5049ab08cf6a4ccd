"""Runs whose pages are looked at, and the browser they are looked at with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jrh_testing import ChatServer, Project, SimulatedAnswers
from support.browsing import chromium
from support.essays import essays_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
KEY_VARIABLE = "JRH_BROWSER_TEST_KEY"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser for one module: its driver keeps an event loop running, which no other test should meet."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the demo run: fewer items, and also what is on request: variance components, matrices."""
    project = Project(tmp_path_factory.mktemp("demo"))
    suite = yaml.safe_load((ROOT / "examples" / "demo.yaml").read_text(encoding="utf-8"))
    metrics = {"add": ["generalizability", "confusion", {"panel": {"also": ["effective-judges"]}}]}
    project.write("demo.yaml", yaml.safe_dump({**suite, "metrics": metrics}, sort_keys=False))
    done = project.run("run", "demo.yaml", "--limit", "12", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    return project.path / "run"


@pytest.fixture(scope="session")
def essays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run over essays: two priced LLM judges, prompt templates, option order."""
    project = Project(tmp_path_factory.mktemp("essays"), env={KEY_VARIABLE: "made up"})
    form = '{"verdict": "{label}", "rationale": "The essay <b>argues</b> its case."}'
    with ChatServer(SimulatedAnswers(labels=tuple("123456"), accuracy=0.7, form=form)) as server:
        project.write("suite.yaml", yaml.safe_dump(_essays(server.url, project.path), sort_keys=False))
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    return project.path / "run"


def _essays(url: str, base: Path) -> dict[str, Any]:
    folder = Path(os.path.relpath(essays_folder(base / "data"), base))
    columns = {"id": "essay_id", "request": "assignment", "response": "full_text", "label": "holistic_essay_score"}

    def model(name: str, price: float) -> dict[str, Any]:
        return {
            "provider": "openai-http",
            "model": name,
            "base_url": url,
            "api_key_env": KEY_VARIABLE,
            "concurrency": 16,
            "max_tokens": 100,
            "price": {"input": price, "output": 4 * price},
        }

    wordings = (
        "Score this essay from 1 to 6.\n{{ response }}",
        "{{ response }}\n\nLevel (1-6)?",
        "Which level, 1 to 6, has this essay?\n{{ response }}",
    )
    return {
        "name": "essays",
        "metrics": {"add": [{"template-sensitivity": {"also": ["jss-correction"]}}]},
        "data": {
            "source": "csv",
            "path": str(folder / "essays.csv"),
            "columns": {**columns, "stratum": "prompt_name"},
            "sample": {"n": 12, "seed": 7, "stratify": True},
        },
        "task": {
            "instruction": {"file": str(folder / "instruction.txt")},
            "rubric": {"file": str(folder / "rubric.txt")},
            "scale": {"ordinal": [1, 6]},
        },
        "models": {"small": model("small", 0.15), "large": model("large", 2.5)},
        "tests": [
            {"format": {"variants": ["spaces", "indent"]}},
            {"stochastic": {"repeats": 2}},
            {"templates": {"templates": {f"wording-{n}": {"text": text} for n, text in enumerate(wordings)}}},
        ],
        "judges": [
            "baseline",
            {"name": "small", "judge": "llm", "model": "small"},
            {"name": "large", "judge": "llm", "model": "large"},
            {"name": "made-up", "judge": "simulated", "accuracy": 0.9},
        ],
        "resamples": 100,
    }


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run over pairs: option order, identical options, equivalence within a margin."""
    project = Project(tmp_path_factory.mktemp("pairs"))
    suite = {
        "name": "pairs",
        "tasks": [
            {
                "name": "preference",
                "data": {"source": "examples", "dataset": "preference", "sample": {"n": 14, "seed": 7}},
                "task": {"instruction": "Which answer is better?", "scale": {"pairwise": True}},
            }
        ],
        "tests": ["option-order", "identical-options", {"format": {"variants": ["spaces"]}}],
        "judges": [
            {"name": "steady", "judge": "simulated", "accuracy": 0.95},
            {"name": "first", "judge": "simulated", "accuracy": 0.8, "position_preference": 0.8},
        ],
        "metrics": [
            *(
                "as-expected",
                "gold-accuracy",
                "agreement",
                "noise-excess",
                "missing",
                "position-bias",
                "identical-choice",
            ),
            {"accuracy-equivalence": {"margin": 0.3}},
        ],
        "resamples": 200,
    }
    project.write("suite.yaml", yaml.safe_dump(suite, sort_keys=False))
    done = project.run("run", "suite.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    return project.path / "run"


@pytest.fixture(params=["demo", "essays"])
def run_dir(request: pytest.FixtureRequest) -> Path:
    """Return each of the runs in turn."""
    found: Path = request.getfixturevalue(request.param)
    return found
