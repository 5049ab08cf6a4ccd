"""`jrh ping` asks every model once, through the gateway: budget, keys and redaction are those of a run."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from jrh_testing import ChatServer, Fault, Project
from support.keys import KEY, KEY_VARIABLE
from support.suites import litellm, llm_suite, openai_http, write_suite

pytestmark = pytest.mark.inside


@pytest.fixture
def project(project: Project) -> Project:
    project.env[KEY_VARIABLE] = KEY
    return project


@contextmanager
def limited() -> Iterator[str]:
    """Serve one completion for every request, with headers that state limits, and echo the key in one of them."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            message = {"role": "assistant", "content": "OK"}
            usage = {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m",
                    "choices": [choice],
                    "usage": usage,
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("x-ratelimit-limit-requests", "500")
            self.send_header("x-ratelimit-reset-tokens", f"6ms for {KEY}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def dead_url() -> str:
    """Return the address of a port that nothing listens on."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


def suite(models: dict[str, object], **changes: object) -> dict[str, object]:
    return {**llm_suite({}), "models": models, **changes}


def test_one_dead_one_rejected_and_one_good_model_are_told_apart(project: Project) -> None:
    with limited() as good, ChatServer("OK") as rejecting:
        rejecting.misbehave(Fault("401"))
        models = {
            "dead": openai_http(dead_url()),
            "rejected": openai_http(rejecting.url),
            "mini": openai_http(good, price={"input": 1.0, "output": 2.0}),
            "unpriced": openai_http(good),
            "keyless": openai_http(good, api_key_env="JRH_NOT_SET"),
        }
        write_suite(project, suite(models))
        outcome = project.run("ping", "suite.yaml")

    assert outcome.exit_code == 2, outcome.output
    blocks = {
        block.split()[0].rstrip(":"): block
        for block in outcome.stdout.split("\n\n")[0].replace("\n  ", "\t").splitlines()
    }
    assert "FAILED" in blocks["dead"]
    assert "check the address, and that the endpoint is up" in blocks["dead"]
    assert "incorrect API key" in blocks["rejected"]
    assert f"check {KEY_VARIABLE}" in blocks["rejected"]
    assert "reply: OK" in blocks["mini"]
    assert "tokens: 12 + 1; cost of this call: <$0.0001" in blocks["mini"]
    assert "price: $1 in, $2 out per million tokens" in blocks["mini"]
    assert "x-ratelimit-limit-requests 500" in blocks["mini"]
    assert "price: unknown" in blocks["unpriced"]
    assert "JRH_NOT_SET" in blocks["keyless"]
    assert "2 of 5 models answered." in outcome.stdout
    assert rejecting.count == 1
    assert KEY not in outcome.output
    assert not (project.path / "runs").exists()


def test_the_budget_of_the_suite_holds(project: Project) -> None:
    with ChatServer("OK") as server:
        priced = openai_http(server.url, price={"input": 1000.0, "output": 1000.0})
        write_suite(project, suite({"mini": priced}, budget={"usd": 0.001}))
        refused = project.run("ping", "suite.yaml")
        write_suite(project, suite({"mini": openai_http(server.url)}, budget={"usd": 1.0}))
        unpriced = project.run("ping", "suite.yaml")

    assert (refused.exit_code, unpriced.exit_code) == (2, 2)
    assert "budget" in refused.stdout
    assert "no known price" in unpriced.stdout
    assert server.count == 0


def test_litellm_passes_stated_limits_on_and_one_model_can_be_chosen(project: Project) -> None:
    with limited() as good:
        write_suite(project, suite({"mini": litellm(good), "dead": openai_http(dead_url())}))
        outcome = project.run("ping", "suite.yaml", "--model", "mini")

    assert outcome.exit_code == 0, outcome.output
    assert "x-ratelimit-limit-requests 500" in outcome.stdout
    assert "dead" not in outcome.stdout
    assert KEY not in outcome.output
    unknown = project.run("ping", "suite.yaml", "--model", "mino")
    assert unknown.exit_code == 2
    assert "there is no model 'mino'; models: mini, dead" in unknown.stderr
