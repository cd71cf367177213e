"""The reference backend, which compiles models for the Cortex-M55 alone.

An int8 model becomes a network whose epochs all run on the Cortex-M55.
"""
