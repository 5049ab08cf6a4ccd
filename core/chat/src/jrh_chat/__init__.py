"""Speak the chat-completions protocol: what providers over HTTP share.

Start with `completions`: an answer's bytes as a `Completion`, and errors as faults with what a retry can do about them.

- `chat_requests`: a request as JSON. `http`: headers, proxies, forms of replies, and texts without secrets.
- `connections`: a session, bounded answers, failures of the network.
- `endpoint_options`, `credentials`: the options of every such provider, and its key.

Retries, prices and limits are not here: the kernel's gateway has them for all providers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
