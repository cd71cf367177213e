"""Programmers of real boards; each module here has one, as its value PROGRAMMER."""
