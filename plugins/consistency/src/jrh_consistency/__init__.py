"""Test whether a judge agrees with itself: cycles, scores and comparisons, lists and pairs, reference answers."""
