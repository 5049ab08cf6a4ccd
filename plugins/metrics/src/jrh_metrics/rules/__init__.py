"""The rules about the measures of these metrics, one file per subject.

`accuracy` and `changes` are about tests: the change of accuracy and of verdicts are decided in one chain, so that their
claims are in both files. `ordinal`, `covariates` and `ceiling` are about the reference condition, `verdicts` about what
is missing. How claims become findings is in `jrh_measuring.findings`.
"""
