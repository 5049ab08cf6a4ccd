"""Write new responses that reach each level of an ordinal scale."""
