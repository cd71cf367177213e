"""Stage 3: flash images.

ELF -> payload -> image with boot header -> flash manifest and hex file.
"""
