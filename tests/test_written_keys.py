"""No key that is written in a suite, or comes back in a reply, is stored or shown, whatever its form and its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jrh.document.yaml_reader import document_of
from jrh.errors import SuiteError
from jrh.suite.lookup import refuse_keys
from jrh.text.redact import Redactor, find_keys
from jrh_testing import Inside, loop_over

ROOT = Path(__file__).parents[1]
SECRET: Final = "q8Zr2LxT0vKd91mNsWbY7uHc"
"""Looks random and has no form of a provider."""
HEX: Final = "9f86d081884c7d659a2feaa0c55ad015"
FORMS: Final = (
    "sk-{secret}",
    "sk-proj-{secret}_{secret}",
    "sk-ant-api03-{secret}-{secret}",
    "sk-or-v1-{hex}",
    "gsk_{secret}",
    "xai-{secret}",
    "pplx-{hex}",
    "hf_abcdefghijKLMNOPQRSTuvwxyzABCDEFGH",
    "r8_{secret}",
    "nvapi-{secret}",
    "AIzaSyA{secret}01234567",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_{secret}",
    "github_pat_11{secret}_{secret}",
    "glpat-{secret}",
    "xoxb-1234567890-{secret}",
    "npm_{secret}",
    "lsv2_pt_{hex}_0a1b2c3d4e",
    "whsec_{secret}",
    "ya29.{secret}",
    "SG.{secret}.{secret}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{secret}",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA{secret}\n-----END RSA PRIVATE KEY-----",
    "https://me:{secret}@example.org/v1",
    "postgres://judge:hunter2hunter2@db.example.org/runs",
    "https://example.org/v1?api_key={secret}",
    "Bearer {secret}",
    "Authorization: Bearer {hex}",
    "Authorization: Basic bWU6cThacjJMeFQwdktkOTFt",
    "X-Api-Key: {secret}",
    'api_key="{secret}"',
    "--api-key={secret}",
    "--token {hex}",
    '{{"api_key": "{secret}"}}',
    "{{'Authorization': 'Bearer {secret}'}}",
    "export OPENAI_API_KEY={secret}",
    "password is {secret}",
    "v=sk-{secret}",
    "Cookie: session={secret}",
    "client_secret={secret}&grant_type=x",
    "x{hex}{environment}y",
)
ENVIRONMENT: Final = "plain-words-of-the-environment"
SUITE: Final[dict[str, Any]] = {
    "name": "essays",
    "data": {"source": "csv", "path": "essays.csv", "columns": {"request": "question"}, "sample": {"n": 3}},
    "task": {
        "instruction": "Is it right?",
        "rubric": "YES if it is.",
        "scale": {"labels": ["YES", "NO"]},
    },
    "models": {
        "mini": {
            "provider": "openai-http",
            "model": "small",
            "base_url": "http://localhost:1/v1",
            "api_key_env": "MY_KEY",
            "headers_env": {"X-Route": "ROUTE"},
            "headers": {"X-Custom": "v=1"},
            "extra": {"note": "mine", "deep": [{"er": ["a", "b"]}], "user": "me"},
        }
    },
    "parsers": {"mine": {"parser": "label", "pattern": "(YES|NO)"}},
    "tests": ["format", {"paraphrase": {"model": "mini", "prompt": "Say it again: {{ text }}"}}],
    "judges": [
        {"name": "a", "judge": "llm", "model": "mini", "system": "You judge.", "template": "{{ request }}"},
        {"name": "b", "judge": "command", "command": ["./judge", "--config", "x.json"]},
        {"name": "c", "judge": "function", "function": "judge.py:judge"},
        {"name": "e", "judge": "cascade", "model": "mini", "then": ["mini"]},
        {"name": "d", "judge": "endpoint", "url": "http://localhost:1/judge", "headers": {"X-Team": "blue"}},
    ],
    "metrics": {"add": [{"accuracy-equivalence": {"margin": 0.05}}]},
    "allocate": {"stop": {"when": ["gold-accuracy >= 0.8"]}},
    "gate": {"rules": ["flip-rate[format] <= 0.1"]},
    "reports": [{"reporter": "html", "title": "Essays"}],
}


def _texts(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every text in a value."""
    if isinstance(value, str):
        yield at
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(part, (*at, key))


