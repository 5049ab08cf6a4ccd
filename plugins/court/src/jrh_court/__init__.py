"""Find out who is wrong where a judge and people disagree: the judge, the label, or the rubric.

`docket` draws cases from a run and writes them as a suite, which `jrh label` shows to referees, blind. `estimates`
turns their rulings into shares of all items, and `court_text` writes the answer. Start reading at `commands`.
"""
