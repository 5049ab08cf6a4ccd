"""Text that people see: made harmless, without secrets, and in one format.

- `display`: untrusted text without control characters; counts with their noun, and amounts of money.
- `redact`: masks secrets in all their forms, and formats the errors of plugins.
- `terminal`: the only place that writes to the terminal. Start here to print something.
- `transcripts`: the messages of an agent's transcript, in the strict format of the field `transcript`.
- `finite_range`: a type of command-line options.

Prompts and their templates are not here: `jrh_authoring` has them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
