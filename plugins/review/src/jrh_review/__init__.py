"""The workbench: look at runs, review cases and label items in the browser, on this machine.

Three things share one server (`serving.py`, `security.py`, `patience.py`) and one list of pages (`pages/`):

- Looking (`jrh view`): `runs.py` finds run directories, `stored_runs.py` reads what a page shows of one, and
  `listed_cases.py` is the table of cases that a run writes for it. `addresses.py` makes and reads addresses.
- Reviewing (`jrh review`, and `review:` in a suite): `decisions.py` is what a decision is and amounts to, `desk.py` the
  queue and the log in a run's store, `review_cases.py` a case as a reviewer sees it, `review_stage.py` the stage that
  waits and applies decisions, `review_report.py` with `review_statistics.py` what a report says of them.
- Labelling (`jrh label`): `person_labels.py` is the file of labels and gold labels out of it, `labelling.py` what each
  person is shown, `judged_gold.py` gold labels from a judge where no people are.

`tables.py` writes and reads the spreadsheets of both. Start with `decisions.py` for the rules of review, with
`serving.py` for a request's way.

Not here: measures and findings, which are read as a run stored them; SQL, which is in `jrh.store`.
"""
