"""A run of a perfect and a simulated judge, and a server that speaks the ingestion API of Langfuse."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jrh
import pytest

PUBLIC, SECRET = "pk-lf-0123456789", "sk-lf-do-not-show-me"
SUITE = {
    "name": "answers",
    "data": {"source": "examples", "sample": {"n": 6, "seed": 1}},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": ["format"],
    "judges": [{"name": "planted", "judge": "simulated", "accuracy": 0.7, "unparsable": 0.2}],
    "metrics": ["gold-accuracy", "agreement"],
}


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported") / "run"
    result = jrh.run(SUITE, run_dir=directory, use_cache=False, quiet=True)
    assert result.exit_code == 0, result.message
    return directory


class Langfuse:
    """Keep what was sent by the ids of the bodies, as Langfuse does, and refuse what its API refuses."""

    def __init__(self) -> None:
        self.bodies: dict[str, dict[str, Any]] = {}
        self.envelopes: set[str] = set()
        self.requests = 0
        self.largest = 0
        self.answers: list[tuple[int, dict[str, str]]] = []
        """Answers to give first, status and headers."""

    def take(self, event: dict[str, Any]) -> str:
        """Return what is wrong with an event; empty: it is taken."""
        body = event["body"]
        if event["type"] not in ("trace-create", "score-create") or not event["timestamp"].endswith("Z"):
            return "invalid event"
        if event["type"] == "score-create":
            number = isinstance(body["value"], int | float) and not isinstance(body["value"], bool)
            if {"NUMERIC": number, "CATEGORICAL": isinstance(body["value"], str)}.get(body["dataType"]) is not True:
                return "value does not fit the data type"
            if not body["name"] or not body["traceId"]:
                return "required"
        if event["id"] not in self.envelopes:
            self.envelopes.add(event["id"])
            self.bodies[body["id"]] = body
        return ""


@pytest.fixture
def langfuse(monkeypatch: pytest.MonkeyPatch) -> Iterator[Langfuse]:
    known = Langfuse()
    authorized = "Basic " + base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known.requests += 1
            known.largest = max(known.largest, len(body))
            if known.answers:
                status, headers = known.answers.pop(0)
                self.reply(status, {"message": f"you sent {self.headers['Authorization']}"}, headers)
            elif self.path != "/api/public/ingestion":
                self.reply(404, {"message": "not found"})
            elif self.headers["Authorization"] != authorized:
                self.reply(401, {"message": f"invalid credentials {self.headers['Authorization']}"})
            else:
                events = json.loads(body)["batch"]
                told = [(event["id"], known.take(event)) for event in events]
                errors = [{"id": one, "status": 400, "message": wrong} for one, wrong in told if wrong]
                self.reply(
                    207, {"successes": [{"id": one, "status": 201} for one, w in told if not w], "errors": errors}
                )

        def reply(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {**(headers or {}), "Content-Length": str(len(content))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("LANGFUSE_HOST", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    yield known
    server.shutdown()
    server.server_close()
    thread.join()
