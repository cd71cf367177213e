"""The command `n6build`: the stages without SCons, in any folder."""
