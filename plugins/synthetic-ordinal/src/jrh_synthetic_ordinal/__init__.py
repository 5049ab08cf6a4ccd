"""Write new responses that reach each level of an ordinal scale.

Where to start: `building` chooses between the rule, which can only write for the lowest level, and a model, and runs
rounds of attempts until every bucket is full or given up. It rejects what is too similar.

* `buckets` has one bucket per item, level and sample, the ramp of temperatures, and the rule.
* `writing` makes a single attempt: one model writes, and another says which level the text reached.
"""
