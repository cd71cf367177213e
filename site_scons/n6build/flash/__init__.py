"""Stage 4: the board gets the sectors that differ from what it is known to hold, and nothing else."""
