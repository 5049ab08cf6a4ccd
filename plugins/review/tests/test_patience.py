"""A client that sends slowly is cut off; others are served meanwhile."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from jrh_review.patience import PatientProtocol
from jrh_review.runs import Runs
from jrh_review.serving import make_server

SECONDS = 0.5


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(PatientProtocol, "SECONDS", SECONDS)
    with make_server(Runs((tmp_path,)), lambda _: None) as served:
        thread = Thread(target=served.run)
        thread.start()
        yield int(served.address.split(":")[2].split("/")[0])
        served.stop()
        thread.join(20)


def head(port: int, length: int = 0) -> bytes:
    return f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n\r\n".encode()


@pytest.mark.parametrize("sent", ["nothing", "half a head", "half a body", "a whole request, then half of one"])
def test_a_request_that_does_not_arrive_is_cut_off(port: int, sent: str) -> None:
    texts = {
        "nothing": b"",
        "half a head": head(port)[:30],
        "half a body": head(port, 10) + b"12",
        "a whole request, then half of one": f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\nGET / HT".encode(),
    }
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(texts[sent])
        slow.settimeout(10)
        with suppress(ConnectionResetError):
            while slow.recv(65_536):
                continue


def test_dripping_bytes_buy_no_time_and_others_are_served(port: int) -> None:
    another(port)  # the first one takes longest
    with socket.create_connection(("127.0.0.1", port)) as slow:
        sent = 0
        for byte in head(port)[:40]:
            try:
                slow.sendall(bytes([byte]))
            except OSError:
                break
            sent += 1
            if sent > 1:  # the second byte comes in time on a busy machine, too
                another(port)
            time.sleep(0.1)
    assert 1 < sent < 40


def another(port: int) -> None:
    """Ask as another client, who is answered at once."""
    other = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    other.request("GET", "/")
    assert other.getresponse().status == 401
    other.close()
