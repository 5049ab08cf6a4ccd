"""Estimate agreement, rates, changes, power and variance components of clustered ratings.

Pure functions over arrays; nothing of jrh is imported. Conventions of every function:

* Arrays are numpy arrays or whatever `numpy.asarray` takes. A *cluster* is the unit that was sampled (in jrh: the
  item); trials of one cluster may depend on each other in any way.
* Intervals are two-sided with coverage `level`, and always contain the estimate.
* `seed` is the only source of randomness. Results do not depend on the order of rows or clusters.
* A quantity that cannot be estimated is `None` with a flag, never NaN.

Names load on first use; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
