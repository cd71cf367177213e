"""A debug port of the virtual board, for pyOCD and OpenOCD as they are."""
