"""Parts of a run put together, and damaged runs saved: the commands `jrh merge` and `jrh salvage`."""
