"""One module for each kind of page: it reads what a page shows and hands it to the template of its name.

`runs.py` is the start page, a run, and two runs side by side; `cases.py` the list of cases, a case and an item;
`review.py` and `label.py` are what people work on, with `work.py` for what both share. `rendering.py` fills templates:
texts of a run are escaped there and nowhere else. A page module ends with its `ROUTES`.
"""
