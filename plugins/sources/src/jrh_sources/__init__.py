"""Read items from csv, JSON Lines and parquet files, and from the examples shipped with the project.

Start with `source`: `TableSource` turns rows of any origin into items. The rows come from files (`jrh_interchange`),
from Python objects (`object_rows`) or from Hugging Face (`hub`); `items` maps their columns to the parts of an item.
`presets` reads benchmarks that people own already.

Not here: the formats of tables, which importers read as well.
"""
