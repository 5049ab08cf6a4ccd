"""Serve chat completions over real HTTP on loopback, and misbehave on request.

Start with `thread.py`, the server inside of a test. `app.py` turns a request into a response, counts it and chooses a
fault; `faults.py` lists the faults, `answers.py` the ways to answer, `bodies.py` writes the JSON. `raw.py` sends
bytes that no chat server would; `__main__.py` is the same server as a process.
"""
