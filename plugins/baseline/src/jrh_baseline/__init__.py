"""Provide a baseline judge: cross-fitted linear models of TF-IDF and style statistics, without key or network.

Where to start: `judge`, which the kernel fits once per fold, and `training`, which does it and answers.

* `training` also makes a row of numbers of every text.
* `models` has a model per kind of scale (`Classes`, `Levels`, `Pairs`, `Choices`) and the search for the penalty.
* `predictions` is what all models return.

Not here: the folds, which the kernel draws, so that no item is judged by a model that has seen its label.
"""
