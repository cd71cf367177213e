"""Judgement of a network: reference interpreters, NPU blobs, expected times.

In: compiled networks, outputs of a run, measurements of boards.
Out: distances from the reference, epochs of the NPU in readable form, times with their ranges.
Start with `compare.closeness`, `npu.disassemble`, `timing.expected` and `own_blobs.proof`.
"""
