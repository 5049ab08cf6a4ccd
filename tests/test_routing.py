"""A reply belongs to the place that gave it: everything that routes a request is part of the model's identity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jrh.store.run_store import Store
from jrh_testing import ChatServer, Project
from support.keys import KEY
from support.looking import everything, one, query
from support.suites import PROVIDERS, llm_suite, openai_http, write_items, write_suite

pytestmark = [pytest.mark.slow, pytest.mark.inside]

ITEMS = 3
ROUTE = "deployment-of-team-blue"
"""A header value that is as secret as any other of the environment."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("YES") as server:
        yield server


def judged(project: Project, model: dict[str, Any], judge: str = "mini", **env: str) -> None:
    write_suite(project, llm_suite(model, judges=[{"name": judge, "judge": "llm", "model": "mini"}]))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--yes", env=env)
    assert outcome.exit_code == 0, outcome.output


def verdicts(project: Project) -> list[str]:
    return [label for (label,) in query(project, "run", "SELECT canonical FROM records ORDER BY trial_id")]


ROUTES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "query": ({"query": "?deployment=A"}, {"query": "?deployment=B"}),
    "body": ({"extra": {"extra_body": {"route": "A"}}}, {"extra": {"extra_body": {"route": "B"}}}),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("route", ROUTES)
def test_another_deployment_behind_one_address_answers_for_itself(
    project: Project, server: ChatServer, provider: str, route: str
) -> None:
    write_items(project, ITEMS)
    for place, options in enumerate(ROUTES[route], start=1):
        settings = dict(options)
        # The last "/" keeps the query apart from the path that litellm appends.
        model = PROVIDERS[provider](server.url, **{k: v for k, v in settings.items() if k != "query"})
        address = "base_url" if provider == "openai-http" else "api_base"
        model[address] = _with_query(model[address], settings.get("query", ""), provider)
        judged(project, model)
        assert server.count == place * ITEMS
    judged(project, model)
    assert server.count == 2 * ITEMS  # the same again asks nothing


def test_a_reply_is_stored_once(project: Project) -> None:
    """In the calls; a record refers to it. A run that has it from the cache stores it with the record."""
    write_items(project, ITEMS)
    with ChatServer(lambda body: f"YES {len(str(body))}") as server:
        judged(project, openai_http(server.url))
        assert project.run("run", "suite.yaml", "--run-dir", "cached", "--yes").exit_code == 0
        assert server.count == ITEMS
    assert one(project, "run", "SELECT count(*) FROM calls WHERE payload LIKE '{%'") == ITEMS
    assert one(project, "run", "SELECT count(*) FROM records WHERE reply LIKE '{%'") == 0
    assert one(project, "cached", "SELECT count(*) FROM records WHERE reply LIKE '{%'") == ITEMS
    for name in ("run", "cached"):
        trials = [trial for (trial,) in query(project, name, "SELECT trial_id FROM records")]
        store = Store.view(project.path / name)
        found = store.records.replies(trials)
        store.close()
        assert sorted(found) == sorted(trials)
        assert {reply.text[:4] for reply in found.values()} == {"YES "}


def _with_query(url: str, query: str, provider: str) -> str:
    # litellm appends the path to the address as it is written.
    return f"{url}/chat/completions{query}&path=" if query and provider == "litellm" else url + query


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_value_of_a_routing_header_is_another_model(
    project: Project, server: ChatServer, provider: str
) -> None:
    write_items(project, ITEMS)
    model = PROVIDERS[provider](server.url, headers_env={"X-Route": "ROUTE_NAME"})
    judged(project, model, ROUTE_NAME=ROUTE)
    judged(project, model, ROUTE_NAME="deployment-of-team-green")
    assert server.count == 2 * ITEMS
    judged(project, model, ROUTE_NAME=ROUTE)
    assert server.count == 2 * ITEMS
    assert ROUTE.encode() not in everything(project)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_does_not_route_asks_nothing_again(project: Project, server: ChatServer, provider: str) -> None:
    """A new key, another name of its variable, of a header's variable, of the judge or of the model: no call."""
    write_items(project, ITEMS)
    model = PROVIDERS[provider](server.url, headers_env={"X-Route": "ROUTE_NAME"})
    judged(project, model, ROUTE_NAME=ROUTE)
    renamed = {**model, "headers_env": {"X-Route": "OTHER_NAME"}, "api_key_env": "OTHER_VARIABLE", "timeout": 77}
    judged(project, renamed, judge="renamed", OTHER_NAME=ROUTE, OTHER_VARIABLE="another-key-1234")
    write_suite(
        project,
        llm_suite({}, models={"big": renamed}, judges=[{"name": "renamed", "judge": "llm", "model": "big"}]),
    )
    outcome = project.run(
        "run", "suite.yaml", "--run-dir", "run", env={"OTHER_NAME": ROUTE, "OTHER_VARIABLE": "another-key-1234"}
    )
    assert outcome.exit_code == 0, outcome.output
    assert server.count == ITEMS
    assert one(project, "run", "SELECT count(*) FROM calls") == ITEMS


def test_a_header_that_says_who_asks_may_change(project: Project, server: ChatServer) -> None:
    write_items(project, ITEMS)
    model = openai_http(server.url, api_key_env=None, headers_env={"Authorization": "TICKET"})
    judged(project, model, TICKET="Bearer first-ticket-1")
    judged(project, model, TICKET="Bearer second-ticket-2")
    assert server.count == ITEMS


@pytest.mark.parametrize(
    ("provider", "options", "way"),
    [
        ("openai-http", {"base_url": "{url}?api_key={key}"}, "api_key_env` or `headers_env"),
        ("litellm", {"api_base": "{url}?api_key={key}"}, "api_key_env` or `headers_env"),
        ("openai-http", {"extra": {"auth": {"api_key": "{key}"}}}, "api_key_env` or `headers_env"),
        ("litellm", {"extra": {"extra_headers": {"X-Team-Key": "{key}"}}}, "api_key_env` or `headers_env"),
        ("litellm", {"extra": {"extra_headers": {"Authorization": "Bearer {key}"}}}, "api_key_env` or `headers_env"),
        ("litellm", {"extra": {"vertex_credentials": "{key}"}}, "api_key_env` or `headers_env"),
        ("openai-http", {"extra": {"user": "{key}"}}, "secret of the environment"),
    ],
)
def test_a_secret_written_in_a_suite_is_refused_before_anything_is_stored(
    project: Project, server: ChatServer, provider: str, options: dict[str, Any], way: str
) -> None:
    write_items(project, ITEMS)
    filled = _filled(options, url=server.url, key=KEY)
    write_suite(project, llm_suite({**PROVIDERS[provider](server.url), **filled}))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    (project.path / "suite.yaml").unlink()
    assert outcome.exit_code == 2, outcome.output
    assert way in outcome.stderr
    assert "suite.yaml:" in outcome.stderr
    assert KEY.encode() not in everything(project, outcome)
    assert server.count == 0
    assert not (project.path / "run").exists()


def _filled(value: Any, **parts: str) -> Any:
    if isinstance(value, dict):
        return {name: _filled(part, **parts) for name, part in value.items()}
    return value.format(**parts) if isinstance(value, str) else value


def test_settings_that_are_called_key_or_token_are_no_secrets(project: Project, server: ChatServer) -> None:
    write_items(project, 1)
    extra = {"prompt_cache_key": "essays", "eos_token": "</s>", "stop_token": "END", "metadata": {"key": "value"}}
    judged(project, openai_http(server.url, extra=extra))
    assert server.requests[0]["prompt_cache_key"] == "essays"
