"""What a network needs of its board: images in flash, memory banks to power, ranges to copy and to clean."""
