"""Test position bias: options of a pair in both orders, and identical options."""
