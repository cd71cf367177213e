"""Pre-flight checks: what is known to fail on a board, found before one is touched."""
