"""Call models: every call goes through the gateway, within budget and limits, and no answered call is repeated.

- `gateway.py`: the way of one call, from stored replies to a durable outcome. Start here.
- `client.py`: a model as components see it, and the state of one model: its limits, refused settings and failures.
- `ledger.py`: for whom a call is made, the most it can cost, what it did cost, and when the budget is used up.
- `retries.py`: when a call is sent again, and the messages of a run that has to stop.
- `replies.py`: from a provider's answer to the reply that is stored.
- `concurrency.py`, `latency_dips.py`: how many calls a provider takes at once, found out while it is used.

Not here: the wire of any provider, which its plugin has, and tables, which `jrh.store` has.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
