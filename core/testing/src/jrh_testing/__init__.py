"""Test plugins: contract tests, fakes, a misbehaving chat server, and a runner for the real program.

Names are loaded on first use, so that the server needs no pytest and the fakes need no server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
