"""The stages of a run: each reads the table before it and writes its own.

- `load.py`: data sources in; checked, labelled and sampled items out.
- `case_making.py` makes the cases of every test with `perturb.py`: `assembly.py` applies the steps of a test,
  `drafts.py` lets perturbers propose and validators decide, `chain.py` joins several steps, and `cases_of_drafts.py`
  gives a draft its case and its id.
- `judge.py`: cases in, records out; `coming_trials.py` reads what is left to put, `judgements.py` writes a judgement
  down, and `allocation.py` stops judges early where the suite has an allocator.
- `stored.py` and `summary.py`: what stages and reports read back from the store.

Start with `case_making.py` or `judge.py`; `jrh.running.execute` calls them in order.
"""
