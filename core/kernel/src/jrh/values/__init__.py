"""The values that components pass to each other. All are frozen, and none does any work on the outside.

Start with `items` (what is judged), `scales` and `cases` (how it is asked); then `verdicts` (what comes back, up to
the `Record` that statistics read).

- `records`: records as columns, which metrics get. `column_file` keeps long columns out of memory.
- `measures`, `finding`, `sections`, `report`: what is estimated, what is said about it, and how it is laid out as data.
- `clusters`: which items are one unit of analysis. `item_covariates`: what else is known of an item.
- `events`, `option_values`, `json_values`: objects of event hooks, special options, and the type of JSON.

Estimating is in `jrh_measuring` and `jrh_stats`, and reading values from text in `jrh.document`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
