"""The virtual board: an emulated Cortex-M55 at the addresses of the STM32N6.

The emulator is built once and kept in the user's cache.
"""
