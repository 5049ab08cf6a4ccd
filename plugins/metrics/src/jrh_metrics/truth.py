"""The label that a trial's verdict ought to have, where one is stated."""

from __future__ import annotations

import numpy as np

from jrh_metrics.trials import Codes, Trials, is_named


def stated_label(trials: Trials) -> Codes:
    """Return the right label of every trial, shape (n,), -1 where none is stated.

    The stated label where a case expects one; the gold label in the reference condition and where the case expects the
    verdict to stay the same.
    """
    return trials.shared("stated label", lambda: _stated_label(trials))


def _stated_label(trials: Trials) -> Codes:
    keeps = trials.reference | is_named(trials.expectation, "same")
    equals = is_named(trials.expectation, "equals") & ~trials.reference
    return np.where(equals, trials.expected, np.where(keeps, trials.gold, -1))
