"""Rewrite a response in more words or in fewer."""
