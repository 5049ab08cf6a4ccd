"""What a run would do and cost, and what its items can show: the command `jrh plan`."""
