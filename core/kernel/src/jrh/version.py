"""The versions of jrh and of its plugin API."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
"""The version of jrh, the same for every distribution of this repository ([semantic versioning](https://semver.org))."""
API_VERSION: Final = 2
"""The version of the plugin API: hooks, declarations, protocols, and the public names of `jrh` and its public packages.

It increases by one when a change can break plugins written for the previous version, and only with a new minor or major
version of jrh. Additions (a hook, a name, an option with a default) do not change it. A plugin declares the version it
was written for with `JRH_API_VERSION = 2` in its module; the default is 1. jrh rejects plugins written for a newer
version than its own, and accepts older ones down to `OLDEST_API_VERSION`.
"""
OLDEST_API_VERSION: Final = 1
"""The oldest plugin API version that jrh still accepts.

A version is accepted for at least two minor releases, or six months, after its successor appears.
"""
