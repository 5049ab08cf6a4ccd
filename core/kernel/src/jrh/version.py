"""The versions of jrh and of its plugin API."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
"""The version of jrh, the same for every distribution of this repository ([semantic versioning](https://semver.org))."""
API_VERSION: Final = 1
"""The version of the plugin API: hooks, declarations, protocols, and the public names of `jrh` and its public packages.

It is raised by one when a plugin written for the one before may stop working, and only together with the minor or major
version of jrh. What is added (a hook, a name, an option with a default) does not raise it. A plugin says which version
it was written for: `JRH_API_VERSION = 1` in its module; without it, 1 is assumed. jrh refuses a plugin written for a
later version than its own, and accepts those down to `OLDEST_API_VERSION`.
"""
OLDEST_API_VERSION: Final = 1
"""The oldest plugin API version that is still accepted.

A version stays accepted for at least two minor releases, or six months, after the one that replaced it.
"""
