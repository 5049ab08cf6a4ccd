"""Test plugins: contract tests, fakes, a misbehaving chat server, and a runner for the real program.

Start with the contract of your kind of component in `contracts/`: subclass it, say which component it is, run pytest.
`contracts/base.py` has what all components must do and how a test is overridden with a reason.

- What tests are made of: `samples` (tasks, items, questions), `reports` (records and reports), `bench` (records by
  hand), `payloads` (hostile texts).
- `building` builds a component from options as a suite writes them; `fakes` has a scripted model and a parser.
- `server/` speaks chat completions over real HTTP on loopback and misbehaves on request.
- `runner` starts the real program in a project; `simulated_time` runs waits without waiting; `plugin` has the
  fixtures.
- `maturity` lists components by what passes.

Not here: studies of whole designs with planted judges (jrh-selftest). Names are loaded on first use, so that the
server needs no pytest and the fakes need no server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
