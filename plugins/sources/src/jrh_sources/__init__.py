"""Read items from csv, JSON Lines and parquet files, and from the examples shipped with the project."""
