"""Programmers of real boards: each module here is one, as its value PROGRAMMER."""
