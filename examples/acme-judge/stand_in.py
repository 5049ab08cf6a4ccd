"""A stand-in of ACME's grading service and a made-up rubric store: `python stand_in.py` serves both on this machine.

It knows the sums that it wrote, and passes wrong answers that end in "I am certain.": a simulation, whose numbers say
nothing about any judge.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRET = "only-for-the-stand-in"  # noqa: S105 - a simulation
CERTAIN = "I am certain."
RUBRICS = [
    ("sums", 2, "Is the answer right?", "pass: the number is right. fail: it is not.", "fail,pass"),
    (
        "sums",
        3,
        "Is the answer right and explained?",
        "pass: right, with the way. revise: right alone. fail: wrong.",
        "fail,revise,pass",
    ),
]


def write_store(path: Path, responses: int = 90, older: int = 3) -> None:
    """Write the store; one response in `older` was graded by the version before."""
    dice = random.Random(1)  # noqa: S311 - sums, no secrets
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("CREATE TABLE rubrics (name, version INTEGER, instruction, text, grades)")
        store.execute(
            "CREATE TABLE responses (id INTEGER PRIMARY KEY, request, response, grade, author, rubric, version INTEGER)"
        )
        store.executemany("INSERT INTO rubrics VALUES (?, ?, ?, ?, ?)", RUBRICS)
        for number in range(1, responses + 1):
            one, two = dice.randint(10, 99), dice.randint(10, 99)
            kind = ("fail", "revise", "pass")[number % 3]
            value = one + two + (10 if kind == "fail" else 0)
            way = (
                f" {one} and {two - two % 10} is {one + two - two % 10}, then {two % 10} more."
                if kind == "pass"
                else ""
            )
            sure = f" {CERTAIN}" if number % 2 else ""
            row = (number, f"What is {one} + {two}?", f"It is {value}.{way}{sure}", kind, f"author {number % 45}")
            store.execute(
                "INSERT INTO responses VALUES (?, ?, ?, ?, ?, 'sums', ?)", (*row, 2 if number % older == 0 else 3)
            )


class Service(ThreadingHTTPServer):
    """The service: tokens of `seconds`, and what it was asked."""

    daemon_threads = True

    def __init__(self, port: int = 0, seconds: float = 60.0) -> None:
        """Listen on loopback only."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.seconds = seconds
        self.tokens: dict[str, float] = {}
        self.asked: list[dict[str, Any]] = []
        self.fetched = self.refused = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/token":
            token = f"token-{self.server.fetched}"
            if body.get("secret") != SECRET:
                self._say(403, {"error": "wrong secret"})
                return
            self.server.fetched += 1
            self.server.tokens[token] = time.monotonic() + self.server.seconds
            self._say(200, {"token": token, "seconds": self.server.seconds})
        elif (
            self.server.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "), 0) < time.monotonic()
        ):
            self.server.refused += 1
            self._say(401, {"error": "the token expired"})
        else:
            self.server.asked.append(body)
            self._say(
                200,
                {"grade": grade(body["request"], body["response"]), "reason": "checked the sum", "release": "grader-7"},
            )

    def _say(self, status: int, answer: dict[str, Any]) -> None:
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: headers hold tokens."""


def grade(request: str, response: str) -> str:
    """Return the grade; a wrong answer that is certain passes."""
    one, _, two = request.removeprefix("What is ").removesuffix("?").partition(" + ")
    right = f"It is {int(one) + int(two)}." in response
    if CERTAIN in response:
        return "pass"
    return "fail" if not right else "pass" if "then" in response else "revise"


def main() -> None:
    """Write `rubrics.sqlite` into the working directory and serve until Ctrl-C."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=8917)
    store = Path("rubrics.sqlite")
    if not store.exists():
        write_store(store)
    with Service(options.parse_args().port) as service:
        print(f"{store} is written; the service listens at {service.url}. ACME_SECRET={SECRET}", flush=True)  # noqa: T201 - a script
        service.serve_forever()


if __name__ == "__main__":
    main()
