"""Judge with what gives a number: a function, an endpoint or a classifier.

Where to start: `judges` asks for scores, and `deciding` makes labels, levels or preferences of them.

* `quality` measures the scores themselves; `metrics.toml` declares these measures.
* `rules` says whether scores tell right from wrong and which tests move them; `section` tabulates it.
"""
