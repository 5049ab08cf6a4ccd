"""Read Inspect AI logs as items with transcripts, and write edited transcripts back as logs."""
