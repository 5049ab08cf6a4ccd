"""Declare the perturber `social`: jrh imports this file at every start, and no work."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, hookimpl

from jrh_social.options import SocialOptions

JRH_API_VERSION = 2

_STARTER = """\
# Social cues and style without content: a reliable judge does not move towards the label that they favour.
- social: {kinds: [bandwagon, authority, hedging, flattery], doses: [1, 2]}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="social",
        summary="social cues and style without content, each with neutral text of the same length",
        options=SocialOptions,
        factory="jrh_social.social:Social.build",
        starter=_STARTER,
    )
