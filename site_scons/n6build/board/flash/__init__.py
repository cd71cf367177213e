"""Stage 4: program only the sectors that a board does not already hold."""
