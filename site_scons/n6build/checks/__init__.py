"""Pre-flight checks: faults that fail on a board, found before one is touched."""
