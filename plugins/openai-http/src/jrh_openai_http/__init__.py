"""Ask chat models over any OpenAI-compatible HTTP endpoint."""
