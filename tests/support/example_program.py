"""Run the program of an example so that its outputs never differ: `python example_program.py PROGRAM ARGUMENTS`.

Two things differ from run to run otherwise. The address of its loopback server has a free port, and enters the ids of
cases and trials; here models have the address `BASE_URL`, and the server is the proxy that leads there. And a judge
that answers by how often it was asked gives the repeats of a question in the order of arrival; here a model gets one
call at a time.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any, Final

import jrh
import jrh_testing
import yaml

BASE_URL: Final = "http://models.invalid/v1"
"""Nobody has this address, so without the proxy every call fails."""
PROXY: Final = "http_proxy"


class SameAddress(jrh_testing.ChatServer):
    """A chat server that is reached as a proxy."""

    def __enter__(self) -> SameAddress:
        """Start serving, and lead the calls of this process here."""
        super().__enter__()
        os.environ[PROXY] = proxy_of(self.url)
        self.url = BASE_URL
        return self


def proxy_of(url: str) -> str:
    """Return the address of a chat server as that of a proxy."""
    return url.removesuffix("/v1")


def main(program: Path) -> None:
    """Run the program as `python PROGRAM` does."""
    run = jrh.run

    def run_in_order(suite: Path, *, overrides: tuple[str, ...] = (), **options: Any) -> Any:
        models = yaml.safe_load(suite.read_text(encoding="utf-8"))["models"]
        return run(suite, overrides=(*overrides, *(f"models.{name}.concurrency=1" for name in models)), **options)

    # The program imports both names when it starts.
    jrh_testing.ChatServer = SameAddress
    jrh.run = run_in_order
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = str(program.parent.absolute())
    runpy.run_path(str(program), run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
