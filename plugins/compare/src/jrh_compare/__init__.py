"""Compare runs and judges pairwise on the same cases."""
