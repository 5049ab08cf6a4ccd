"""The entry-point groups that plugins use."""

from __future__ import annotations

from typing import Final

COMPONENTS: Final = "jrh"
"""Plugins: modules with hook implementations."""
CORE: Final = "jrh.core"
"""Modules with hook implementations of jrh's own distributions: they are always loaded."""
COMMANDS: Final = "jrh.commands"
"""Commands: an entry point's name is the command, its value a click command."""
DISPLAYS: Final = "jrh.displays"
"""Displays of progress: `notebook` is a function that returns a context with a `jrh.running.Progress`."""
ESTIMATORS: Final = "jrh.estimators"
"""Estimators of what a run costs: the class of a `jrh.running.CostEstimator`; the first one by name counts."""
