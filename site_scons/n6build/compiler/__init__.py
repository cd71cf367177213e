"""The Cortex-M55 C compiler."""
