"""The options of n6build, their sources and their values."""
