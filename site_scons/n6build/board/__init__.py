"""Boards, real and virtual: programming, booting, and results of a run.

In: images with their manifest, and a probe or the emulator.
Out: programmed sectors with a receipt, a console log, and a verdict about the results.
Start with `flash.program`, `virtual_board.run` and `run.session`.
"""
