"""A real HTTP server on loopback that speaks chat completions and misbehaves on request."""
