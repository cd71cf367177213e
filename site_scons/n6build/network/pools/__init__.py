"""Memory pools: what a board gives a network, and the descriptors that ST's compiler reads."""
