"""Ask chat models through batch APIs: half the price, answers within a day.

`model` collects calls, submits them together and waits. Its docstring has the order of steps that keeps a killed run
from paying twice; change nothing there without reading it. `batches` holds what is noted of a batch, which calls wait,
and `Dialect`, what a provider's protocol has to do: `openai` and `anthropic` are the two. `http` sends, retries what
may be sent twice, and reads results line by line.

Not here: prices, budgets and the durable notes themselves, which are the kernel's; bodies of chat requests are
`jrh_chat`'s, except for Anthropic's.
"""
