"""Change the layout of the judged text without changing a word."""
