"""Plant errors in a response: the verdict of a judge that reads has to follow."""
