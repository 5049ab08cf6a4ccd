"""Find out what importing a plugin loads, in a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache

_SCRIPT = """
import importlib, json, sys
import jrh.hashing
import jrh.plugins.hookspecs, jrh.plugins.specs, jrh.suite.definition, jrh.values.cases, jrh.values.verdicts
before = {name.partition(".")[0] for name in sys.modules}
plugin = importlib.import_module(sys.argv[1])
hooks = [name for name in sys.argv[2].split(",") if hasattr(plugin, name)]
declared = [spec.name for name in hooks for spec in getattr(plugin, name)() or ()]
after = {name.partition(".")[0] for name in sys.modules} - before
known = set(sys.stdlib_module_names) | {"jrh", sys.argv[1].partition(".")[0]}
known |= {"jrh_authoring", "jrh_chat", "jrh_interchange", "jrh_measuring"}  # what they import in turn counts
if "jrh_stats" in after:  # every run needs it, and numpy is all it loads
    known |= {"jrh_stats", "numpy"}
print(json.dumps(sorted(after - known)))
"""


@lru_cache(maxsize=64)
def foreign_modules(plugin: str, hooks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the top-level packages that importing a plugin and calling its hooks loads in a fresh interpreter.

    The standard library, `jrh`, what `jrh` itself needs to declare, the other distributions of the core, numpy where
    `jrh_stats` loads it, and the plugin's own package are left out.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, plugin, ",".join(hooks)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{plugin} cannot be imported on its own:\n{done.stderr}")
    return tuple(json.loads(done.stdout.splitlines()[-1]))
