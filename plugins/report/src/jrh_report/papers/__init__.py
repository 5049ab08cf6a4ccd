"""The tables and figures of papers about judges, as files."""
