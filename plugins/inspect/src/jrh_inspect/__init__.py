"""Read Inspect AI logs as items with transcripts, read their verdicts, and export edited transcripts."""
