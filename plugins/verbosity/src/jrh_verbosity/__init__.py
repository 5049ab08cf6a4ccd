"""Rewrite a response in more words or in fewer.

Where to start: `perturber` builds the test by a model or by rules: edits that change the length and keep within the
bounds of `options`; `shortening` and `phrases.toml` list what may be dropped or added.
"""
