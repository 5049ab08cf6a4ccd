"""Compare runs, or the judges of a run, on the same cases: the command `jrh compare`.

`sides` opens the runs and pairs their judges, `scoring` reads what each judge answered case by case, and `matching`
finds the cases that both have. `pairing` computes the paired statistics and decides them as one family, `causes` lists
what may explain a difference, and `comparing` puts all of it into the values of `results`. `document` lays these out as
sections once; `rendering` writes them for the terminal, as Markdown and as JSON.

Not here: the statistics (`jrh_stats`), what a measure is called and how a family of tests is decided (`jrh_measuring`).
Start with `comparing.compare`.
"""
