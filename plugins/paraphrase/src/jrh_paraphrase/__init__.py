"""Say the same in other words."""
