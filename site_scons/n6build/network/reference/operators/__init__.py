"""One module for each operator that the reference backend compiles: all that is known of it, but for its kernel's C."""
