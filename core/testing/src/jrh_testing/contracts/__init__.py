"""Contract tests: one class per kind of component, to be subclassed with the component under test.

`base.py` holds what every component must do; the other files are named by the kinds, and what makes and what decides
about the same thing share one file: perturbers and validators, sources and importers, reporters and exporters. The
docstring of every test says what to do if it fails.
"""
