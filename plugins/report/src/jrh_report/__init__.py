"""Reports for people and programs: terminal, Markdown, JSON."""
