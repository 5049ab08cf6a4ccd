"""The order of the options of a pair: other orders, identical options, and position bias."""
