"""Ask chat models of every provider that litellm knows."""
