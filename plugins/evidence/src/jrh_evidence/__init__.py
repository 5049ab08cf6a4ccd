"""Find out how far into a long text a judge reads, and how many errors it takes until it notices.

Three components with little in common but the question: `perturber` plants decisive evidence (`planting` puts it into
a text or transcript, `cells` writes length and depth into the variant), `errors` plants errors by rules, and `failures`
reads transcripts of failed agents as items.

`reach` and `error_curve` are the metrics; `evidence_scores` says what every trial scores, with and without the
evidence. Which window is read and what curve fits is computed in `jrh_stats`. `rules` writes the findings.

Start with `perturber.Evidence.perturb`, then `evidence_scores.EvidenceScores`.
"""
