"""Expected time on a board: measurements, a model, and a network's time in it."""
