"""Change a text as an instruction says."""
