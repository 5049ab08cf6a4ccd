"""Ask chat models over any OpenAI-compatible HTTP endpoint.

Where to start: `model` is all of it: one session, one request per call. The protocol itself (payloads, answers, faults,
keys) is in `jrh_chat`, which the plugin for batches shares; retries and limits belong to the gateway of the kernel.
"""
