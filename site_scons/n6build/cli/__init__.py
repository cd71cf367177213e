"""The command `n6build`: the stages without SCons, in any folder.

In: the words of a command line.
Out: the same builds as with scons, tables as JSON, new projects, files for Make and CMake.
Start with `main`; `arguments` has the words, and `build` carries out targets.
"""
