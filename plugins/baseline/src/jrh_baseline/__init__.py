"""Provide a baseline judge: cross-fitted linear models of TF-IDF and style statistics, without key or network."""
