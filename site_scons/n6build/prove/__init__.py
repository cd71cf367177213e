"""Search for stale outputs: edits in a copy of the project, each built incrementally and from nothing."""
