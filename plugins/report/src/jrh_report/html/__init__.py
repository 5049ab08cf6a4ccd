"""The report as one self-contained HTML file, as a PDF, and as a piece for notebooks.

`reporter.py` fills `templates/page.html.j2`, one template for each part of the page:

- `answer.py`: the findings of each judge, with the largest figures in sight.
- `parts.py`: sections as tables of measures, heat maps and plots; `notebook.py` shows the same ones.
- `flips.py`: changed verdicts with both texts and replies; `changed_verdicts.py` chooses which, from the records alone.
- `printing.py`: the page, printed by Chromium.

Templates format measures themselves, by the functions of `jrh_measuring`. Nothing of a run is markup: every text passes
through `visible_text` and Jinja's escaping.
"""
