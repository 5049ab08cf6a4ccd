"""Misspelt requests or responses at stated rates: a perturber for jrh."""
