"""Share code between perturbers and judges: text written by a model, rule-based edits, and checks of both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
