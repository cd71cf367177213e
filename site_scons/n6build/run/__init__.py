"""What a booted board said, and whether its results are those of the reference interpreter."""
