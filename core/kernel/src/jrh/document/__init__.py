"""Read user-written documents: values with line and column, strict conversion, JSON Schemas."""
