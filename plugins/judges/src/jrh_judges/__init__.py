"""Judges for jrh: the standard LLM judge, and judges of one's own behind a callable, an endpoint or a command."""
