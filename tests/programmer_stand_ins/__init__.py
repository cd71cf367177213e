"""Executables that answer as the programmers of real boards are documented to, over a board that is a folder with a NOR in it."""
