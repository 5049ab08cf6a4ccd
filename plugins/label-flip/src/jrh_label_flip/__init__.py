"""Plant errors in a response; a judge that reads it has to change its verdict."""
