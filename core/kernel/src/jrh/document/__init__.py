"""Documents people write: values with lines and columns, strict conversion, JSON Schemas."""
