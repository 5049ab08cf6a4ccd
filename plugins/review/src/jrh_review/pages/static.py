"""The style and the scripts: the files that are named here, and no others."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES: Final = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "shared.js": "text/javascript; charset=utf-8",
    "keys.js": "text/javascript; charset=utf-8",
    "quotes.js": "text/javascript; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "review.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Name -> type. A name is looked up here before any file is, so that no path leads out of the folder."""


def read(request: Request) -> Response:
    """Return a file of this package."""
    name = request.path_params["name"]
    if name not in FILES:
        raise HTTPException(404)
    return Response(_content(name), media_type=FILES[name])


@cache
def _content(name: str) -> bytes:
    return files("jrh_review").joinpath("static", name).read_bytes()


ROUTES = (Route("/static/{name}", read, methods=["GET"]),)
