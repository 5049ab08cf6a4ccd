"""Reports for people and programs: terminal, Markdown, JSON, HTML; tables of the records, LaTeX, plots."""
