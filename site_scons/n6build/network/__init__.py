"""Stage 1: from a model file to network.c, images of its memory pools and their description."""
