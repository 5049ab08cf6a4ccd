"""Attack judges with text addressed to them, and measure what succeeds and what defences are worth.

Where to start: `texts` has every attack and the harmless text. `perturber` reads the notation `command@end*2` and makes
drafts: it puts the text into a response or a transcript.

* `sides` compares the verdicts under attack, under harmless text and of reruns with the same reference verdicts. Both
  metrics rest on it: `success` and `defence`.
* `metrics.toml` declares the measures, `rules` makes findings of them, and `section` a part of the report.

Not here: the defences themselves, which belong to the judge, and the search for new attacks.
"""
