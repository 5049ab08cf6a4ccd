"""The files of a run: its SQLite store, and the cache of replies that runs share.

Start with `run_store`: a `Store` is the tables of one run, and says which module has which table.

- `database`: the only place with the schema. Opening, locking, reading, and the checksum of the closed file.
- `writer`: the thread that commits what others queue. Everything that is written goes through it.
- `cases_table`, `records_table`, `calls_table`: items, cases and drafts; the plan and the records; calls and spending.
- `texts_table`: long texts, stored once, and values that are compressed against them.
- `stage_tables`: tables that stages of plugins declare.
- `copying`: rows of one store in another, for merging shards and for salvage.
- `temporary`: what a run holds outside of memory until it is stored.
- `cache`: replies by content of the request, for all runs of a user.

No other package has SQL. What the rows mean is in `jrh.values`, and when they are written in `jrh.running`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
