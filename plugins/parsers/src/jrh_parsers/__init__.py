"""Parse a reply into a label of the scale, or into a status that says why there is none.

Start with `parsers`, the components, then `procedure`: the order in which statements of a text count. It asks a
grammar how decisions of one kind of scale are written: `labels`, `levels` or `pairs`, all by the interface in
`finding`. `cues` holds the patterns of words, `visible` cuts thinking out of a reply, and `verdict_json` reads JSON.

Rationales are read here too, as they are texts like replies: `rationale` by rules or by a model, `reading_stage` asks
the model, `contradiction` is the metric and `rules` its finding.
"""
