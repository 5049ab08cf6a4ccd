"""jrh in notebooks: measures and records as data frames, and progress below the cell."""
