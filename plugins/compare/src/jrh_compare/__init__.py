"""Compare runs, or the judges of a run, on the same cases: the command `jrh compare`.

`comparing` puts what `jrh_measuring.comparing` computes into one value. `document` lays it out as sections once;
`rendering` writes them for the terminal, as Markdown and as JSON. Start with `comparing.compare`.

Not here: the statistics (`jrh_stats`), and everything about pairs of judges that other commands ask, too
(`jrh_measuring.comparing`).
"""
