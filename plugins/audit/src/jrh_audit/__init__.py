"""What a data set cannot show: the command `jrh audit` and the metric `audit`."""
