"""What one may choose, and what was chosen."""
