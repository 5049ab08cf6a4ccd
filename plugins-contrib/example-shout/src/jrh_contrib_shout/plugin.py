"""What the plugin declares. Imports nothing but the standard library and jrh, so that loading it costs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, PerturberSpec, hookimpl
from jrh.plugins import Perturber

from jrh_contrib_shout.options import ShoutOptions

_STARTER = """\
# The response in capitals: a reliable judge does not move.
- shout: {share: 1.0}
"""


def _shout(options: ShoutOptions, context: BuildContext) -> Perturber:
    from jrh_contrib_shout.shout import Shout

    return Shout(share=options.share, fields=context.task.mode.judged_fields, seed=context.seed)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="shout",
        summary="the response in capitals, wholly or in part",
        options=ShoutOptions,
        factory=_shout,
        starter=_STARTER,
    )
