"""A provider that gives the key away: it writes the request's Authorization header into whatever it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Answer = tuple[int, bytes, dict[str, str]]
"""Status, body and headers."""


def json_error(status: int) -> Callable[[str], Answer]:
    """Answer an error in the shape of OpenAI's."""

    def answer(sent: str) -> Answer:
        message = f"Incorrect API key provided: {sent.removeprefix('Bearer ')}. You sent '{sent}'."
        return status, json.dumps({"error": {"message": message, "code": sent}}).encode(), {"X-Sent": sent}

    return answer


def raw_error(status: int) -> Callable[[str], Answer]:
    """Answer an error that is a page of HTML, with the key where a cut at 500 characters goes through it."""
    return lambda sent: (status, f"<p>{'x' * 450} {sent} {sent}".encode(), {"WWW-Authenticate": sent})


def completion(**message: Any) -> Callable[[str], Answer]:
    """Answer properly; `{sent}` in the message stands for the header."""

    def answer(sent: str) -> Answer:
        filled = {name: text.replace("{sent}", sent) if text else text for name, text in message.items()}
        choice = {"index": 0, "message": {"role": "assistant", **filled}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        body = {
            "id": sent,
            "object": "chat.completion",
            "created": 1,
            "model": sent,
            "choices": [choice],
            "usage": usage,
        }
        return 200, json.dumps(body).encode(), {"X-Sent": sent}

    return answer


@contextmanager
def echoing_server(answers: Mapping[str, Callable[[str], Answer]]) -> Iterator[str]:
    """Serve on loopback; yields a URL under which every answer has a path of its name."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = answers[unquote(self.path.split("/")[1])]
            status, body, headers = answer(self.headers.get("Authorization", "nothing"))
            self.send_response(status)
            for name, value in {
                **headers,
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent: the test looks for the key in what is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(5)
