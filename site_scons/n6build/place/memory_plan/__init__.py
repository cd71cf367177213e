"""The memory plan: flash images, RAM banks, and ranges to copy and clean."""
