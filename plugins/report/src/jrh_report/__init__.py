"""Reports for people and programs: terminal, Markdown, JSON, HTML; tables of the records, LaTeX, plots.

Start with `plugin.py`, which lists the reporters with their factories. What they have in common:

- `tables.py`: tables about the run (missing verdicts, cases, costs, components) as plain text, the same everywhere.
- `sections.py`: the sections that plugins declare, as tables of text for formats that draw nothing, and the measures
  that no section shows.
- `findings.py`: findings by judge, and which measures deserve caution.
- `drawings.py`: heat maps, forests, matrices and curves as SVG; `curves.py` is the one section declared here.

What each format adds: `terminal.py` with `brief.py` (one screen), `markdown.py` (also fits a comment), `html/` (the
page, its PDF and the notebook's piece), `json_report.py`, `record_tables.py` (CSV, Parquet), `workbook.py`, `latex.py`,
`pictures.py`, and `papers/` (tables and figures as papers print them).

Not here: measures, findings and sections themselves, which metrics and rules of other plugins make; formats of numbers
and escaping, which are in `jrh_measuring`.
"""
