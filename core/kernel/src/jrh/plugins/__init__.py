"""What a plugin is to the kernel: protocols, declarations, hooks, loading, and the registries of what was loaded.

To write a plugin, start with `hookspecs`, whose docstrings have complete examples, then `specs` (what hooks yield) and
`protocols` (what the declared components have to do). To work on the kernel, start with `loading`.

- `loading`: from entry points and local files to registries. One plugin's mistakes never affect another.
- `registry`: components by name, and the errors for names that are unknown or ambiguous.
- `factories`: a component out of its declaration, checked against its protocol before anything is paid.
- `component_identity`, `python_files`: the source of code that is no installed release, its digest, and loading it.
- `secrets`, `entry_points`: how components read keys, and the groups that distributions use.

No component is here. The names of plugins and of their components appear nowhere in the kernel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
