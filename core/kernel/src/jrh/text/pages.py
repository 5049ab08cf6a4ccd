"""Make HTML from templates in which every text of a run is text: escaped, bounded, with nothing in it that hides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from jrh.text.visible import LIMIT, visible_text
from jrh.user_cache import directory

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.nodes import EvalContext

_COMPILED: Final = "autoescape, trim_blocks, lstrip_blocks, finalize with a context"
"""How templates are compiled: with Jinja's version and the template, all that the compiled one depends on."""


def page_environment(package: str, shown: Mapping[str, Any], *, limit: int = LIMIT) -> Environment:
    """Return an environment for the templates of a package, in its directory `templates`.

    Texts pass through `visible_text` and Jinja's escaping; markup made by the package itself stays as it is. A variable
    that is not defined is an error. Compiled templates are kept in the user's cache.

    Args:
        package: import name of the package.
        shown: what every template can use.
        limit: characters shown of a text.
    """
    import jinja2
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_eval_context

    from jrh.text.compiled_pages import CompiledPages

    # Without the context, Jinja would call it while it compiles a constant, and keep what it returned: byte code would
    # depend on the code of jrh.
    @pass_eval_context
    def finalize(_context: EvalContext, value: object) -> object:
        return visible_text(value, limit) if type(value) is str else value

    made = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledPages(directory(), f"{jinja2.__version__} {_COMPILED}"),
    )
    made.globals.update(shown)
    return made
