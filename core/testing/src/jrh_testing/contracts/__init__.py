"""What every component of a kind has to hold: test classes that a plugin's tests subclass."""
