"""Change a text as an instruction says, or answer the request again.

Where to start: `perturber` has both tests. A model writes; asking it, checking its text and trying again is done by
`jrh_authoring.RewritingPerturber`, which the tests for paraphrase and verbosity use as well.
"""
