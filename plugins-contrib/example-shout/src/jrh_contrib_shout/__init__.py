"""An example of a jrh plugin: responses in capitals."""
