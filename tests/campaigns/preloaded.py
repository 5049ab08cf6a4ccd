"""Import what a run imports, once, in the process that forks the others."""

from campaigns.forked import preload

preload()
