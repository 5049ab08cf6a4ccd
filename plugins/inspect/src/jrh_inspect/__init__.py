"""Read Inspect AI logs as items with transcripts, and write edited transcripts back as logs.

Start with `source`, the data source, or `importer`, which reads the verdicts of scorers. Both open logs by `logs`,
which calls Inspect's own functions after `guard` has refused broken and malicious files. `messages` converts
messages, `writing` puts edits of a run into a copy of the log, and `commands` is `jrh export-transcripts`.

Not here: what a transcript is and how it is rendered (the kernel and `jrh_authoring`), and what edits it
(perturbers).
"""
