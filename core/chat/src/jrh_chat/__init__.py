"""Speak the chat-completions protocol: write requests, read answers and errors, find proxies."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
