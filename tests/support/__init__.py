"""Helpers of the tests that run the whole program."""
