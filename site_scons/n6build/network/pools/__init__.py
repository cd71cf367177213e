"""Memory pools of a board, and the descriptors that ST's compiler reads."""
