"""Change the layout of what is judged and not one word of it."""
