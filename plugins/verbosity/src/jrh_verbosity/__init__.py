"""Say the same in more words, or in fewer."""
