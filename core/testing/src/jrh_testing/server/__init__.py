"""Serve chat completions over real HTTP on loopback, and misbehave on request."""
