"""Ask chat models of every provider that litellm knows.

Where to start: `model` sends each request exactly once.

* `library` imports litellm late and switches off what would send more, or change what is sent.
* `reading` turns its answers and exceptions into completions and faults of the kernel.

Not here: retries, limits and the cache, which belong to the gateway of the kernel.
"""
