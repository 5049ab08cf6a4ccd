"""Make HTML from templates in which every text of a run is text: escaped, bounded, with nothing in it that hides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jrh.text.visible import LIMIT, visible_text

if TYPE_CHECKING:
    from jinja2 import Environment


def page_environment(package: str, shown: Mapping[str, Any], *, limit: int = LIMIT) -> Environment:
    """Return an environment for the templates of a package, in its directory `templates`.

    Texts pass through `visible_text` and Jinja's escaping; markup made by the package itself stays as it is. A variable
    that is not defined is an error.

    Args:
        package: import name of the package.
        shown: what every template can use.
        limit: characters shown of a text.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def finalize(value: object) -> object:
        return visible_text(value, limit) if type(value) is str else value

    made = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(shown)
    return made
