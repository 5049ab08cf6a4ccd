"""Test judges that read agents' transcripts, and measure them.

`by_rules` holds the perturbers without a model: `rules/` finds what may be edited (statements, style), makes a seeded
choice and applies it. With models, `pipeline` plans, edits, verifies and plans again; `requests` words and sends its
prompts, `replies` reads what comes back. `building` decides between the two, `aims` says which label an edited
transcript is to get. `messages` is what both know of a transcript.

`measures/` holds the metrics: error rates, sensitivity to edits, and whether rationales point at an edit.

Not here: how a transcript is parsed (`jrh.text`) or shown to a judge (`jrh_authoring.render_transcript`).

Start with `by_rules.TranscriptPerturber`, then `pipeline.Pipeline.edit`.
"""
