"""Report what a data set cannot support: the command `jrh audit` and the metric `audit`."""
