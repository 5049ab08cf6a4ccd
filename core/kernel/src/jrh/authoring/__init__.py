"""What authors of perturbations build on: text written by a model, edits made by rules, and the checks of both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
