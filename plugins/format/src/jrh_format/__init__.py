"""Change the layout of the judged text without changing a word.

Where to start: `perturber`, which drafts one change per layout and strength.

* `blocks` reads a text as Markdown does: which lines are prose, structure or code.
* `layouts` finds the places that each layout may change, and leaves out those where more than layout would change.
* `words_unchanged` is the validator, which proves the same from both texts and knows nothing about how they were made.
"""
