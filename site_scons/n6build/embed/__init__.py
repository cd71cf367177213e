"""Files for other build systems: scripts that call n6build, and files to include."""
