"""Plant errors in a response; a judge that reads it has to change its verdict.

Where to start: `aims` decides for every item which text gets the error and which verdict is then right, and `perturber`
plants it, by rules or by a model.

* `passages` splits a text into sentences, and knows which of them plainly assert something.
* `rules` has a module per group of errors. A rule returns possible edits and is silent where it is not sure: a missed
  place costs a case, a wrong one costs a judge that is right its score.
* `words.toml` has the closed lists.
"""
