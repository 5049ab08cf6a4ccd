"""Write the first version of a jrh plugin: `jrh plugins new`."""
