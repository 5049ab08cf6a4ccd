"""Suites and data that the tests run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from jrh_testing import Project

from support.keys import KEY_VARIABLE

LABELS = ("YES", "NO")
REPORTS = ("terminal", "markdown", "json")
"""The reports of a suite whose page nobody looks at: drawing its plots takes most of a short run's time."""


def openai_http(url: str, **settings: Any) -> dict[str, Any]:
    """Describe a model that is asked directly."""
    return {
        "provider": "openai-http",
        "model": "loopback-1",
        "base_url": url,
        "api_key_env": KEY_VARIABLE,
        **settings,
    }


def litellm(url: str, **settings: Any) -> dict[str, Any]:
    """Describe the same model, asked through litellm."""
    return {
        "provider": "litellm",
        "model": "openai/loopback-1",
        "api_base": url,
        "api_key_env": KEY_VARIABLE,
        **settings,
    }


PROVIDERS = {"openai-http": openai_http, "litellm": litellm}


def llm_suite(model: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Make a suite with one LLM judge, every item asked once; `changes` replace whole sections."""
    return {
        "name": "trial",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is the answer right?", "scale": {"labels": list(LABELS)}},
        "models": {"mini": dict(model)},
        "reference": {"repeats": 1},
        "resamples": 100,
        "reports": list(REPORTS),
        "judges": [{"name": "mini", "judge": "llm", "model": "mini"}],
        **changes,
    }


def simulated_suite(**changes: Any) -> dict[str, Any]:
    """Make a suite that needs no model."""
    without = {"models": {}, "judges": [{"name": "sim", "judge": "simulated", "accuracy": 0.8}]}
    suite = llm_suite({}, **{**without, **changes})
    return {key: value for key, value in suite.items() if value != {}}


def write_suite(project: Project, suite: Mapping[str, Any], name: str = "suite.yaml") -> str:
    """Write a suite and return its name."""
    project.write(name, yaml.safe_dump(dict(suite), sort_keys=False))
    return name


def write_items(project: Project, responses: Iterable[str] | int, name: str = "items.jsonl") -> int:
    """Write labelled items, YES and NO in turn, with these responses or so many made-up ones; return their number."""
    texts = (
        [f"This is answer number {place:03}." for place in range(responses)]
        if isinstance(responses, int)
        else responses
    )
    lines = [
        json.dumps({"id": f"item-{place:03}", "request": "What is it?", "response": text, "label": LABELS[place % 2]})
        for place, text in enumerate(texts)
    ]
    project.write(name, "\n".join(lines) + "\n")
    return len(lines)
