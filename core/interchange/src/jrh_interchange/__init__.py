"""Import verdicts that were collected elsewhere, and read tables of every format.

Start with `imported_records`: `imported_record` builds one record from what a log says, `import_records` writes
records into a run directory, and `measure_records` measures them without one. `record_checks` lists what is wrong
with them, `log_gaps` what cannot be measured from them.

- Tables: `table_rows` and `arrow_rows` read rows as the file writes them, `row_files` whole tables as text.
- Exports of other tools: `export_reading` finds the importer of a plugin and calls it, `exported_scores` turns the
  scores that it reads into records, by the choices in `score_options`.
- Words of logs: `option_orders` (orders and polarities), `scale_inference` (a scale from labels), `paired_prompts`
  (two prompts about one text become an item with templates).
- `exported_runs` goes the other way: a run into another tool. `settings` reads files and options of commands.

Not here: the formats of single tools, which are the importers of plugins, and data sources, which build items of
rows.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
