"""Stage 1: from a model file to network.c, memory images and their description."""
