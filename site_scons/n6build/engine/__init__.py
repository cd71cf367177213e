"""The build engine: steps as values, their signatures, and their plan.

In: steps with inputs, outputs and a function. The package knows nothing of networks or boards.
Out: outputs on disk, a ledger of their causes, answers to calls with nothing to do, caches.
Start with `step`, then `plan` and `perform`; `keep` and `ask` answer a call before SCons starts.
"""
