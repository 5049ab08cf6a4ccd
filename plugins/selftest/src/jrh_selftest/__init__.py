"""Check the installed measures against simulated judges with planted truth: `jrh selftest`.

Start with `studies.py`: it draws many studies of every design, lets the checks read them, and has them judged.

- What is planted: `world.py` (how records are drawn), `worlds.py` (which designs), `truth.py` (the true values, in
  closed form), `ratings.py` and `arrays.py` (estimators without records), `pages.py` (whole reports and gates),
  `runs.py` (whole runs from suite to report).
- What is checked: `checks.py`. How it is judged: `judging.py`. Rows of the table and known failures: `findings.py`.

Not here: the measures, which are those of the installed plugins, and judges for suites (jrh-simulated).
"""
