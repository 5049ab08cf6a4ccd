"""jrh in notebooks: measures and records as data frames, and progress below the cell.

`frames.py` makes data frames of pandas, polars or Arrow out of a run's result; `progress.py` draws while `jrh.run`
works in a notebook. What a notebook shows for a result is a report, made by the reporter of that name in `jrh-report`.
"""
