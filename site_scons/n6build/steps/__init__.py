"""The pipeline: a module for each step, with its inputs, outputs and function.

In: the job (`job`): choices, models, boards, and the tools of this machine.
Out: steps of the engine, which `pipeline` puts in order and `planning` makes a plan of.
Start with `pipeline`.
"""
