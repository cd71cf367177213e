"""Reading the outputs of stage 1: c_info, network.c, raw images."""
