"""Search for text that raises the verdicts of a judge although quality does not rise: `jrh hunt`.

Start with `hunting.py`, the search and its statistics, which know a judge only as an `Arena`. `arena.py` is the arena
over a run directory: each round runs the suite with further tests, so that a killed hunt continues. `exploits.py`
writes the result as text, JSON and a suite. The texts of attacks are those of jrh-injection.
"""
