"""Results of a booted board and their comparison with the reference interpreter."""
