"""What stage 1 leaves in its folder, read back: c_info, network.c, raw images."""
