"""The answer to a call with nothing to do, without SCons: `ask` gives it, from what `keep` has written down."""
