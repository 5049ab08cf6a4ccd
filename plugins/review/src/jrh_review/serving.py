"""Serve the application on an address of this machine until Ctrl-C."""

from __future__ import annotations

import ipaddress
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attrs import frozen
from jrh import JrhError
from jrh.text import say, tell

from jrh_review.app import make_app
from jrh_review.pages.work import Work
from jrh_review.runs import Runs
from jrh_review.security import MOST_HEADERS, Names, Sessions


@frozen(kw_only=True)
class Place:
    """Where to listen."""

    address: str
    port: int
    """0: a free one."""

    @classmethod
    def checked(cls, address: str, port: int, *, allow_remote: bool) -> Place:
        """Check where to listen: only loopback, unless the user allows more.

        Raises:
            JrhError: other machines could reach it and that was not allowed, or it is no address.
        """
        try:
            known = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
        except ValueError:
            raise JrhError(f"--host '{address}' is not an IP address; give one, such as 127.0.0.1") from None
        if not known.is_loopback and not allow_remote:
            raise JrhError(
                f"other machines can reach {known}: pass --allow-remote to serve there. The token travels unencrypted; "
                "`ssh -L` to a loopback address is safer"
            )
        if known.is_unspecified:
            raise JrhError(f"{known} means every address; give the one that browsers will use")
        return cls(address=str(known), port=port)

    def listen(self) -> socket.socket:
        """Return a listening socket.

        Raises:
            JrhError: the address is not of this machine, or the port is taken.
        """
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        # So that a fixed port can be used again right after the last server on it ended.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((self.address, self.port))
            listening.listen()  # before the address is printed: a browser that comes at once waits and is not refused
        except OSError as error:
            listening.close()
            raise JrhError(f"cannot listen on {self.address} port {self.port}: {error.strerror or error}") from error
        return listening


@frozen(kw_only=True)
class Served:
    """A server that listens and is not run yet."""

    address: str
    """With its one-time token."""
    _server: Any
    _listening: socket.socket

    def run(self) -> None:
        """Serve until Ctrl-C, or `stop` in another thread."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """Let the server end; it finishes what it answers."""
        self._server.should_exit = True


@contextmanager
def make_server(
    runs: Runs,
    place: Place,
    announce: Callable[[str], None],
    work: Work | None = None,
) -> Iterator[Served]:
    """Listen at a place; `announce` shows the next one-time tokens; the other arguments are those of `make_app`."""
    import uvicorn

    from jrh_review.patience import PatientProtocol

    with place.listen() as listening:
        port: int = listening.getsockname()[1]
        base = f"http://{f'[{place.address}]' if ':' in place.address else place.address}:{port}"
        sessions = Sessions(lambda token: announce(f"For another browser: {base}/enter?token={token}"))
        app = make_app(runs, sessions, Names.at(place.address, port), work=work)
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            # The access log would print tokens.
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=MOST_HEADERS,
            timeout_graceful_shutdown=2,
        )
        yield Served(address=f"{base}/enter?token={sessions.token}", server=uvicorn.Server(config), listening=listening)


def serve(
    runs: Runs, work: Work | None = None, *, host: str, port: int, allow_remote: bool, open_browser: bool
) -> None:
    """Print the address with its one-time token, and serve until Ctrl-C.

    Args:
        runs: as for `make_app`.
        work: as for `make_app`.
        host: the address to listen on.
        port: 0: a free one.
        allow_remote: whether other machines may reach the address.
        open_browser: whether to open the address in the user's browser.

    Raises:
        JrhError: the address is none, is not of this machine or is not allowed, or the port is taken.
    """
    with make_server(runs, Place.checked(host, port, allow_remote=allow_remote), tell, work) as served:
        say(served.address)
        tell("The address works once. Ctrl-C ends the server.")
        if open_browser and not webbrowser.open(served.address):
            tell("No browser could be opened; open the address yourself.")
        served.run()
