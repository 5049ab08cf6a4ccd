"""Stop asking once a question is decided: rules over whole clusters drawn at random, and races between judges."""
