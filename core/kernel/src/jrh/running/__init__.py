"""Run a suite: prepare, execute stage by stage, and conclude with measures and reports.

Start in `run.py`, which is one screen, and read on in this order:

- `prepare.py`, `rehearsal.py`: read the data, build every component once, open the files of the run.
- `execute.py`, `pipeline.py`: the stages in order; judges begin while later tests are still being made.
- `stages/`: load, perturb and judge, each from the table before it to its own.
- `schedule.py`: which trials there are, in which order, and which of them put the identical question.
- `declared_stages.py`, `stage_work.py`: the stages of plugins, at their places between those of jrh.
- `gathering.py`, `reporters.py`: from the store to a report, and from a report to its documents.

Around a run: `from_python.py` and `outcome.py` (how it is asked for and what it gives), `preflight.py`, `dry_run.py`
and `cost_question.py` (before anything is spent), `stored_run.py` and `opened_run.py` (a run that is there), `units.py`
and `worker.py` (work on other machines), `component_changes.py` (what is made again, and why). `building.py` is the
only place where components are built.

Not here: how a model is called (`jrh.models`), SQL (`jrh.store`), and everything that plugins do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
