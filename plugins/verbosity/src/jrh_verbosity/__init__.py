"""Rewrite a response in more words or in fewer.

Where to start: `perturber` builds the test by rules or by a model. `rules` changes the length by edits and keeps within
the bounds of `options`; `shortening` and `phrases.toml` list what may be dropped or added.
"""
