"""Statistics as pure functions over arrays; imports nothing of the kernel."""
