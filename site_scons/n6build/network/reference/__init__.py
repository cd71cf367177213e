"""The reference backend: an int8 model becomes a network whose epochs all run on the Cortex-M55."""
