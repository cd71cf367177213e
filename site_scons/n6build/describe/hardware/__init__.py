"""Chips and boards, and the C headers and linker scripts generated from them."""
