"""What can be chosen, and what was chosen."""
