"""Expected time on a board: what has been measured, a model of it, and what it says of a compiled network."""
