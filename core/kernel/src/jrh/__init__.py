"""Stress-test LLM judges: run a suite, read its records and measures, or write a plugin.

The names here are what plugin authors and notebooks need; `__init__.pyi` lists them. The packages
`jrh.models`, `jrh.plugins`, `jrh.running`, `jrh.suite`, `jrh.text` and `jrh.values` are public too, with the names in
their own `__init__.pyi`. Names load on first use, so that importing `jrh` costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
