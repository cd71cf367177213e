"""Stage 3: what lies in flash. ELF -> payload -> image with boot header -> flash manifest and hex."""
