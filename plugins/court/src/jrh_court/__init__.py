"""Find out who is wrong where a judge and people disagree: the judge, the label, or the rubric.

`cases` says what a case and a docket are; every run imports it. `docket` draws cases from a run and writes them as a
suite, which `jrh label` shows to referees, blind. `estimates` turns their rulings into shares of all items,
`court_text` writes the answer, and `corrections` the labels that were wrong. Start reading at `commands`.
"""
