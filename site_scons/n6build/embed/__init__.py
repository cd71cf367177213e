"""The steps of a plan as targets of Make and CMake."""
