"""Import verdicts collected elsewhere as a run directory.

Start with `commands`: `jrh import`, `jrh check` and `jrh init-from`. `importing` does the work of `jrh import`: it
finds the tool that wrote a file, or reads the description of a table.

- Tables with a description: `mapping` defines the import file, `targets` what a column can be, `tables` reads the
  rows, `covariates` and `verdicts` turn them into records.
- Exports of tools: `exports` has an importer per tool, `decisions` reads logs of JudgeSense and `result_folder` those
  of the Judge Reliability Harness, whose configurations `harness_config` translates into suites.
- Tables without a description: `checking` compares judges with people.

Not here: what makes a record of a verdict and checks it (`jrh_interchange`), and all measures.
"""
