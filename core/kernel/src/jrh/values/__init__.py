"""The vocabulary: what an item, a case, a verdict, a record and a measure are."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
