"""Report what a data set cannot support: the command `jrh audit` and the metric `audit`.

Where to start: `checks` lists every check in the order of the findings. A check reads `facts.Facts`, which goes through
the items once and keeps no texts, and yields `facts.Finding`s.

* The checks: `texts` (empty, cut, repeated, opposite polarity), `gold` (labels) and `size` (precision and strata).
* `similarity` finds near-duplicates in time and memory that grow with the number of texts.
* Into a report: `metric` makes measures of the findings, `rules` findings of the report, and `section` a table.

Not here: power and intervals (`jrh_stats`), and which items share a cluster (`jrh.values`).
"""
