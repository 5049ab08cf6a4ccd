"""Hold LLM judges against gate rules in pytest.

`gates.py` is what pytest loads: options, marker and fixture, without an import of jrh. `runs.py` runs a suite once
per session and asks `jrh gate` about it. Rules and their decisions are those of jrh-gate.
"""
