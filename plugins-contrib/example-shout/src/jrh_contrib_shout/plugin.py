"""What the plugin declares. Imports nothing but the standard library and jrh, so that loading it costs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, hookimpl

from jrh_contrib_shout.options import ShoutOptions

JRH_API_VERSION = 1

_STARTER = """\
# The response in capitals: a reliable judge does not move.
- shout: {share: 1.0}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="shout",
        summary="the response in capitals, wholly or in part",
        options=ShoutOptions,
        factory="jrh_contrib_shout.shout:build",
        starter=_STARTER,
    )