def _planted(value: Any, at: tuple[str | int, ...], text: str) -> Any:
    if not at:
        return text
    if isinstance(value, dict):
        return {key: _planted(part, at[1:], text) if key == at[0] else part for key, part in value.items()}
    return [_planted(part, at[1:], text) if place == at[0] else part for place, part in enumerate(value)]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_TOKEN", ENVIRONMENT)


def _filled(form: str) -> str:
    return form.format(secret=SECRET, hex=HEX, environment=ENVIRONMENT)


@loop_over("form", FORMS)
@loop_over("at", list(_texts(SUITE)), ids=str)
def test_a_key_is_refused_in_every_text_of_a_suite(at: tuple[str | int, ...], form: str) -> None:
    for text in (_filled(form), f"Please use this: {_filled(form)}, thank you."):
        with pytest.raises(SuiteError) as refused:
            refuse_keys(document_of(_planted(SUITE, at, text)), Path())
        message = str(refused.value)
        assert "put it in an environment variable" in message
        assert not any(part in message for part in (SECRET, HEX, ENVIRONMENT))


@loop_over("form", FORMS)
def test_a_key_in_a_reply_is_masked(form: str) -> None:
    for text in (_filled(form), f'{{"verdict": "YES", "why": "it has {_filled(form)}."}}'):
        shown = Redactor.from_environment()(text)
        assert "[redacted]" in shown
        assert not any(part in shown for part in (SECRET, HEX, ENVIRONMENT)) or form.startswith("x{hex}")


@pytest.mark.inside
def test_a_key_is_refused_with_its_line_before_anything_is_stored(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("rubric.txt", f"Be strict.\nAuthorization: Bearer {SECRET}\n")
    rows = {
        "name: keys\ntask: {rubric: {file: rubric.txt}}\n": "suite.yaml:2:",
        f"name: keys\njudges:\n  - {{judge: command, command: [./judge, --api-key, {SECRET}]}}\n": "suite.yaml:3:",
        f"name: keys\nmodels: {{mini: {{provider: x, headers: {{X-Custom: 'v={SECRET}'}}}}}}\n": "suite.yaml:2:",
        f"name: keys\ntask: {{sk-{SECRET}: 1}}\n": "suite.yaml:2:",
    }
    for text, place in rows.items():
        project.write("suite.yaml", text)
        for command in ("run", "plan"):
            done = project.run(command, "suite.yaml")
            assert done.exit_code == 2
            assert place in done.stderr
            assert "put it in an environment variable, and name the variable in an option such as" in done.stderr
            assert SECRET not in done.output
    assert not (tmp_path / "runs").exists()


def test_what_is_no_key_stays() -> None:
    texts = (
        "max_new_tokens: 2048, tokenizer: meta-llama/Meta-Llama-3.1-8B-Instruct",
        "prompt_cache_key: essays-2024-11-28-run-0001",
        "The answer key is B. Token counts: 12,345. A basic understanding-of-the-2nd-law",
        "revision: 5f0b02c75b57c5855da9ae460ce51323ea669d8a",
        "api_key_env: OPENAI_API_KEY_2024",
        "see https://example.org/a1B2c3D4e5F6g7H8?token_limit=100",
        "task-based-learning-2024, risk-assessment-of-2024",
    )
    assert [text for text in texts if any(find_keys(text))] == []
    refuse_keys(document_of(SUITE), Path())
    headers = {"anthropic-beta": "prompt-caching-2024-07-31", "X-Tenant": "123e4567-e89b-42d3-a456-426614174000"}
    refuse_keys(document_of({"models": {"mini": {"headers": headers}}}), Path())


def test_no_text_that_is_shipped_holds_a_key() -> None:
    kinds = (".yaml", ".yml", ".txt", ".md", ".j2", ".json", ".jsonl", ".csv")
    folders = [ROOT / "docs", ROOT / "examples", *ROOT.glob("core/*/src"), *ROOT.glob("plugins*/*/src")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    assert len(files) > 100
    assert [str(path) for path in files if any(find_keys(path.read_text("utf-8", "replace")))] == []
