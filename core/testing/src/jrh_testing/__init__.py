"""The kit that tests of plugins stand on: contracts, fakes, a chat server that misbehaves, and a runner.

Names are loaded on first use, so that the server needs no pytest and the fakes need no server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
