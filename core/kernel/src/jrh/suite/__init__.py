"""From `suite.yaml` to a suite whose components are known and whose options are typed.

Start with `resolve.load_suite`, which goes through the modules in this order:

- `overrides`: what a caller changes first: `--set`, judges and rows from Python.
- `parse`, with `entries` for lists of components: the document as a `definition.Suite`, before any name is looked up.
- `syntax`: the keys of each section, and what people may write for a scale, a task or a test.
- `lookup`: one component that the suite names, with its options and all they refer to.
- `resolved`: the result, and the part of it that is one shard.

All mistakes of a suite are reported at once, each with its line. Reading YAML, and making typed objects of values, are
in `jrh.document`. Nothing is built or asked here.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
