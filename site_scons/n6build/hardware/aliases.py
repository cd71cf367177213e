"""The two addresses of everything inside the chip: its secure alias, which this project writes down, and the non-secure one."""

from __future__ import annotations

# Clear in the non-secure alias (reference manual, memory map).
SECURE_BIT = 1 << 28
