"""Search for stale outputs: edits, each built incrementally and from nothing."""
