"""How a judge is asked: templates, polarity, scale and rubric.

Perturbers: `templates` (shipped, of the suite, of the items, and their layouts), `paraphrase`, `scale`, `rubric`,
`output_mode`. `template` is what they know of one template and its labels; the shipped ones are in `sets/`.

Metrics: `sensitivity` (JSS, flips, kappa, with and without some templates), `polarity` (templates that are read the
wrong way round), `across_judges` (flips that judges share, agreement of two judges). `listing` chooses the pairs of
templates that are compared.

Not here: option order (jrh-order). Pairs and kappa themselves are in `jrh_measuring`.

Start with `templates.TemplatesPerturber`, then `sensitivity.TemplateSensitivity`.
"""
