"""The tables and figures of papers about judges, as files.

`reporter.py` collects the tables and writes them; `sheet.py` is one table as CSV, LaTeX and Markdown. Where the tables
come from: `sections.py` (sections that name a file, heat maps as judges by tests), `costs.py` (making the cases, tokens
of judges), `cases.py` (one row per case, from the records). Figures are those of `jrh_report.pictures`.
"""
